import type { Ellipse, Point } from '../../contract/image.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Pubic symphysis and fetal head of a transperineal image. */
export interface LocatedSymphysisHead {
  symphysis: Ellipse;
  head: Ellipse;
  /** Points on the outline of the skull, in pixels. */
  skull: readonly Point[];
  confidence: number;
  accepted: boolean;
}

/** The complete border of a structure, as the network drew it. */
export interface LocatedBorder {
  /** Where its mask crosses 0.5, in pixels of the image; closed, the first point not repeated. */
  border: readonly Point[];
  confidence: number;
  accepted: boolean;
}

/** What was found on a transperineal image. */
export interface LocatedTransperineal {
  /**
   * Symphysis and head, from which the descent is measured; null where one of the two was not
   * found.
   */
  pair: LocatedSymphysisHead | null;
  /** The border of each structure; one that was not found has no entry. */
  borders: Partial<Record<'symphysis' | 'fetal-head', LocatedBorder>>;
}

/** One transperineal frame; `located` is null where symphysis or head was not found. */
export type TransperinealReading = FramePlane & {
  located: LocatedSymphysisHead | null;
  borders: LocatedTransperineal['borders'];
};

/** What is measured on a transperineal image. */
export const LABOR_KEYS = [
  'angle-of-progression',
  'head-symphysis-distance',
  'head-direction',
] as const;

export interface LaborProgressReadings {
  /** The quantities that are used; all of them where absent. */
  values?: readonly (typeof LABOR_KEYS)[number][];
  /** Half width of the 95 % interval for the angle, in degrees; null where it is not known. */
  uncertainty: number | null;
  /** Null where no permitted model locates symphysis and head. */
  frames: readonly TransperinealReading[] | null;
}

/** What the labor section works from. */
export interface LaborEvidence extends SectionEvidence {
  views: {
    laborProgress?: LaborProgressReadings | null;
  };
}
