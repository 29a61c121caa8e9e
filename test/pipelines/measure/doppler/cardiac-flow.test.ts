import { describe, expect, it } from 'vitest';
import { annularMotion } from '../../../../pipelines/measure/doppler/cardiac-flow.ts';
import type { SpectralTrace } from '../../../../pipelines/measure/doppler/envelope.ts';
import { fillingsOf } from '../../../../pipelines/measure/doppler/filling.ts';
import { wavesOf } from '../../../../pipelines/measure/waves.ts';

const SECONDS = 0.005;

/** A wave within a beat: its start and its duration in seconds, and its height. */
type Bump = readonly [from: number, lasts: number, height: number];

/**
 * Returns the curve of several beats of equal length. Each has the same waves, drawn above a level
 * at the baseline.
 */
function curveOf(bumps: readonly Bump[], { beats = 4, length = 0.9, level = 0 } = {}) {
  return Float64Array.from({ length: Math.round((beats * length) / SECONDS) }, (_, column) => {
    const time = (column * SECONDS) % length;
    const heights = bumps.map(([from, lasts, height]) => {
      const share = (time - from) / lasts;
      return share > 0 && share < 1 ? height * Math.sin(Math.PI * share) : 0;
    });
    return Math.max(level, ...heights);
  });
}

function wavesIn(curve: Float64Array) {
  const top = Math.max(...curve);
  return wavesOf(curve, {
    prominence: 0.2 * top,
    floor: 0.1 * top,
    shortest: 0.04 / SECONDS,
  });
}

function trace(side: 'above' | 'below', curve: Float64Array): SpectralTrace {
  const rest = { skirt: 0, clear: 1, brightness: 100, filled: 0.5, atEnd: [], limit: 30 };
  return {
    side,
    curve,
    leading: curve,
    dense: curve,
    waves: wavesIn(curve),
    wrapped: false,
    ...rest,
  };
}

function motion(above: readonly Bump[], below: readonly Bump[]) {
  const spectrum = {
    left: 0,
    top: 0,
    columns: 720,
    rows: 300,
    zeroRow: 150,
    velocityPerRow: 0.2,
    secondsPerColumn: SECONDS,
  };
  return annularMotion({
    spectrum,
    above: trace('above', curveOf(above)),
    below: trace('below', curveOf(below)),
    tissueScale: true,
  });
}

describe("the motion of an annulus: S' is towards the probe", () => {
  const S: Bump = [0.1, 0.28, 11];
  const EARLY: Bump = [0.46, 0.14, 14];
  const LATE: Bump = [0.76, 0.1, 8];

  it("has S' above, and e' and a' below", () => {
    const { systolic, beats, inverted } = motion([S], [EARLY, LATE]);
    expect([systolic.side, inverted]).toEqual(['above', false]);
    expect(Math.round(beats[1]?.systolic.height ?? 0)).toBe(11);
    expect(Math.round(beats[1]?.early?.height ?? 0)).toBe(14);
  });

  it("never has S' below: a display with two waves above is doubtful", () => {
    const { systolic, inverted } = motion([EARLY, LATE], [S]);
    expect([systolic.side, inverted]).toEqual(['above', true]);
  });
});

describe('the filling of a ventricle', () => {
  const EARLY: Bump = [0.47, 0.2, 60];
  const LATE: Bump = [0.74, 0.11, 90];
  const heights = (curve: Float64Array, context = {}) => {
    const { beats, doubtful } = fillingsOf(curve, wavesIn(curve), SECONDS, context);
    return { doubtful, early: beats.map(({ early }) => Math.round(early.height)) };
  };

  it('has E after systole, even if A is higher and slow echoes hide the ends of the waves', () => {
    const { doubtful, early } = heights(curveOf([EARLY, LATE], { level: 18 }));
    expect(doubtful).toBe(false);
    expect(new Set(early)).toEqual(new Set([60]));
  });

  /** Returns the sums of the outlines of the second beat, and of its curve, in cm. */
  const areas = (curve: Float64Array, length = 0.9) => {
    const outlines = fillingsOf(curve, wavesIn(curve), SECONDS).beats[1]?.outlines ?? [];
    const sum = (values: readonly number[]) =>
      SECONDS * values.reduce((total, value) => total + value, 0);
    const beat = Math.round(length / SECONDS);
    return {
      count: outlines.length,
      outlined: sum(outlines.flatMap(({ values }) => values)),
      drawn: sum(Array.from(curve.subarray(beat, 2 * beat))),
    };
  };

  it('is outlined once where E and A meet above the baseline, as in stenosis', () => {
    for (const late of [0.62, 0.6, 0.57, 0.55]) {
      const { count, outlined, drawn } = areas(
        curveOf([
          [0.4, 0.36, 200],
          [late, 0.3, 170],
        ]),
      );
      expect(count).toBe(1);
      expect(outlined / drawn).toBeCloseTo(1, 1);
    }
  });

  it('is outlined without the slow echoes between E and A', () => {
    const { count, outlined } = areas(curveOf([EARLY, [0.74, 0.11, 70]], { level: 12 }));
    const { drawn } = areas(curveOf([EARLY, [0.74, 0.11, 70]]));
    expect(count).toBe(2);
    expect(outlined / drawn).toBeCloseTo(1, 1);
  });

  it('of a display with a single wave has no A', () => {
    const curve = curveOf([EARLY], { beats: 1 });
    const { beats, doubtful } = fillingsOf(curve, wavesIn(curve), SECONDS);
    expect(beats.map(({ atrial, outlines }) => [atrial, outlines.length])).toEqual([[null, 1]]);
    expect(doubtful).toBe(true);
  });

  it('is doubtful if two beats with one wave look like E and A of one beat', () => {
    // E alternates between 80 and 95 every 0.9 s. The gap between the waves is longer than any
    // systole.
    const curve = curveOf(
      [
        [0.4, 0.25, 80],
        [1.3, 0.25, 95],
      ],
      { length: 1.8 },
    );
    const { beats, doubtful } = fillingsOf(curve, wavesIn(curve), SECONDS);
    expect(doubtful || beats.every(({ atrial }) => atrial === null)).toBe(true);
  });

  it('is doubtful if the header has another heart rate', () => {
    const curve = curveOf([EARLY, LATE]);
    expect(heights(curve, { heartRate: 67 }).doubtful).toBe(false);
    expect(heights(curve, { heartRate: 130 }).doubtful).toBe(true);
  });
});
