import type { PhantomFrame } from '../frame.ts';
import type { Point } from '../geometry.ts';
import { createRandom, type Random } from '../random.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import { createSceneSimulator } from './scene.ts';
import {
  buildCavity,
  type CavityPlan,
  drawTransabdominalView,
  PLACENTA_WALLS,
} from './uterine-cavity.ts';

/** Smallest width in mm at which a pocket is measured (AIUM 2018). */
const WIDTH_MM = 10;

interface Depth {
  mm: number;
  /** Upper end of the pocket, in pixels. */
  top: Point;
  bottom: Point;
}

/** Returns the width of the fluid to the left and right of a pixel, including that pixel. */
function widthAt(fluid: Uint8Array, columns: number, column: number, row: number): number {
  const at = (c: number) => c >= 0 && c < columns && fluid[row * columns + c] === 1;
  let left = column;
  let right = column;
  while (at(left - 1)) left--;
  while (at(right + 1)) right++;
  return right - left + 1;
}

/**
 * Finds the deepest vertical pocket in a mask: the longest column of fluid with at least 10 mm of
 * fluid around its middle. Returns null if no column is that long. The truth is not calculated with
 * the gateway's code, because it is used to check that code.
 */
export function deepestPocket(
  fluid: Uint8Array,
  columns: number,
  mmPerPixel: number,
): Depth | null {
  const rows = fluid.length / columns;
  let best: Depth | null = null;
  for (let column = 0; column < columns; column++) {
    let start = -1;
    for (let row = 0; row <= rows; row++) {
      const wet = row < rows && fluid[row * columns + column] === 1;
      if (wet && start < 0) start = row;
      if (wet || start < 0) continue;
      const mm = (row - start) * mmPerPixel;
      const middle = (start + row) >> 1;
      if (
        mm > (best?.mm ?? 0) &&
        widthAt(fluid, columns, column, middle) * mmPerPixel >= WIDTH_MM
      ) {
        best = { mm, top: { x: column, y: start - 0.5 }, bottom: { x: column, y: row - 0.5 } };
      }
      start = -1;
    }
  }
  return best;
}

interface Amount {
  down: readonly [number, number];
  limbs: readonly [number, number];
  trunk: number;
}

/**
 * Half the depth of the cavity in mm, the number of limbs in it, and the probability of a trunk,
 * from oligo- to polyhydramnios.
 */
const AMOUNTS = {
  little: { down: [10, 22], limbs: [3, 7], trunk: 0.8 },
  usual: { down: [24, 48], limbs: [0, 4], trunk: 0.45 },
  much: { down: [46, 80], limbs: [0, 3], trunk: 0.3 },
} as const satisfies Record<string, Amount>;

/**
 * Samples a plan of the cavity. `anatomy`: `amount` (0 little, 1 usual, 2 much), `downMm`, `limbs`,
 * `cords`, `trunk` (0, 1).
 */
function drawPlan({ anatomy = {} }: ViewRequest, random: Random): CavityPlan {
  const amounts: readonly Amount[] = [AMOUNTS.little, AMOUNTS.usual, AMOUNTS.much];
  const amount: Amount = amounts[anatomy.amount ?? random.integer(0, 2)] ?? AMOUNTS.usual;
  const wall = random.chance(0.5) ? 'none' : random.pick(PLACENTA_WALLS);
  return {
    across: random.range(45, 95),
    down: anatomy.downMm ?? random.range(...amount.down),
    placenta: wall,
    placentaMm: random.range(8, 24),
    placentaSpan: random.range(0.5, 1.1),
    lacunae: 0,
    clearZone: true,
    limbs: anatomy.limbs ?? random.integer(...amount.limbs),
    trunk: anatomy.trunk === undefined ? random.chance(amount.trunk) : anatomy.trunk === 1,
    cords: anatomy.cords ?? random.integer(0, 2),
  };
}

function withPocket(frame: PhantomFrame): PhantomFrame {
  const { truth, columns } = frame;
  const fluid = truth.masks?.fluid;
  const pocket = fluid && deepestPocket(fluid, columns, truth.mmPerPixel);
  return {
    ...frame,
    truth: {
      ...truth,
      values: { ...truth.values, pocketMm: pocket ? pocket.mm : 0 },
      points: { ...truth.points, ...(pocket ? { pocket: [pocket.top, pocket.bottom] } : {}) },
    },
  };
}

function simulate(request: ViewRequest, stepMm: number): PhantomFrame[] {
  const random = createRandom(request.seed);
  const plan = drawPlan(request, random.fork('plan'));
  const view = drawTransabdominalView(plan.down, random.fork('view'), request.screen);
  // The pocket is measured on the mask of the fluid.
  const simulateFrame = createSceneSimulator({
    plane: 'amniotic-fluid',
    view,
    random,
    masks: true,
  });
  return Array.from({ length: request.frames }, (_, index) => {
    const x = view.centre.x + stepMm * (index - (request.frames - 1) / 2);
    const moved = { ...view, centre: { ...view.centre, x } };
    return withPocket(
      simulateFrame({
        pieces: buildCavity(plan, moved, random.fork('anatomy')),
        values: {},
        points: {},
        speckleSeed: request.seed + 7919 * (index + 1),
      }),
    );
  });
}

const AGES = { youngest: 16 * 7, oldest: 41 * 7 };

/** A pocket of amniotic fluid between fetal parts, cord, placenta and wall. */
export const amnioticFluid: PhantomView = {
  id: 'amniotic-fluid',
  ages: AGES,
  simulate: (request) => simulate(request, 0.2),
};

/** The probe slides across the uterus while recording, so pockets appear and disappear. */
export const fluidSweep: PhantomView = {
  id: 'fluid-sweep',
  ages: AGES,
  simulate: (request) => simulate(request, Math.min(8, 90 / Math.max(1, request.frames - 1))),
};
