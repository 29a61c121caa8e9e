import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { anatomyOf } from '../../../pipelines/content/pipeline.ts';
import { contentSchema } from '../../../pipelines/contract/content.ts';
import { spread } from '../../../pipelines/input/decode-frames.ts';
import { pipeline } from '../../../src/app/pipelines/content.ts';
import { phantomFiles } from '../../gateway/phantom.ts';

const HEART = '../shared/data/dicom/us/DIRW0007_repaired_jpegbaseline.dcm';
const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

async function look(paths: readonly string[], folder: string) {
  folders.push(folder);
  await mkdir(join(folder, 'files'), { recursive: true });
  for (const path of paths) await copyFile(path, join(folder, 'files', basename(path)));
  const job = {
    endpoint: 'us/content/look',
    version: '1.0.0',
    files: paths.map((path) => basename(path)),
    priorFiles: [],
    options: {},
    clinicalContext: {},
    models: { allow: 'all', provider: 'cpu', threads: 2 },
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
  const end = await pipeline(folder, () => {}, new AbortController().signal);
  if (end.type !== 'done') return end;
  return contentSchema.parse(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')));
}

describe("the classification of a study's images", () => {
  test('finds the planes of a fetus', async () => {
    const { paths, folder } = await phantomFiles('content');
    expect(await look(paths, folder)).toMatchObject({
      anatomy: 'fetus',
      planes: expect.arrayContaining([
        { name: 'abdominal', clips: 1 },
        { name: 'femur', clips: 1 },
      ]),
      clips: { looked_at: 3, of: 3 },
    });
  });

  test.skipIf(!existsSync(HEART))('finds the view of a real adult heart', async () => {
    const { folder } = await phantomFiles('content-heart');
    expect(await look([HEART], folder)).toMatchObject({
      anatomy: 'adult heart',
      planes: [],
      views: [{ name: 'A4C', clips: 1 }],
    });
  });

  test('refuses files that are not images', async () => {
    const { folder } = await phantomFiles('content-none');
    const path = join(folder, 'notes.dcm');
    await writeFile(path, 'no image');
    expect(await look([path], folder)).toMatchObject({
      type: 'rejected',
      code: 'no_readable_image',
    });
  });
});

test.each<[number, number, string | null]>([
  [0, 0, null],
  [1, 1, null],
  [2, 1, 'fetus'],
  [1, 2, 'adult heart'],
])('%i fetal and %i cardiac clips show %s', (fetal, cardiac, anatomy) => {
  expect(anatomyOf(fetal, cardiac)).toBe(anatomy);
});

test.each<[number, number, number[]]>([
  [0, 3, []],
  [1, 3, [0]],
  [3, 3, [0, 1, 2]],
  [9, 3, [1, 4, 7]],
])('from %i items, at most %i are chosen, evenly spread', (length, most, expected) => {
  expect(spread([...Array(length).keys()], most)).toEqual(expected);
});
