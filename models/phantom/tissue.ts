import type { Point } from './geometry.ts';
import type { Shape } from './shapes.ts';

/**
 * Acoustic properties of a tissue. Levels are dB relative to display white, before gain.
 * - `echo`: diffuse backscatter (becomes speckle)
 * - `mirror`: specular echo of a surface perpendicular to the beam; no specular echo if absent
 * - `loss`: two-way attenuation per mm beyond what the time gain compensates; a negative value is
 *   enhancement
 * - `texture`: amplitude of the slow echogenicity variation, dB
 * - `rough`: loss of the specular echo where the surface is uneven, dB
 */
export interface Tissue {
  echo: number;
  mirror?: number;
  loss: number;
  texture: number;
  rough?: number;
}

/**
 * Tissues. Their relative echogenicity follows the usual grey order (fluid < cartilage < brain <
 * muscle < liver < placenta < fat < choroid < bone); the values were set by eye to match real
 * obstetric screens.
 */
export const TISSUE = {
  amnioticFluid: { echo: -66, loss: -0.05, texture: 3 },
  fetalFluid: { echo: -60, loss: -0.05, texture: 2 },
  brain: { echo: -40, loss: 0, texture: 6 },
  thalamus: { echo: -44, loss: 0, texture: 2 },
  basalGanglia: { echo: -34, loss: 0, texture: 6 },
  choroidPlexus: { echo: -23, loss: 0.02, texture: 4 },
  membrane: { echo: -27, mirror: -9, loss: 0.05, texture: 4, rough: 14 },
  vermis: { echo: -22, loss: 0.02, texture: 3 },
  cerebellum: { echo: -36, loss: 0, texture: 3 },
  scalp: { echo: -38, loss: 0.03, texture: 3 },
  skull: { echo: -19, mirror: 6, loss: 1.7, texture: 3, rough: 10 },
  liver: { echo: -29, loss: 0.01, texture: 5 },
  bowel: { echo: -26, loss: 0.02, texture: 6 },
  kidney: { echo: -35, loss: 0.01, texture: 3 },
  vesselWall: { echo: -26, mirror: -13, loss: 0.02, texture: 4, rough: 14 },
  subcutis: { echo: -28, loss: 0.03, texture: 6 },
  skin: { echo: -27, mirror: -6, loss: 0.06, texture: 4, rough: 16 },
  rib: { echo: -17, mirror: 0, loss: 3, texture: 4, rough: 14 },
  vertebra: { echo: -11, mirror: 2, loss: 3.5, texture: 4, rough: 8 },
  diaphysis: { echo: -12, mirror: 6, loss: 5, texture: 4, rough: 10 },
  cartilage: { echo: -43, loss: 0.02, texture: 3 },
  muscle: { echo: -32, loss: 0.03, texture: 7 },
  fascia: { echo: -24, mirror: -10, loss: 0.05, texture: 6, rough: 20 },
  maternalFat: { echo: -27, loss: 0.02, texture: 6 },
  maternalMuscle: { echo: -31, loss: 0.02, texture: 7 },
  uterineWall: { echo: -29, loss: 0.02, texture: 7 },
  placenta: { echo: -26, loss: 0.01, texture: 6 },
  farTissue: { echo: -23, loss: 0.05, texture: 9 },
} as const satisfies Record<string, Tissue>;

/** One piece of anatomy. Later layers in a scene cover earlier ones. */
export interface Layer {
  shape: Shape;
  tissue: Tissue;
  /**
   * Returns a level in dB to add to the echoes at a place, for effects that a constant level cannot
   * describe (striation, haze).
   */
  modulation?: (x: number, y: number) => number;
  /**
   * True if the layer must not bend, because the truth is measured on it. All other layers bend a
   * little.
   */
  rigid?: true;
}

/**
 * Returns a modulation rising from -`dip` dB at the border to 0 at `depthMm` inside. Without it, a
 * bright layer would extend half a beam's width beyond its border, and a perfect reader would
 * measure a circumference 3 mm too long.
 */
export function risingFrom(border: Shape, { depthMm, dip }: { depthMm: number; dip: number }) {
  return (x: number, y: number) => -dip * Math.max(0, 1 + border.distance(x, y) / depthMm);
}

export type Scene = readonly Layer[];

/** Returns the layers, in the same order, that can be hit within `extentMm` of a place. */
export function layersNear<L extends Layer>(
  scene: readonly L[],
  { x, y }: Point,
  extentMm: number,
): readonly L[] {
  return scene.filter(
    ({ shape: { centre, reach } }) => Math.hypot(centre.x - x, centre.y - y) < reach + extentMm,
  );
}

/**
 * Returns the topmost layer at (x, y) mm. Layers that are not rigid are evaluated at the bent
 * position.
 */
export function layerAt(
  scene: Scene,
  x: number,
  y: number,
  bentX: number,
  bentY: number,
): Layer | undefined {
  for (let i = scene.length - 1; i >= 0; i--) {
    const layer = scene[i] as Layer;
    const { centre, reach, distance } = layer.shape;
    const atX = layer.rigid ? x : bentX;
    const atY = layer.rigid ? y : bentY;
    const dx = atX - centre.x;
    const dy = atY - centre.y;
    if (dx * dx + dy * dy <= reach * reach && distance(atX, atY) < 0) return layer;
  }
  return undefined;
}
