import type { FramePlane, LocatedEnds } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Ends of what is measured on an axial head plane; null where they were not found. */
export interface LocatedBrain {
  /** Both hemispheres of the cerebellum, outer to outer. */
  cerebellum: LocatedEnds | null;
  /** Posterior vermis, inner occipital bone. */
  cisternaMagna: LocatedEnds | null;
  /** Inner walls of the far lateral ventricle at the glomus. */
  atrium: LocatedEnds | null;
}

/**
 * The same for a structure of the brain: millimetres on unseen phantoms, and per cent of what was read
 * by eye on held-out real heads. The wider of the two holds.
 */
export interface StructureUncertainty {
  mm: number | null;
  percent: number | null;
}

export type BrainUncertainty = Readonly<Record<keyof LocatedBrain, StructureUncertainty>>;

/** One axial head frame; `located` null: the outline of the head was not good enough to look into it. */
export type BrainReading = FramePlane & { located: LocatedBrain | null };

export interface BrainReadings {
  /** Null where no permitted model locates brain structures, or none outlines heads. */
  frames: readonly BrainReading[] | null;
}

/** What the section looks at. */
export interface ScreenEvidence extends SectionEvidence {
  views: {
    fetalBrain?: BrainReadings | null;
  };
  /** Null where no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  uncertainty: { brain?: BrainUncertainty | null };
}
