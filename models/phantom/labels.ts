import type { Ellipse, Point } from './geometry.ts';

/** Plane names used by the product; see the plane classes of the obstetric endpoint. */
export const PLANES = [
  'transthalamic',
  'transventricular',
  'transcerebellar',
  'abdominal',
  'femur',
] as const;

export type Plane = (typeof PLANES)[number];

/**
 * An outline measured with an ellipse: the outer border of the skull for a head, the skin for an
 * abdomen.
 */
export interface OutlineTruth {
  /** Ellipse in pixels; pixel centres have integer coordinates. */
  ellipse: Ellipse;
  circumferenceMm: number;
  /** Full axes: OFD and BPD of a head, or the longer and shorter diameter of an abdomen. */
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
  /** A biometry plane, or the id of a view in `views.ts`. */
  plane: Plane | (string & {});
  mmPerPixel: number;
  /** Dimensions by name, in millimetres unless the name ends in another unit (`angleDegrees`). */
  values?: Readonly<Record<string, number>>;
  /** Points by name, in pixels. */
  points?: Readonly<Record<string, readonly Point[]>>;
  /** Masks of structures by name, one byte per pixel, 1 inside. */
  masks?: Readonly<Record<string, Uint8Array>>;
  head?: HeadTruth;
  abdomen?: AbdomenTruth;
  femur?: FemurTruth;
}
