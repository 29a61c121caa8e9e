import type { PhantomFrame } from '../frame.ts';
import { createRandom, type Random } from '../random.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import { simulateLowerUterus } from './cervix.ts';
import type { CervixSizes } from './cervix-anatomy.ts';
import { createSceneSimulator } from './scene.ts';
import {
  buildCavity,
  type CavityPlan,
  drawTransabdominalView,
  PLACENTA_WALLS,
} from './uterine-cavity.ts';

/**
 * Samples the dimensions. `anatomy`: `edgeMm` along the wall (negative: over the os), `posterior`
 * (0, 1), `lengthMm`.
 */
function drawSizes({ anatomy = {} }: ViewRequest, random: Random): CervixSizes {
  const posterior = anatomy.posterior ?? random.integer(0, 1);
  return {
    lengthMm: anatomy.lengthMm ?? random.range(22, 42),
    bowMm: random.normal(0, 1),
    funnel: 'T',
    funnelDepthMm: 0,
    funnelWidthMm: 0,
    placenta: {
      edgeMm: anatomy.edgeMm ?? random.range(-20, 34),
      side: posterior === 1 ? 'posterior' : 'anterior',
      thicknessMm: random.range(9, 24),
    },
  };
}

/** Transvaginal sagittal view with the internal os and the lower placental edge. */
export const placentaEdge: PhantomView = {
  id: 'placenta-edge',
  ages: { youngest: 16 * 7, oldest: 36 * 7 },
  simulate: (request) => simulateLowerUterus(request, drawSizes),
};

/**
 * Samples a plan of the cavity. `anatomy`: `wall` (0 anterior, 1 posterior, 2 side), `placentaMm`,
 * `lacunae` (0 to 9), `clearZone` (0 lost, 1 seen).
 */
function drawPlan({ anatomy = {} }: ViewRequest, random: Random): CavityPlan {
  const lacunae = random.chance(0.7) ? random.integer(0, 1) : random.integer(2, 9);
  return {
    across: random.range(55, 95),
    down: random.range(28, 52),
    placenta: PLACENTA_WALLS[anatomy.wall ?? random.integer(0, 2)] ?? 'anterior',
    placentaMm: anatomy.placentaMm ?? random.range(17, 42),
    placentaSpan: random.range(0.9, 1.5),
    lacunae: anatomy.lacunae ?? lacunae,
    clearZone: anatomy.clearZone === undefined ? random.chance(0.85) : anatomy.clearZone === 1,
    limbs: random.integer(0, 4),
    trunk: random.chance(0.4),
    cords: random.integer(0, 1),
  };
}

function simulate(request: ViewRequest): PhantomFrame[] {
  const random = createRandom(request.seed);
  const plan = drawPlan(request, random.fork('plan'));
  const view = drawTransabdominalView(plan.down, random.fork('view'), request.screen);
  const pieces = buildCavity(plan, view, random.fork('anatomy'));
  const simulateFrame = createSceneSimulator({
    plane: 'placenta',
    view,
    random,
    masks: request.masks ?? true,
  });
  return Array.from({ length: request.frames }, (_, index) =>
    simulateFrame({
      pieces,
      values: {
        wall: PLACENTA_WALLS.indexOf(plan.placenta),
        lacunae: plan.lacunae,
        clearZone: plan.clearZone ? 1 : 0,
      },
      points: {},
      speckleSeed: request.seed + 7919 * (index + 1),
    }),
  );
}

/** The placenta on a uterine wall in a transabdominal image. */
export const placenta: PhantomView = {
  id: 'placenta',
  ages: { youngest: 14 * 7, oldest: 40 * 7 },
  simulate,
};
