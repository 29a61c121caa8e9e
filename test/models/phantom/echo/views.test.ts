import { describe, expect, it } from 'vitest';
import { ECHO_VIEW_IDS } from '../../../../models/phantom/echo/view.ts';
import { ECHO_VIEWS } from '../../../../models/phantom/echo/views.ts';
import { apicalShot } from '../../../../models/phantom/echo/windows.ts';
import { biplaneMl, discWidths, ventricleCut } from '../../../../models/phantom/heart/contour.ts';
import { labelHeart } from '../../../../models/phantom/heart/frame.ts';
import { createHeart, STRUCTURE } from '../../../../models/phantom/heart/heart.ts';
import { END_DIASTOLE, END_SYSTOLE } from '../../../../models/phantom/heart/motion.ts';
import { drawHeart } from '../../../../models/phantom/heart/sizes.ts';
import { createRandom } from '../../../../models/phantom/random.ts';

const SCREEN = { columns: 200, rows: 180 };

const heartOf = (seed: number) =>
  createHeart(
    drawHeart(createRandom(seed), {
      lengthMm: 88,
      widthMm: 48,
      ejectionFraction: 0.58,
      unevenness: 0.3,
    }),
  );

const heart = heartOf(3);
const shot = (view: 'A4C' | 'A2C') =>
  apicalShot(view, heart.sizes, { columns: 480, rows: 400 }, createRandom(5).fork(view), {
    clarity: 1,
  });

describe('the truth of the apical views', () => {
  it.each([
    ['end diastole', END_DIASTOLE, heart.endDiastolicMl],
    ['end systole', END_SYSTOLE, heart.endSystolicMl],
  ])(
    'biplane discs of the cut at %s match the three-dimensional volume to within 5 %%',
    (_, moment, volumeMl) => {
      const cuts = (['A4C', 'A2C'] as const).map((view) =>
        ventricleCut(heart.at(moment), shot(view).plane),
      );
      const [four, two] = cuts;
      if (!four || !two) throw new Error('the planes miss the ventricle');
      const ml = biplaneMl(four, two);
      expect(Math.abs(ml - volumeMl) / volumeMl).toBeLessThan(0.05);
    },
  );

  it('mask and outline are the same cavity: their discs agree to within 3 %', () => {
    const taken = shot('A4C');
    const moment = heart.at(END_DIASTOLE);
    const cut = ventricleCut(moment, taken.plane);
    if (!cut) throw new Error('the plane misses the ventricle');
    const { window } = taken.acquisition;
    const inMask =
      labelHeart(moment, taken).filter((label) => label === STRUCTURE.leftVentricle).length *
      window.mmPerPixel ** 2;
    const disc = cut.lengthMm / cut.widths.length;
    const inOutline = cut.widths.reduce((sum, width) => sum + width * disc, 0);
    expect(Math.abs(inMask - inOutline) / inOutline).toBeLessThan(0.03);
  });

  it('the discs of a square are as wide as its side', () => {
    const square = [
      { x: -10, y: 0 },
      { x: 10, y: 0 },
      { x: 10, y: 30 },
      { x: -10, y: 30 },
    ];
    const widths = discWidths(square, { x: 0, y: 0 }, { x: 0, y: 30 }, 5);
    for (const width of widths) expect(width).toBeCloseTo(20, 9);
  });
});

describe('a simulated clip', () => {
  const request = { heart, seed: 7, frames: 1, screen: SCREEN };

  it.each(ECHO_VIEW_IDS)('%s shows the structures that it must show', (id) => {
    const [frame] = ECHO_VIEWS[id].simulate(request);
    const shown = Object.keys(frame?.truth.masks ?? {});
    const expected: Record<string, string[]> = {
      PLAX: ['leftVentricle', 'myocardium', 'leftAtrium', 'aorta', 'rightVentricle'],
      'PSAX-AV': ['aorta', 'leftAtrium'],
      'PSAX-MV': ['leftVentricle', 'myocardium', 'rightVentricle'],
      'PSAX-PM': ['leftVentricle', 'myocardium', 'rightVentricle'],
      'PSAX-AP': ['leftVentricle', 'myocardium'],
      A4C: ['leftVentricle', 'myocardium', 'leftAtrium', 'rightVentricle', 'rightAtrium'],
      A2C: ['leftVentricle', 'myocardium', 'leftAtrium'],
      A3C: ['leftVentricle', 'myocardium', 'leftAtrium', 'aorta'],
      A5C: ['leftVentricle', 'myocardium', 'aorta'],
      'SUBCOSTAL-4C': ['leftVentricle', 'leftAtrium', 'rightVentricle', 'rightAtrium'],
      'SUBCOSTAL-IVC': ['inferiorVenaCava', 'rightAtrium', 'hepaticVein'],
      SUPRASTERNAL: ['aorta'],
    };
    expect(shown).toEqual(expect.arrayContaining(expected[id] ?? []));
    expect(frame?.gray.some((level) => level > 60)).toBe(true);
  });

  it('is the same for the same seed, and different for another', () => {
    const take = (seed: number) => {
      const [frame] = ECHO_VIEWS.A4C.simulate({ ...request, seed, masks: false });
      return Buffer.from(frame?.gray ?? []);
    };
    const first = take(7);
    expect(take(7).equals(first)).toBe(true);
    expect(take(8).equals(first)).toBe(false);
  });

  it('states its R waves, heart rate and pace in the header', () => {
    const header = ECHO_VIEWS.A4C.header({
      ...request,
      frames: 61,
      frameTimeMs: 33.3,
      startS: 0.1,
    });
    const beatMs = 1000 * heart.beat.lengthS;
    const waves = (header.attributes?.RWaveTimeVector ?? []) as number[];
    expect(waves[0]).toBeCloseTo(beatMs - 100, 0);
    expect((waves[1] ?? 0) - (waves[0] ?? 0)).toBeCloseTo(beatMs, 0);
    expect(header.attributes?.HeartRate).toBe(Math.round(heart.sizes.beatsPerMinute));
    expect(header.frameTimeMs).toBe(33.3);
  });
});
