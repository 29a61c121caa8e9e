import { describe, expect, it } from 'vitest';
import type { Point } from '../../../../pipelines/contract/image.ts';
import type { SoftMask } from '../../../../pipelines/measure/soft-mask.ts';
import { cervixOfMaps } from '../../../../pipelines/obstetric/cervix/locate.ts';
import {
  placentaEdgeOfMaps,
  placentaOfMaps,
} from '../../../../pipelines/obstetric/placenta/locate.ts';
import {
  UTERINE_STRUCTURES,
  type UterineMaps,
  type UterineStructure,
} from '../../../../pipelines/obstetric/shared/uterine-maps.ts';

const WIDTH = 128;
const HEIGHT = 96;
/** The image is four times the size of the grid. */
const PLACEMENT = { scaleX: 0.25, scaleY: 0.25, offsetX: 0, offsetY: 0 };
const onImage = (cells: number) => (cells + 0.5) * 4 - 0.5;

function map(value: (x: number, y: number) => number = () => 0): SoftMask {
  const values = Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) =>
    value(i % WIDTH, Math.floor(i / WIDTH)),
  );
  return { width: WIDTH, height: HEIGHT, values };
}

const landmark = (at: Point, height = 1) =>
  map((x, y) => height * Math.exp(-((x - at.x) ** 2 + (y - at.y) ** 2) / 6));

const box = (left: number, top: number, right: number, bottom: number) =>
  map((x, y) => (x >= left && x <= right && y >= top && y <= bottom ? 1 : 0));

function drawn(given: Partial<Record<UterineStructure, SoftMask>>): UterineMaps {
  const empty = Object.fromEntries(UTERINE_STRUCTURES.map((name) => [name, map()])) as Record<
    UterineStructure,
    SoftMask
  >;
  return {
    placement: PLACEMENT,
    maps: { ...empty, ...given },
    gate: 0.5,
    placentaGate: 0.5,
    edgeGate: 0.5,
  };
}

const EXTERNAL = { x: 30, y: 50 };
const INTERNAL = { x: 70, y: 50 };

/** Returns a canal between the two ora that rises by `bow` cells in the middle. */
const canal = (bow: number) => {
  const line = Array.from({ length: 81 }, (_, i) => {
    const t = i / 80;
    return { x: EXTERNAL.x + 40 * t, y: 50 - 4 * bow * t * (1 - t) };
  });
  return map((x, y) => {
    const away = Math.min(...line.map((p) => Math.hypot(p.x - x, p.y - y)));
    return Math.min(1, Math.max(0, 2 - away));
  });
};

const ora = {
  'external-os': landmark(EXTERNAL),
  'internal-os': landmark(INTERNAL),
};

describe('cervixOfMaps', () => {
  it('finds the two ora at the ends of the canal, in pixels of the image', () => {
    const found = cervixOfMaps(drawn({ ...ora, canal: canal(0) }));
    expect(found?.externalOs.x).toBeCloseTo(onImage(EXTERNAL.x), -0.5);
    expect(found?.internalOs.x).toBeCloseTo(onImage(INTERNAL.x), -0.5);
    expect(found?.internalOs.y).toBeCloseTo(onImage(INTERNAL.y), 1);
    expect(found?.accepted).toBe(true);
    expect(found?.funnel).toBeNull();
    expect(found?.bladder).toBe(false);
  });

  it.each([0, 4, 8])('finds the middle of a canal that bows by %i cells', (bow) => {
    const found = cervixOfMaps(drawn({ ...ora, canal: canal(bow) }));
    expect(found?.middle.y).toBeCloseTo(onImage(50 - bow), -0.5);
  });

  it('treats as internal the end where the map of the internal os is', () => {
    const turned = {
      'external-os': landmark(INTERNAL),
      'internal-os': landmark(EXTERNAL),
      canal: canal(0),
    };
    expect(cervixOfMaps(drawn(turned))?.internalOs.x).toBeCloseTo(onImage(EXTERNAL.x), -0.5);
  });

  it('is withheld below the gate, and none without a canal or without an os', () => {
    const faint = {
      'external-os': landmark(EXTERNAL, 0.3),
      'internal-os': landmark(INTERNAL, 0.3),
    };
    expect(cervixOfMaps(drawn({ ...faint, canal: canal(0) }))?.accepted).toBe(false);
    expect(cervixOfMaps(drawn({ canal: canal(0) }))).toBeNull();
    expect(cervixOfMaps(drawn(ora))).toBeNull();
  });

  it('measures a funnel beyond the internal os by the ends of its mouth', () => {
    const funnel = map((x, y) => {
      const u = x - INTERNAL.x;
      return u >= 0 && u <= 16 && Math.abs(y - INTERNAL.y) <= u / 2 ? 1 : 0;
    });
    const found = cervixOfMaps(drawn({ ...ora, canal: canal(0), funnel }))?.funnel;
    const [first, second] = found?.shoulders ?? [];
    expect(Math.abs((first?.y ?? 0) - (second?.y ?? 0)) / 4).toBeCloseTo(17, -0.5);
    expect(((first?.x ?? 0) - onImage(INTERNAL.x)) / 4).toBeCloseTo(16.5, -0.5);
    expect(found?.fullness).toBeGreaterThan(0.43);
    expect(found?.fullness).toBeLessThan(0.63);
  });

  it('does not mistake fluid at another place for a funnel', () => {
    const away = drawn({ ...ora, canal: canal(0), funnel: box(100, 10, 115, 25) });
    expect(cervixOfMaps(away)?.funnel).toBeNull();
  });
});

