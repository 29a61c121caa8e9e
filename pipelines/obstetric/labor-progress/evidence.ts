import type { Ellipse, Point } from '../../contract/image.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Pubic symphysis and fetal head of a transperineal image. */
export interface LocatedSymphysisHead {
  symphysis: Ellipse;
  head: Ellipse;
  /** Points of the skull's outline, in pixels. */
  skull: readonly Point[];
  confidence: number;
  accepted: boolean;
}

/** The border of a structure, whole, as the network drew it. */
export interface LocatedBorder {
  /** Where its mask crosses 0.5, in pixels of the image; closed, the first point not repeated. */
  border: readonly Point[];
  confidence: number;
  accepted: boolean;
}

/** What was found on a transperineal image. */
export interface LocatedTransperineal {
  /** Both structures, of which the descent is measured; null where one was not found. */
  pair: LocatedSymphysisHead | null;
  /** Each by itself; one that was not found has no entry. */
  borders: Partial<Record<'symphysis' | 'fetal-head', LocatedBorder>>;
}

/** One transperineal frame; `located` null: symphysis or head was not found there. */
export type TransperinealReading = FramePlane & {
  located: LocatedSymphysisHead | null;
  borders: LocatedTransperineal['borders'];
};

export interface LaborProgressReadings {
  /** Half width of the 95 % interval of the angle in degrees; null: not known. */
  uncertainty: number | null;
  /** Null where no permitted model locates symphysis and head. */
  frames: readonly TransperinealReading[] | null;
}

/** What the section looks at. */
export interface LaborEvidence extends SectionEvidence {
  views: {
    laborProgress?: LaborProgressReadings | null;
  };
}
