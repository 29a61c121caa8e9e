import type { Ellipse, Point } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { EvidenceWith } from '../shared/section.ts';

export interface LocatedSymphysisHead {
  symphysis: Ellipse;
  head: Ellipse;
  /** Points on the outline of the skull, in pixels. */
  skull: readonly Point[];
  confidence: number;
  accepted: boolean;
}

/** The complete border of a structure as segmented by the network. */
export interface LocatedBorder {
  /**
   * Contour along which the mask crosses 0.5, in pixels of the image. It is closed, and the first
   * point is not repeated.
   */
  border: readonly Point[];
  confidence: number;
  accepted: boolean;
}

export interface LocatedTransperineal {
  /** Symphysis and head, from which the descent is measured; null if either was not found. */
  pair: LocatedSymphysisHead | null;
  /** Border of each structure; a structure that was not found has no entry. */
  borders: Partial<Record<'symphysis' | 'fetal-head', LocatedBorder>>;
}

/** One transperineal frame; `located` is null if symphysis or head was not found. */
export type TransperinealReading = FramePlane & {
  located: LocatedSymphysisHead | null;
  borders: LocatedTransperineal['borders'];
  /**
   * The picture found on the frame; null if the regions in the header delimit it, or if it could
   * not be distinguished from its surroundings. Evidence stored by earlier versions lacks it.
   */
  picture?: Rectangle | null;
};

/** Quantities measured on a transperineal image. */
export const LABOR_KEYS = [
  'angle-of-progression',
  'head-symphysis-distance',
  'head-direction',
] as const;

export interface LaborProgressReadings {
  /** Quantities that may be used. If absent, all of them may be used. */
  values?: readonly (typeof LABOR_KEYS)[number][];
  /** Half width of the 95 % interval of the angle, in degrees; null if unknown. */
  uncertainty: number | null;
  /** Null if no permitted model locates symphysis and head. */
  frames: readonly TransperinealReading[] | null;
}

export type LaborEvidence = EvidenceWith<'laborProgress', LaborProgressReadings>;