describe('placentaOfMaps', () => {
  it.each([
    ['anterior', box(20, 10, 100, 22)],
    ['posterior', box(20, 70, 100, 82)],
    ['lateral-or-fundal', box(4, 30, 16, 66)],
  ])('on the %s wall lies on that side of what else is inside', (side, placenta) => {
    const found = placentaOfMaps(drawn({ placenta, fluid: box(24, 30, 100, 66) }));
    expect(found?.side).toBe(side);
    const [from, to] = found?.thickness ?? [];
    const cells = Math.hypot((from?.x ?? 0) - (to?.x ?? 0), (from?.y ?? 0) - (to?.y ?? 0)) / 4;
    expect(cells).toBeCloseTo(13, -0.5);
  });

  it('counts lacunae separately, and keeps them within its outline', () => {
    const placenta = box(20, 10, 100, 30);
    const holes = [30, 50, 70, 90];
    const isHole = (x: number, y: number) =>
      y >= 18 && y <= 21 && holes.some((left) => x >= left && x <= left + 3);
    const lacuna = map((x, y) => (isHole(x, y) ? 1 : 0));
    const rest = map((x, y) => (isHole(x, y) ? 0 : (placenta.values[y * WIDTH + x] ?? 0)));
    const fluid = box(20, 40, 100, 70);
    const found = placentaOfMaps(drawn({ placenta: rest, lacuna, fluid }));
    expect(found?.lacunae).toBe(4);
    expect(found?.confidence).toBeCloseTo(1, 6);
  });

  it('is null without tissue of a minimum size, and without anything next to it', () => {
    expect(
      placentaOfMaps(drawn({ placenta: box(1, 1, 4, 4), fluid: box(9, 9, 50, 50) })),
    ).toBeNull();
    expect(placentaOfMaps(drawn({ placenta: box(20, 10, 100, 30) }))).toBeNull();
  });
});

describe('the gate of the body of a placenta', () => {
  it.each([
    [0.69, false],
    [0.7, true],
    [0.71, true],
  ])('drawn with a probability of %d it is accepted: %s', (probability, accepted) => {
    const placenta = map((x, y) => (x > 20 && x < 100 && y > 10 && y < 30 ? probability : 0));
    const maps = {
      ...drawn({ placenta, fluid: box(24, 36, 100, 66) }),
      placentaGate: Math.fround(0.7),
    };
    expect(placentaOfMaps(maps)?.accepted).toBe(accepted);
  });
});

describe('placentaEdgeOfMaps', () => {
  const os = { x: 60, y: 50 };

  it.each([
    ['short of the os', box(70, 30, 100, 44), { x: 69, y: 44 }, false],
    ['over the os', box(50, 30, 100, 44), { x: 49, y: 44 }, true],
  ])('with tissue that ends %s gives the side', (_, placenta, edge, overlaps) => {
    const found = placentaEdgeOfMaps(
      drawn({ placenta, 'internal-os': landmark(os), 'placenta-edge': landmark(edge) }),
    );
    expect(found?.overlaps).toBe(overlaps);
    expect(found?.edge.x).toBeCloseTo(onImage(edge.x), 3);
    expect(found?.accepted).toBe(true);
  });

  it('is null without placenta, os or edge', () => {
    const placenta = box(70, 30, 100, 44);
    expect(placentaEdgeOfMaps(drawn({ placenta, 'internal-os': landmark(os) }))).toBeNull();
    expect(placentaEdgeOfMaps(drawn({ placenta, 'placenta-edge': landmark(os) }))).toBeNull();
  });
});
