import { describe, expect, it } from 'vitest';
import { linesOnPicture } from '../../../../pipelines/echo/parasternal/wall-edges.ts';

const SCALE = { x: 0.5, y: 0.5 };
const BLOOD = 2;
const MUSCLE = 80;

type Layer = readonly [level: number, mm: number];

/**
 * Draws layers from the top downwards. Below the last layer is tissue at half the level of muscle.
 */
function picture(layers: readonly Layer[]) {
  const [width, height] = [80, 320];
  const levels = layers.flatMap(([level, mm]) => Array<number>(2 * mm).fill(level));
  const data = Uint8Array.from(
    { length: width * height },
    (_, i) => levels[Math.floor(i / width)] ?? MUSCLE / 2,
  );
  return { width, height, data };
}

/**
 * A heart with an RV of 20 mm, a septum of 11, a cavity of 46, a posterior wall of 9, and then the
 * layers `behind`.
 */
const heart = (...behind: Layer[]) =>
  picture([[BLOOD, 20], [MUSCLE, 11], [BLOOD, 46], [MUSCLE, 9], ...behind]);

const line = (fromMm: number, toMm: number) =>
  [
    { x: 40, y: 2 * fromMm },
    { x: 40, y: 2 * toMm },
  ] as const;

/** Lines as outlined by a network with a coarse grid. Each border is off by about 2 mm. */
const OUTLINED = {
  septum: line(22, 33),
  cavity: line(33, 75),
  'posterior-wall': line(75, 84.5),
};

const lengthOf = (one: readonly [{ y: number }, { y: number }] | null | undefined) =>
  one ? (one[1].y - one[0].y) / 2 : Number.NaN;

describe('the lines of a long axis on the picture', () => {
  const { lines, gap } = linesOnPicture(heart(), SCALE, OUTLINED);
  it('end where blood meets the wall, to within the blur of the echo', () => {
    expect(lengthOf(lines.septum)).toBeCloseTo(11 - 0.8, 0);
    expect(lengthOf(lines.cavity)).toBeCloseTo(46 + 0.8, 0);
  });
  it('meet: the septum ends where the cavity begins', () => {
    expect(lines.septum?.[1]).toEqual(lines.cavity?.[0]);
    expect(lines['posterior-wall']?.[0]).toEqual(lines.cavity?.[1]);
  });
  it('keep the outer border of the posterior wall, where tissue of the same brightness may follow', () => {
    expect(lines['posterior-wall']?.[1].y).toBeCloseTo(2 * 84.5, 6);
    expect(gap).toBeNull();
  });

  it('are not moved if the picture shows no border within 3 mm', () => {
    const far = {
      septum: line(12, 25),
      cavity: line(25, 69),
      'posterior-wall': line(69, 80),
    };
    const found = linesOnPicture(heart(), SCALE, far).lines;
    expect(lengthOf(found.cavity)).toBeCloseTo(44, 1);
  });

  it('are not moved to a steeper step within the wall, which is a bright spot', () => {
    const spotted = picture([
      [BLOOD, 20],
      [MUSCLE, 11],
      [BLOOD, 46],
      [MUSCLE, 2.5],
      [2.2 * MUSCLE, 3],
      [MUSCLE, 3.5],
    ]);
    const traced = { ...OUTLINED, cavity: line(33, 77), 'posterior-wall': line(77, 86) };
    const found = linesOnPicture(spotted, SCALE, traced).lines;
    expect(Math.abs((found.cavity?.[1].y ?? 0) - 2 * 77)).toBeLessThan(1);
  });

  it('are not refined if one of the three was not outlined', () => {
    const { septum, cavity } = OUTLINED;
    const some = { septum, cavity };
    expect(linesOnPicture(heart(), SCALE, some)).toEqual({ lines: some, gap: null });
  });
});

describe('the space behind the posterior wall', () => {
  const behind = (mm: number, level = BLOOD) =>
    linesOnPicture(heart([level, mm], [120, 2]), SCALE, OUTLINED);

  it.each([5, 12, 24, 40])('of %d mm is measured up to the pericardium', (mm) => {
    const { gap, lines } = behind(mm);
    expect(Math.abs(lengthOf(gap) - mm)).toBeLessThan(1.3);
    expect(Math.abs(lengthOf(lines['posterior-wall']) - 9)).toBeLessThan(1);
  });
  it('of 2 mm is normal', () => {
    expect(behind(2).gap).toBeNull();
  });
  it('is not fluid if it is as echogenic as tissue', () => {
    expect(behind(12, 25).gap).toBeNull();
  });
  it('is not fluid if no echo follows behind it, because the picture may end there', () => {
    expect(linesOnPicture(heart([BLOOD, 90]), SCALE, OUTLINED).gap).toBeNull();
  });
});
