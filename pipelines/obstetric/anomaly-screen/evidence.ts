import type { FramePlane, LocatedEnds } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Ends of the structures measured on an axial head plane; null where the ends were not found. */
export interface LocatedBrain {
  /** Across both hemispheres of the cerebellum, outer to outer. */
  cerebellum: LocatedEnds | null;
  /** From the posterior vermis to the inner side of the occipital bone. */
  cisternaMagna: LocatedEnds | null;
  /** Between the inner walls of the far lateral ventricle, at the glomus. */
  atrium: LocatedEnds | null;
}

/**
 * Half width of the 95 % interval for one brain structure: in millimetres on unseen phantoms, and
 * in per cent of the length read by eye on held-out real heads. The wider of the two applies.
 */
export interface StructureUncertainty {
  mm: number | null;
  percent: number | null;
}

export type BrainUncertainty = Readonly<Record<keyof LocatedBrain, StructureUncertainty>>;

/** One axial head frame; `located` is null where the head's outline was too poor to look inside. */
export type BrainReading = FramePlane & { located: LocatedBrain | null };

export interface BrainReadings {
  /** Null where no permitted model locates brain structures, or where none outlines heads. */
  frames: readonly BrainReading[] | null;
}

/** What the anomaly screen works from. */
export interface ScreenEvidence extends SectionEvidence {
  views: {
    fetalBrain?: BrainReadings | null;
  };
  /** Null where no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  uncertainty: { brain?: BrainUncertainty | null };
}
