import type { FramePlane, LocatedEnds } from '../shared/plane.ts';
import type { EvidenceWith } from '../shared/section.ts';

/** Ends of the structures measured on an axial head plane; null if a structure was not found. */
export interface LocatedBrain {
  /** Transverse diameter of the cerebellum, outer border to outer border. */
  cerebellum: LocatedEnds | null;
  /** From the posterior border of the vermis to the inner border of the occipital bone. */
  cisternaMagna: LocatedEnds | null;
  /** Between the inner walls of the far lateral ventricle, at the level of the glomus. */
  atrium: LocatedEnds | null;
}

/**
 * Half width of the 95 % interval for one brain structure: in mm from unseen phantoms, and as a
 * percentage of the length from readings by eye on held-out real heads. The wider of the two
 * applies.
 */
export interface StructureUncertainty {
  mm: number | null;
  percent: number | null;
}

export type BrainUncertainty = Readonly<Record<keyof LocatedBrain, StructureUncertainty>>;

/**
 * One axial head frame. `located` is null if the head outline was too poor to search for structures
 * inside it.
 */
export type BrainReading = FramePlane & { located: LocatedBrain | null };

export interface BrainReadings {
  /**
   * Null if there is no permitted model that locates brain structures, or none that outlines heads.
   */
  frames: readonly BrainReading[] | null;
}

export interface ScreenEvidence extends EvidenceWith<'fetalBrain', BrainReadings> {
  /** Null if no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  uncertainty: { brain?: BrainUncertainty | null };
}
