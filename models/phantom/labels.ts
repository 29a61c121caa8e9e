import type { Ellipse, Point } from './geometry.ts';

/** Plane names of the product; see the plane classes of the obstetric endpoint. */
export const PLANES = [
  'transthalamic',
  'transventricular',
  'transcerebellar',
  'abdominal',
  'femur',
] as const;

export type Plane = (typeof PLANES)[number];

/**
 * An outline measured by an ellipse: of the head on the outer border of the skull, of the abdomen
 * on the skin.
 */
export interface OutlineTruth {
  /** Pixels, pixel centres at whole numbers. */
  ellipse: Ellipse;
  circumferenceMm: number;
  /** Full axes: OFD and BPD of a head; the longer and shorter diameter of an abdomen. */
  longAxisMm: number;
  shortAxisMm: number;
}

export interface HeadTruth extends OutlineTruth {
  hcMm: number;
  bpdMm: number;
  ofdMm: number;
  bpdEnds: [Point, Point];
  ofdEnds: [Point, Point];
}

export interface AbdomenTruth extends OutlineTruth {
  acMm: number;
  tadMm: number;
  apadMm: number;
  tadEnds: [Point, Point];
  apadEnds: [Point, Point];
}

/** Length of the ossified diaphysis in mm, from outer end to outer end; `ends` are in pixels. */
interface FemurTruth {
  ends: [Point, Point];
  flMm: number;
}

export interface FrameTruth {
  /** A plane of biometry, or the id of a view of `views.ts`. */
  plane: Plane | (string & {});
  mmPerPixel: number;
  /** Sizes by name, in millimetres unless the name ends in another unit (`angleDegrees`). */
  values?: Readonly<Record<string, number>>;
  /** Points by name, pixels. */
  points?: Readonly<Record<string, readonly Point[]>>;
  /** Filled structures by name, one byte per pixel, 1 inside. */
  masks?: Readonly<Record<string, Uint8Array>>;
  head?: HeadTruth;
  abdomen?: AbdomenTruth;
  femur?: FemurTruth;
}
