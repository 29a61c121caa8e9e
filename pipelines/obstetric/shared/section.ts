import type { Study } from '../../contract/study.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import type { SectionOutcome as Outcome } from '../../result/section-outcome.ts';
import type { EarlierScan } from '../growth/read.ts';
import type { Readings } from '../readers.ts';
import type { ObstetricOptions } from './input.ts';
import type { FramePlane } from './key-frames.ts';
import type { LocatedEnds, LocatedOutline, LocatorUncertainty } from './locator.ts';

/** What was found on one frame; `located` null: nothing was found there. */
export type FrameReading = FramePlane &
  (
    | { structure: 'head'; located: LocatedOutline | null }
    | { structure: 'abdomen'; located: LocatedOutline | null }
    | { structure: 'femur'; located: LocatedEnds | null }
  );

export type Structure = FrameReading['structure'];

/** All that the sections may look at: gathered once, before any of them runs. */
export interface ObstetricEvidence {
  study: Study;
  options: ObstetricOptions;
  /** Null where no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  readings: readonly FrameReading[];
  /** Structures that no permitted model locates. */
  withoutModel: readonly Structure[];
  uncertainty: LocatorUncertainty;
  /** What each reader of `readers.ts` found; null where it failed, absent where it was not run. */
  views: Partial<Readings>;
  /** Names of earlier studies that came with the request. */
  priors: readonly string[];
  /** What was read of them, newest first; absent: none came. */
  earlier?: readonly EarlierScan[];
}

/** What a later section adds to a measurement of an earlier one. */
export interface Amendment {
  measurement: string;
  reference: Measurement['reference'];
  interpretation: Measurement['interpretation'];
  note: string | null;
}

export interface SectionOutcome extends Outcome {
  amendments?: Amendment[];
}

/** One section of the result: what it needs, and a pure function of the evidence. */
export interface ObstetricSection {
  id: string;
  title: string;
  /** Views, modes and calibration without which it is not assessed. */
  needs: readonly string[];
  /** Readers without which it cannot run: where one of them failed, the section is `failed`. */
  reads?: readonly (keyof Readings)[];
  /** Runs after all others, on whose conclusions it draws; it is listed at its place all the same. */
  concludes?: true;
  /** `before` are the measurements and classifications of the sections that ran before. */
  run(
    evidence: ObstetricEvidence,
    before: readonly Measurement[],
    classified?: Result['classifications'],
  ): SectionOutcome;
}
