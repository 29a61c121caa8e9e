import type { FramePlane, LocatedEnds } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/**
 * Ends of the structures measured on an axial head plane; null for a structure that was not found.
 */
export interface LocatedBrain {
  /** Transverse diameter of the cerebellum, from outer border to outer border. */
  cerebellum: LocatedEnds | null;
  /** From the posterior border of the vermis to the inner border of the occipital bone. */
  cisternaMagna: LocatedEnds | null;
  /** Between the inner walls of the far lateral ventricle, at the level of the glomus. */
  atrium: LocatedEnds | null;
}

/**
 * Half width of the 95 % interval for one brain structure: in mm from unseen phantoms, and in per
 * cent of the length from readings by eye on held-out real heads. The wider of the two applies.
 */
export interface StructureUncertainty {
  mm: number | null;
  percent: number | null;
}

export type BrainUncertainty = Readonly<Record<keyof LocatedBrain, StructureUncertainty>>;

/**
 * One axial head frame. `located` is null if the outline of the head was too poor to search for
 * structures inside it.
 */
export type BrainReading = FramePlane & { located: LocatedBrain | null };

export interface BrainReadings {
  /**
   * Null if no permitted model locates brain structures, or if no permitted model outlines heads.
   */
  frames: readonly BrainReading[] | null;
}

/** The input of the anomaly screen. */
export interface ScreenEvidence extends SectionEvidence {
  views: {
    fetalBrain?: BrainReadings | null;
  };
  /** Null if no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  uncertainty: { brain?: BrainUncertainty | null };
}
