import type { Random } from '../random.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import { simulateLowerUterus } from './cervix.ts';
import type { CervixSizes } from './cervix-anatomy.ts';

/** `anatomy`: `edgeMm` along the wall (negative: over the os), `posterior` (0, 1), `lengthMm`. */
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
