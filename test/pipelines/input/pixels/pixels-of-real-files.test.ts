import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { decodeToRgb, FFMPEG_INSTALLED } from '../../../peers/ffmpeg.ts';
import {
  DECODERS_INSTALLED,
  dcmtkJpegLsPixels,
  dcmtkPixels,
  difference,
  gdcmPixels,
  inFolder,
  pydicomPixels,
  type Reference,
} from '../reference-pixels.ts';

const ROOT = '../shared/data/dicom';
const present = existsSync(ROOT);
const possible = present && DECODERS_INSTALLED && FFMPEG_INSTALLED;
if (!possible) console.warn(`${ROOT} or a reference decoder is absent: pixels are not compared`);

/** Every image in the folder with the decoder used as its reference. */
const REFERENCES: Readonly<Record<string, Reference>> = {
  'us/DIRW0007_12fr_j2k.dcm': gdcmPixels,
  'us/DIRW0007_12fr_rgb_jpegls.dcm': dcmtkJpegLsPixels,
  'us/DIRW0007_repaired_jpegbaseline.dcm': dcmtkPixels,
  'us/Issue164.dcm': dcmtkPixels,
  'us/JPGLosslessP14SV1_1s_1f_8b.dcm': dcmtkPixels,
  'us/OBXXXX1A.dcm': dcmtkPixels,
  'us/OBXXXX1A_expb.dcm': dcmtkPixels,
  'us/OBXXXX1A_rle.dcm': dcmtkPixels,
  'us/OBXXXX1A_rle_2frame.dcm': dcmtkPixels,
  'us/US-PAL-8-10x-echo': dcmtkPixels,
  'us/US-RGB-8-epicard': dcmtkPixels,
  'us/US-YBR_FULL_422-EVRLE.dcm': pydicomPixels,
  'us/US1_J2KI.dcm': gdcmPixels,
  'us/US1_J2KR.dcm': gdcmPixels,
  'us/US1_RLE.dcm': dcmtkPixels,
  'us/US1_UNCR.dcm': dcmtkPixels,
  'us/YBR_FULL-RLE.dcm': pydicomPixels,
  'us/color-pl.dcm': dcmtkPixels,
  'us/color-px.dcm': dcmtkPixels,
  'us/examples_palette.dcm': dcmtkPixels,
  'us/examples_ybr_color.dcm': dcmtkPixels,
  'us/gdcm-US-ALOKA-16.dcm': gdcmPixels,
  'us/no-pixel-spacing.dcm': dcmtkPixels,
  'doppler/tte47_18_doppler-av.dcm': dcmtkPixels,
  'doppler/tte47_21_doppler-tissue-lateral.dcm': dcmtkPixels,
  'doppler/tte47_40_mmode-a4ch-rv.dcm': dcmtkPixels,
  'doppler/tte47_42_mmode-plax-av.dcm': dcmtkPixels,
};

/** No reference decoder reads these files unchanged, so they are compared differently below. */
const OTHERWISE = ['us/DIRW0007_broken-delimiter.dcm', 'us/DIRW0007_h264_mpeg4_4_102.dcm'];

/** With lossy coding, each decoder may round the inverse transform differently (PS3.5 8.2.1). */
const LOSSY = /jpegbaseline|Issue164|J2KI|ybr_color/;
const MEAN_OF_LOSSY = 2;

async function read(name: string): Promise<Clip> {
  const { clips, refused } = await readStudy([{ name, path: `${ROOT}/${name}` }]);
  const [clip] = clips;
  if (!clip) throw new Error(refused[0]?.reason);
  return clip;
}

async function rgb(clip: Clip, frame: number) {
  const pixels = await clip.frames[frame]?.rgb();
  if (!pixels) throw new Error(`no frame ${frame}`);
  return pixels;
}

describe.skipIf(!possible)('pixels of real files', () => {
  it('are compared for every image of the folder', () => {
    const images = ['us', 'doppler'].flatMap((folder) =>
      readdirSync(`${ROOT}/${folder}`)
        .filter((name) => name !== 'truth.json')
        .map((name) => `${folder}/${name}`),
    );
    expect([...Object.keys(REFERENCES), ...OTHERWISE].toSorted()).toEqual(images.toSorted());
  });

  it.each(Object.entries(REFERENCES))(
    '%s: the same as from the reference decoder',
    async (name, decode) => {
      const clip = await read(name);
      for (const frame of new Set([0, clip.frames.length - 1])) {
        const expected = await decode(`${ROOT}/${name}`, frame);
        const { mean, largest } = difference(await rgb(clip, frame), expected);
        if (LOSSY.test(name)) expect(mean).toBeLessThanOrEqual(MEAN_OF_LOSSY);
        else expect(largest).toBe(0);
      }
    },
  );

  it('broken sequence delimiters, which DCMTK refuses, do not affect the pixels', async () => {
    const [broken, repaired] = await Promise.all([
      read('us/DIRW0007_broken-delimiter.dcm'),
      read('us/DIRW0007_repaired_jpegbaseline.dcm'),
    ]);
    const digest = async (clip: Clip, frame: number) =>
      createHash('sha256')
        .update((await rgb(clip, frame)).data)
        .digest('hex');
    for (const frame of [0, 32, 64]) {
      expect(await digest(broken, frame)).toBe(await digest(repaired, frame));
    }
  });

  it('H.264 in one fragment that is a whole MP4: every frame as FFmpeg decodes it', async () => {
    const clip = await read('us/DIRW0007_h264_mpeg4_4_102.dcm');
    expect(clip.frames).toHaveLength(65);
    const file = await readFile(`${ROOT}/us/DIRW0007_h264_mpeg4_4_102.dcm`);
    const expected = await inFolder(async (path) => {
      await writeFile(path('mp4'), file.subarray(file.indexOf('ftyp') - 4));
      return decodeToRgb(path('mp4'));
    });
    const size = clip.width * clip.height * 3;
    expect(expected).toHaveLength(65 * size);
    for (const frame of [0, 1, 31, 64]) {
      const data = expected.subarray(frame * size, (frame + 1) * size);
      const { mean } = difference(await rgb(clip, frame), { ...clip, data });
      expect(mean).toBeLessThanOrEqual(MEAN_OF_LOSSY);
    }
  });
});
