import { registerHooks } from 'node:module';
import { expect, it } from 'vitest';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';
import { DECODERS_INSTALLED, inFolder, run } from '../reference-pixels.ts';

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
    { file: 'mp4', reason: 'the file cannot be read without FFmpeg: node-av is not installed' },
  ]);
});

it.skipIf(!DECODERS_INSTALLED)(
  'without the optional FFmpeg, reversible JPEG 2000 is decoded by OpenJPEG',
  async () => {
    const pixels = Buffer.from(Array.from({ length: 50 * 36 }, (_, index) => (index * 7919) % 256));
    const image = ultrasound({ columns: 50, rows: 36, pixels: ['7FE00010', 'OB', pixels] });
    const [native] = await onDisk({ native: image });
    await inFolder(async (path) => {
      await run('gdcmconv', ['--j2k', native?.path ?? '', path('j2k')]);
      const read = async (file: string) =>
        (await readStudy([{ name: 'image', path: file }])).clips[0]?.frames[0]?.gray();
      const decoded = await read(path('j2k'));
      expect(decoded).toBeDefined();
      expect(decoded).toEqual(await read(native?.path ?? ''));
    });
  },
);
