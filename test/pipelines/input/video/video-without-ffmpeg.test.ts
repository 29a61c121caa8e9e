import { registerHooks } from 'node:module';
import { expect, it } from 'vitest';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'node-av/lib') throw new Error('Cannot find package');
    return next(specifier, context);
  },
});

it('without the optional FFmpeg, videos are refused with a sentence, and everything else is read', async () => {
  const mp4 = Buffer.concat([Buffer.from('\0\0\0\x10ftypisom\0\0\0\0'), Buffer.alloc(64)]);
  const { clips, refused } = await readStudy(await onDisk({ mp4, dcm: ultrasound() }));
  expect(clips.map(({ file }) => file)).toEqual(['dcm']);
  expect(refused).toEqual([
    { file: 'mp4', reason: 'reading it needs FFmpeg, and node-av is not installed here' },
  ]);
});
