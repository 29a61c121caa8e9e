import type { Shape } from './shapes.ts';

/**
 * How a tissue answers sound. Levels are dB relative to display white, before gain.
 * - `echo`: diffuse backscatter (becomes speckle)
 * - `mirror`: specular echo where the surface is perpendicular to the beam; absent = none
 * - `loss`: two-way attenuation per mm beyond what the time gain compensates; negative = enhancement
 * - `texture`: depth of the slow echogenicity variation, dB
 */
export interface Tissue {
  echo: number;
  mirror?: number;
  loss: number;
  texture: number;
}

/**
 * Relative echogenicity follows the usual grey order (fluid < cartilage < brain < muscle < liver
 * < placenta < fat < choroid < bone); the figures are set by eye against real obstetric screens.
 */
export const TISSUE = {
  amnioticFluid: { echo: -66, loss: -0.05, texture: 3 },
  fetalFluid: { echo: -60, loss: -0.05, texture: 2 },
  brain: { echo: -41, loss: 0, texture: 4 },
  thalamus: { echo: -44, loss: 0, texture: 2 },
  basalGanglia: { echo: -35, loss: 0, texture: 4 },
  choroidPlexus: { echo: -23, loss: 0.02, texture: 4 },
  membrane: { echo: -24, mirror: -7, loss: 0.05, texture: 3 },
  vermis: { echo: -22, loss: 0.02, texture: 3 },
  cerebellum: { echo: -36, loss: 0, texture: 3 },
  scalp: { echo: -34, loss: 0.03, texture: 3 },
  skull: { echo: -19, mirror: 7, loss: 2, texture: 2 },
  liver: { echo: -29, loss: 0.01, texture: 3 },
  bowel: { echo: -26, loss: 0.02, texture: 6 },
  kidney: { echo: -35, loss: 0.01, texture: 3 },
  vesselWall: { echo: -24, mirror: -10, loss: 0.02, texture: 2 },
  subcutis: { echo: -27, loss: 0.03, texture: 4 },
  skin: { echo: -20, mirror: -4, loss: 0.08, texture: 3 },
  rib: { echo: -13, mirror: 3, loss: 4, texture: 2 },
  vertebra: { echo: -9, mirror: 4, loss: 6, texture: 2 },
  diaphysis: { echo: -11, mirror: 8, loss: 9, texture: 2 },
  cartilage: { echo: -43, loss: 0.02, texture: 3 },
  muscle: { echo: -32, loss: 0.03, texture: 5 },
  fascia: { echo: -20, mirror: -6, loss: 0.05, texture: 4 },
  maternalFat: { echo: -28, loss: 0.02, texture: 5 },
  maternalMuscle: { echo: -33, loss: 0.02, texture: 6 },
  uterineWall: { echo: -30, loss: 0.02, texture: 5 },
  placenta: { echo: -25, loss: 0.01, texture: 4 },
  farTissue: { echo: -24, loss: 0.05, texture: 7 },
} as const satisfies Record<string, Tissue>;

/** One piece of anatomy. Layers later in a scene lie on top of earlier ones. */
export interface Layer {
  shape: Shape;
  tissue: Tissue;
  /** dB added to the echo at a place, for what a flat level cannot say (striation, haze). */
  modulation?: (x: number, y: number) => number;
}

export type Scene = readonly Layer[];

/** The topmost layer at (x, y) mm, or undefined where the scene says nothing. */
export function layerAt(scene: Scene, x: number, y: number): Layer | undefined {
  for (let i = scene.length - 1; i >= 0; i--) {
    const layer = scene[i] as Layer;
    const { centre, reach } = layer.shape;
    const dx = x - centre.x;
    const dy = y - centre.y;
    if (dx * dx + dy * dy <= reach * reach && layer.shape.distance(x, y) < 0) return layer;
  }
  return undefined;
}
