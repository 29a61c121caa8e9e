import { describe, expect, it } from 'vitest';
import type {
  ParasternalClip,
  ParasternalFrame,
} from '../../../../pipelines/echo/parasternal/parasternal-clip.ts';
import {
  fluidFinding,
  parasternalValues,
} from '../../../../pipelines/echo/parasternal/parasternal-values.ts';

type Line = readonly [{ x: number; y: number }, { x: number; y: number }];

/** Down the picture from a row, so many pixels. */
const down = (from: number, length: number): Line => [
  { x: 100, y: from },
  { x: 100, y: from + length },
];

const VIEWS = { PLAX: 'PLAX', PSAX: 'PSAX-PM', subcostal: 'SUBCOSTAL-4C' } as const;

/** Half a millimetre a pixel: cavity 50 mm, walls 9 and 10 mm, fluid where it is given. */
function clip(
  family: ParasternalClip['family'],
  fluidMm: number | null,
  shown = 1,
  gapMm: number | null = null,
): ParasternalClip {
  const frames = Array.from({ length: 40 }, (_, frame): ParasternalFrame => {
    const squeeze = (1 - Math.cos((2 * Math.PI * frame) / 40)) / 2;
    const cavity = 100 - 40 * squeeze;
    return {
      frame,
      time: frame / 45,
      cavity: 1000 * cavity,
      lines:
        family === 'PLAX'
          ? {
              septum: down(40, 18),
              cavity: down(58, cavity),
              'posterior-wall': down(58 + cavity, 20),
              'left-atrium': down(60, 70),
            }
          : {},
      wall: null,
      gap: gapMm !== null && frame % 10 < 10 * shown ? down(180, 2 * gapMm) : null,
      fluid: fluidMm !== null && frame % 10 < 10 * shown ? down(200, 2 * fluidMm) : null,
      confidence: 0.9,
      fluidConfidence: 0.9,
      accepted: true,
    };
  });
  return {
    file: `${family}.dcm`,
    sopInstanceUid: null,
    family,
    view: VIEWS[family],
    viewConfidence: 0.9,
    scale: { x: 0.5, y: 0.5 },
    heartRate: 67,
    rWaves: [],
    stride: 1,
    frames,
  };
}

describe('the lines of a parasternal long axis', () => {
  const values = parasternalValues({ clips: [clip('PLAX', null)] });
  it.each([
    ['ivsd', 0.9],
    ['lvidd', 5],
    ['lvpwd', 1],
    ['lvids', 3],
    ['la-diameter', 3.5],
  ])('%s is %d cm, with its caliper', (key, expected) => {
    const value = values.find(({ concept }) => concept.key === key);
    expect(value?.value).toBeCloseTo(expected, 1);
    expect(value?.source.calipers[0]?.type).toBe('line');
  });
  it('give nothing without a scale', () => {
    expect(parasternalValues({ clips: [{ ...clip('PLAX', 8), scale: null }] })).toEqual([]);
  });
});

describe('fluid outside of the heart', () => {
  it('is seen where two clips show it; the depth of the deepest stands there and is not used', () => {
    const { depth, seen } = fluidFinding({ clips: [clip('PLAX', 8), clip('PSAX', 12)] });
    expect(seen).toEqual(['PLAX', 'PSAX']);
    expect(depth).toMatchObject({ quality: 'low', source: { file: 'PSAX.dcm' } });
    expect(depth?.value).toBeCloseTo(12, 6);
  });
  it('in one clip alone is not said to be seen', () => {
    expect(fluidFinding({ clips: [clip('PLAX', 8), clip('PSAX', null)] }).seen).toEqual([]);
  });
  it.each([
    ['shallower than 3 mm', 2.9, 1],
    ['in half of the frames', 8, 0.5],
  ])('%s is none', (_, depth, shown) => {
    const clips = [clip('PLAX', depth, shown), clip('PSAX', depth, shown)];
    expect(fluidFinding({ clips }).depth).toBeNull();
  });
  it('behind the posterior wall has a depth that is used, where another clip shows fluid too', () => {
    const clips = [clip('PLAX', 30, 1, 11), clip('PSAX', 12)];
    const { depth, seen } = fluidFinding({ clips });
    expect(seen).toEqual(['PLAX', 'PSAX']);
    expect(depth).toMatchObject({ quality: 'accepted', source: { file: 'PLAX.dcm' } });
    expect(depth?.value).toBeCloseTo(11, 6);
  });
  it('is seen in PLAX by the picture where the outlines miss it there', () => {
    expect(fluidFinding({ clips: [clip('PLAX', null, 1, 5), clip('PSAX', 6)] }).seen).toEqual([
      'PLAX',
      'PSAX',
    ]);
  });
  it.each([
    ['in one clip alone', [clip('PLAX', 8, 1, 8), clip('PSAX', null)]],
    ['in half of the frames', [clip('PLAX', null, 0.5, 8), clip('PSAX', 8)]],
  ])('%s has no depth that is used', (_, clips) => {
    expect(fluidFinding({ clips }).depth?.quality).toBe('low');
  });
  it('names what was searched, so that "not seen" can be told from "not looked at"', () => {
    expect(fluidFinding({ clips: [clip('PLAX', null)] }).searched).toEqual(['PLAX']);
    expect(fluidFinding({ clips: null }).searched).toEqual([]);
  });
});
