import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';

const FOLDER = '../shared/data/dicom';
const present = existsSync(FOLDER);
if (!present) console.warn(`${FOLDER} is absent: the headers of real files are not read`);

async function clipOf(path: string): Promise<Clip> {
  const { clips, refused } = await readStudy([{ name: path, path: `${FOLDER}/${path}` }]);
  const [clip] = clips;
  if (!clip) throw new Error(refused[0]?.reason);
  return clip;
}

type Expected = [
  file: string,
  /** mm per pixel along x for each region, or the reason why the calibration is refused. */
  calibration: number[] | RegExp,
  mode: Clip['mode'],
  timing: Clip['timing'],
  /** Time of the last frame, in seconds. */
  seconds: number,
];

const OUTSIDE = /reaches outside the image/;
const NONE: number[] = [];
const TABLE: Expected[] = [
  ['DIRW0007_12fr_j2k.dcm', [0.524781], '2d', 'frame-time-vector', 0.417],
  ['DIRW0007_12fr_rgb_jpegls.dcm', [0.524781], '2d', 'frame-time-vector', 0.417],
  ['DIRW0007_broken-delimiter.dcm', [0.524781], '2d', 'frame-time-vector', 2.438],
  ['DIRW0007_repaired_jpegbaseline.dcm', [0.524781], '2d', 'frame-time-vector', 2.438],
  ['Issue164.dcm', [0.259386], '2d', 'frame-time', 3.009],
  ['JPGLosslessP14SV1_1s_1f_8b.dcm', [0.254767], '2d', 'none', 0],
  ['OBXXXX1A.dcm', [0.262288], '2d', 'none', 0],
  ['OBXXXX1A_expb.dcm', [0.262288], '2d', 'none', 0],
  ['OBXXXX1A_rle.dcm', [0.262288], '2d', 'none', 0],
  ['OBXXXX1A_rle_2frame.dcm', [0.262288], '2d', 'none', 0],
  ['US-PAL-8-10x-echo', NONE, 'colour', 'frame-time', 0.684],
  ['US-RGB-8-epicard', NONE, 'colour', 'none', 0],
  ['US-YBR_FULL_422-EVRLE.dcm', [0.0616], '2d', 'none', 0],
  ['US1_J2KI.dcm', NONE, 'colour', 'none', 0],
  ['US1_J2KR.dcm', NONE, 'colour', 'none', 0],
  ['US1_RLE.dcm', NONE, 'colour', 'none', 0],
  ['US1_UNCR.dcm', NONE, 'colour', 'none', 0],
  ['YBR_FULL-RLE.dcm', [0.0953679], '2d', 'none', 0],
  ['color-pl.dcm', NONE, 'colour', 'none', 0],
  ['color-px.dcm', NONE, 'colour', 'none', 0],
  ['examples_palette.dcm', OUTSIDE, '2d', 'none', 0],
  ['examples_ybr_color.dcm', OUTSIDE, '2d', 'frame-time', 0.967],
  ['gdcm-US-ALOKA-16.dcm', [0.382653, 0.382653], '2d', 'none', 0],
  ['no-pixel-spacing.dcm', [0.330542], '2d', 'none', 0],
];

describe.skipIf(!present)('the headers of real files of many vendors', () => {
  it.each(TABLE)('us/%s', async (file, calibration, mode, timing, seconds) => {
    const clip = await clipOf(`us/${file}`);
    if (calibration instanceof RegExp) {
      expect(clip.regions).toEqual([]);
      expect(clip.sweeps).toEqual([]);
      expect(clip.calibrationRefused).toMatch(calibration);
    } else {
      expect(clip.calibrationRefused).toBeNull();
      expect(clip.regions.map(({ scale }) => Number(scale.x.toPrecision(6)))).toEqual(calibration);
    }
    expect([clip.mode, clip.timing]).toEqual([mode, timing]);
    expect(clip.frames.at(-1)?.time).toBeCloseTo(seconds, 3);
  });

  it('the Acuson loop has a heart rate; its ECG is outside every ultrasound region', async () => {
    const clip = await clipOf('us/DIRW0007_repaired_jpegbaseline.dcm');
    expect(clip).toMatchObject({ heartRate: 61, stageName: null });
    expect(clip.ultrasoundAreas).toHaveLength(1);
  });

  interface Truth {
    dicom: string;
    kind: 'spectral' | 'mmode';
    zero_row_px: number;
    units_per_px: number;
    y_unit: 'cm/s' | 'cm';
    px_per_second: number;
  }
  const truths: Truth[] = present
    ? JSON.parse(readFileSync(`${FOLDER}/doppler/truth.json`, 'utf8'))
    : [];

  it.each(truths)('doppler/$dicom: the axes of the sweep', async (truth) => {
    const { sweeps, regions, mode } = await clipOf(`doppler/${truth.dicom}`);
    expect(regions).toEqual([]);
    expect(mode).toBe(truth.kind === 'spectral' ? 'spectral' : 'm-mode');
    expect(sweeps).toHaveLength(1);
    expect(sweeps[0]).toMatchObject({ zeroRow: truth.zero_row_px, unit: truth.y_unit });
    expect(sweeps[0]?.valuePerPixel).toBeCloseTo(truth.units_per_px, 4);
    expect(1 / (sweeps[0]?.secondsPerPixel ?? 0)).toBeCloseTo(truth.px_per_second, 1);
  });
});
