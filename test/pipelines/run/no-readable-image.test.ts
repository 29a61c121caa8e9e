import { expect, test } from 'vitest';
import { noReadableImage } from '../../../pipelines/run/study-pipeline.ts';

const files = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ file: `${n}.txt`, reason: 'not an image' }));

test('a study without an image states the reason of each file', () => {
  expect(noReadableImage({ refused: files(2) })).toBe(
    'No file could be read as an ultrasound image. 0.txt: not an image; 1.txt: not an image.',
  );
});

test('of an archive with thousands of files, the first reasons and the number of the others', () => {
  const sentence = noReadableImage({ refused: files(3000) });
  expect(sentence).toMatch(/9\.txt: not an image; 2990 more files\.$/);
  expect(sentence.length).toBeLessThan(500);
});
