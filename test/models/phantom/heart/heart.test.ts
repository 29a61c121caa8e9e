import { describe, expect, it } from 'vitest';
import { createHeart, emptySample, STRUCTURE } from '../../../../models/phantom/heart/heart.ts';
import { beatAt, END_DIASTOLE, END_SYSTOLE } from '../../../../models/phantom/heart/motion.ts';
import { drawHeart, type HeartRequest } from '../../../../models/phantom/heart/sizes.ts';
import { globalLongitudinalStrain } from '../../../../models/phantom/heart/wall-motion.ts';
import { createRandom } from '../../../../models/phantom/random.ts';

const heartOf = (request: HeartRequest, seed = 1) =>
  createHeart(drawHeart(createRandom(seed), request));

const ADULT: HeartRequest = {
  lengthMm: 86,
  widthMm: 46,
  septalWallMm: 9,
  lateralWallMm: 9,
  unevenness: 0,
};

/** Segments 1, 2, 7, 8, 13, 14 and 17, which the left anterior descending artery supplies. */
const ANTERIOR = Array.from({ length: 17 }, (_, i) =>
  [0, 1, 6, 7, 12, 13, 16].includes(i) ? 0 : 1,
);

describe('the left ventricle of the phantom', () => {
  it.each([0.1, 0.25, 0.55, 0.8])('ejects the requested fraction %f', (ejectionFraction) => {
    const heart = heartOf({ ...ADULT, ejectionFraction });
    expect(1 - heart.endSystolicMl / heart.endDiastolicMl).toBeCloseTo(ejectionFraction, 4);
  });

  it('ejects it even if a territory is akinetic, and that territory does not move', () => {
    const heart = heartOf({ ...ADULT, ejectionFraction: 0.35, segments: ANTERIOR });
    expect(1 - heart.endSystolicMl / heart.endDiastolicMl).toBeCloseTo(0.35, 4);
    const diastole = heart.at(END_DIASTOLE).ventricle;
    const systole = heart.at(END_SYSTOLE).ventricle;
    const inward = (angle: number) => 1 - systole.radius(angle, 0.5) / diastole.radius(angle, 0.5);
    expect(inward(90)).toBeCloseTo(0, 6);
    expect(inward(300)).toBeGreaterThan(0.2);
  });

  it('refuses a fraction that its moving segments cannot eject', () => {
    const still = Array.from({ length: 17 }, () => 0);
    expect(() => heartOf({ ...ADULT, ejectionFraction: 0.6, segments: still })).toThrow(RangeError);
  });

  it('has walls that thicken as it empties, since their volume is constant', () => {
    const heart = heartOf({ ...ADULT, ejectionFraction: 0.6 });
    const thickness = (squeeze: number) =>
      heart.at({ ...END_DIASTOLE, squeeze }).ventricle.wall(150, 0.5);
    expect(thickness(0)).toBeCloseTo(9, 5);
    expect(thickness(1)).toBeGreaterThan(1.25 * thickness(0));
  });

  it('shortens more along its axis if more longitudinal motion is requested', () => {
    const strain = (longitudinal: number) =>
      globalLongitudinalStrain(heartOf({ ...ADULT, ejectionFraction: 0.6, longitudinal }));
    expect(strain(0.17)).toBeLessThan(-16);
    expect(strain(0.17)).toBeGreaterThan(-24);
    expect(strain(0.07)).toBeGreaterThan(strain(0.17) + 4);
  });
});

describe('the beat', () => {
  const heart = heartOf({ ...ADULT, ejectionFraction: 0.6, beatsPerMinute: 75, tapseMm: 21 });

  it('repeats after its length', () => {
    expect(heart.beat.lengthS).toBeCloseTo(0.8, 12);
    for (const seconds of [0, 0.11, 0.37, 0.62]) {
      const first = heart.after(seconds);
      const next = heart.after(seconds + 2 * heart.beat.lengthS);
      expect(next.ventricle.volumeMl).toBeCloseTo(first.ventricle.volumeMl, 6);
      expect(next.moment.mitralOpening).toBeCloseTo(first.moment.mitralOpening, 6);
    }
  });

  it('is fullest at the R wave and emptiest when the aortic valve closes', () => {
    expect(heart.after(0).ventricle.volumeMl).toBeCloseTo(heart.endDiastolicMl, 6);
    expect(heart.after(heart.beat.systoleS).ventricle.volumeMl).toBeCloseTo(heart.endSystolicMl, 3);
  });

  it.each([50, 75, 110, 150])('keeps its events in order at %i beats a minute', (rate) => {
    const { ejectionS, systoleS, fillingS, rapidS, atrialS, lengthS } = beatAt(rate);
    const times = [0, ejectionS, systoleS, fillingS, rapidS, atrialS, lengthS];
    expect([...times].sort((a, b) => a - b)).toEqual(times);
    expect(new Set(times).size).toBe(times.length);
  });

  it('opens one valve of the left heart at a time', () => {
    for (let i = 0; i < 100; i++) {
      const { mitralOpening, aorticOpening } = heart.after((i * heart.beat.lengthS) / 100).moment;
      expect(Math.min(mitralOpening, aorticOpening)).toBe(0);
    }
  });

  it('moves the tricuspid ring by the requested excursion', () => {
    const z = (seconds: number) => heart.after(seconds).chambers.tricuspidZ;
    expect(z(heart.beat.systoleS) - z(0)).toBeCloseTo(21, 3);
  });
});

describe('the tissues of the phantom', () => {
  const sample = emptySample();
  const at = (request: HeartRequest, x: number, y: number, z: number) => {
    heartOf({ ...ADULT, ejectionFraction: 0.6, ...request })
      .at(END_DIASTOLE)
      .probe(x, y, z, sample);
    return sample.structure;
  };

  it('have the cavity on the axis, muscle around it, and the right ventricle beyond the septum', () => {
    expect(at({}, 0, 0, 50)).toBe(STRUCTURE.leftVentricle);
    expect(at({}, -27, 0, 50)).toBe(STRUCTURE.myocardium);
    expect(at({}, -40, -8, 30)).toBe(STRUCTURE.rightVentricle);
    expect(at({}, 60, 0, 40)).toBe(STRUCTURE.outside);
  });

  it('have fluid around the heart only if it was requested', () => {
    expect(at({ effusionMm: 15 }, 40, 0, 40)).toBe(STRUCTURE.effusion);
    expect(at({ effusionMm: 0 }, 40, 0, 40)).toBe(STRUCTURE.outside);
    // Far behind the ventricle there is no fluid, however large the effusion is.
    expect(at({ effusionMm: 24 }, 90, 0, 40)).toBe(STRUCTURE.outside);
  });
});
