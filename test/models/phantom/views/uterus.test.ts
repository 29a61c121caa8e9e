import { describe, expect, it } from 'vitest';
import type { PhantomFrame } from '../../../../models/phantom/frame.ts';
import type { Point } from '../../../../models/phantom/geometry.ts';
import { sizesAt } from '../../../../models/phantom/sizes.ts';
import type { PhantomView } from '../../../../models/phantom/view.ts';
import { cervix } from '../../../../models/phantom/views/cervix.ts';
import {
  amnioticFluid,
  deepestPocket,
  fluidSweep,
} from '../../../../models/phantom/views/fluid.ts';
import { placenta, placentaEdge } from '../../../../models/phantom/views/placenta.ts';

const screen = { columns: 320, rows: 240 };
const gaDays = 154;

function simulate(view: PhantomView, anatomy: Record<string, number>, frames = 1, seed = 3) {
  const request = { gaDays, sizes: sizesAt(gaDays), seed, frames, screen, anatomy };
  return view.simulate(request);
}

function still(view: PhantomView, anatomy: Record<string, number>): PhantomFrame {
  return simulate(view, anatomy)[0] as PhantomFrame;
}

function pointOf({ truth }: PhantomFrame, name: string, index = 0): Point {
  const point = truth.points?.[name]?.[index];
  if (!point) throw new Error(`no point ${name}`);
  return point;
}

const sizeOf = ({ truth }: PhantomFrame, name: string) => truth.values?.[name] ?? Number.NaN;

function millimetres({ truth }: PhantomFrame, a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y) * truth.mmPerPixel;
}

function brightness({ gray, truth }: PhantomFrame, structure: string): number {
  const mask = truth.masks?.[structure] ?? new Uint8Array();
  const levels = [...gray].filter((_, i) => mask[i] === 1);
  return levels.reduce((sum, level) => sum + level, 0) / levels.length;
}

describe('the cervix phantom', () => {
  const funnelled = still(cervix, {
    lengthMm: 22,
    bowMm: 0,
    funnel: 2,
    funnelDepthMm: 12,
    funnelWidthMm: 16,
  });

  it('has the requested sizes, which are the distances between its points', () => {
    const internalOs = pointOf(funnelled, 'internalOs');
    const shoulders = [0, 1].map((i) => pointOf(funnelled, 'shoulders', i));
    const [left = internalOs, right = internalOs] = shoulders;
    const mouth = { x: (left.x + right.x) / 2, y: (left.y + right.y) / 2 };
    expect(millimetres(funnelled, pointOf(funnelled, 'externalOs'), internalOs)).toBeCloseTo(22, 6);
    expect(millimetres(funnelled, left, right)).toBeCloseTo(16, 6);
    expect(millimetres(funnelled, mouth, internalOs)).toBeCloseTo(12, 6);
    expect(funnelled.truth).toMatchObject({ plane: 'cervix', values: { cervicalLengthMm: 22 } });
  });

  it('shows fluid darker than the cervix around it', () => {
    expect(brightness(funnelled, 'funnel')).toBeLessThan(0.6 * brightness(funnelled, 'cervix'));
  });

  it.each([
    [5, 'straight', 30],
    [6, 'in two parts', 2 * Math.hypot(15, 6)],
  ])('with a canal that bows by %d mm is measured %s', (bowMm, _, length) => {
    const frame = still(cervix, { lengthMm: 30, bowMm, funnel: 0 });
    expect(sizeOf(frame, 'cervicalLengthMm')).toBeCloseTo(length, 6);
    expect(frame.truth.points?.shoulders).toBeUndefined();
  });
});

describe('the phantom of the lower placental edge', () => {
  it.each([
    [-10, -1],
    [12, 1],
  ])('with the edge %d mm along the wall shows on which side of the os it is', (edgeMm, side) => {
    const frame = still(placentaEdge, { edgeMm, posterior: 1 });
    const toOs = sizeOf(frame, 'placentaToOsMm');
    const straight = millimetres(
      frame,
      pointOf(frame, 'placentaEdge'),
      pointOf(frame, 'internalOs'),
    );
    expect(Math.sign(toOs)).toBe(side);
    expect(Math.abs(toOs)).toBeCloseTo(straight, 6);
    // The wall curves away from the os, so the straight line is at least as long as the distance
    // across.
    expect(straight).toBeGreaterThanOrEqual(Math.abs(edgeMm) - 1e-9);
  });
});

describe('the phantom of a pocket of amniotic fluid', () => {
  const [frame] = simulate(amnioticFluid, { amount: 1, cords: 1 }) as [PhantomFrame];

  it('has a vertical caliper that crosses only fluid', () => {
    const top = pointOf(frame, 'pocket', 0);
    const bottom = pointOf(frame, 'pocket', 1);
    expect(top.x).toBe(bottom.x);
    expect(millimetres(frame, top, bottom)).toBeCloseTo(sizeOf(frame, 'pocketMm'), 6);
    const fluid = frame.truth.masks?.fluid ?? new Uint8Array();
    for (let y = Math.ceil(top.y); y < bottom.y; y++) {
      expect(fluid[y * frame.columns + top.x]).toBe(1);
    }
  });

  it('changes along a sweep, and is different for another seed', () => {
    const depths = simulate(fluidSweep, { amount: 1 }, 3).map((one) => sizeOf(one, 'pocketMm'));
    expect(new Set(depths).size).toBeGreaterThan(1);
    const [other] = simulate(amnioticFluid, { amount: 1, cords: 1 }, 1, 4) as [PhantomFrame];
    expect(other.gray).not.toEqual(frame.gray);
    const [same] = simulate(amnioticFluid, { amount: 1, cords: 1 }) as [PhantomFrame];
    expect(same.gray).toEqual(frame.gray);
  });

  it('is at least 10 mm wide where it is measured', () => {
    const column = Uint8Array.of(1, 1, 1, 0, 1, 0, 0, 1, 0);
    expect(deepestPocket(column, 3, 5)?.mm).toBe(5);
    expect(deepestPocket(column, 3, 10 / 3)?.mm).toBeCloseTo(10 / 3, 6);
    expect(deepestPocket(column, 3, 3.3)).toBeNull();
  });
});

describe('the placenta phantom', () => {
  it.each([
    [0, 'above'],
    [1, 'below'],
  ])('on wall %i is %s the fluid', (wall, place) => {
    const { truth, columns } = still(placenta, { wall });
    const meanRow = (structure: string) => {
      const rows = [...(truth.masks?.[structure] ?? [])].flatMap((inside, i) =>
        inside === 1 ? [Math.floor(i / columns)] : [],
      );
      return rows.reduce((sum, row) => sum + row, 0) / rows.length;
    };
    expect(meanRow('placenta') < meanRow('fluid')).toBe(place === 'above');
  });

  it('contains the requested lacunae', () => {
    const lacunae = still(placenta, { wall: 0, lacunae: 6 }).truth.masks?.lacuna ?? [];
    expect([...lacunae].some((inside) => inside === 1)).toBe(true);
    expect(still(placenta, { wall: 0, lacunae: 0 }).truth.masks?.lacuna).toBeUndefined();
  });
});
