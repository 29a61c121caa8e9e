import type { ObstetricConcept } from '../../concepts/obstetric.ts';
import type { CartMeasurement, Study } from '../../contract/study.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { Dating, SeveralFetusesSource } from '../../result/render/obstetric/shared.ts';
import type {
  ClassificationDraft,
  SectionOutcome as Outcome,
} from '../../result/section-outcome.ts';
import type { Remark } from '../../result/statement.ts';

/** The values that the machine's reports give for one quantity, fetus and side. */
export interface MachineQuantity {
  measurement: Measurement;
  /**
   * The range of the repeated values, if the machine chose none of them; null if there is only one
   * value.
   */
  spread: { low: number; high: number } | null;
  /** Values that do not count, each with a remark that states why. */
  unused: Measurement[];
}

/** The values of the ultrasound machine's own structured reports. */
export interface MachineReport {
  /**
   * Returns the measurements of these quantities, in the order of `keys`, as values of `section`.
   * @param where Only values for which it returns true are used.
   */
  values(
    section: string,
    keys: readonly ObstetricConcept[],
    where?: (value: CartMeasurement) => boolean,
  ): Measurement[];
  /** Returns the same measurements, each with the spread of its repeated values. */
  quantities(section: string, keys: readonly ObstetricConcept[]): MachineQuantity[];
}

/**
 * The input that every section has. Each section adds the readings that it needs (`evidence.ts`).
 */
export interface SectionEvidence {
  study: Pick<Study, 'clips' | 'cart'>;
  options: { dating?: Dating | undefined };
  machine: MachineReport;
  /** The source that shows that there are several fetuses; null if no source does. */
  severalFetuses: SeveralFetusesSource | null;
}

/** A change that a later section makes to a measurement of an earlier one. */
export interface Amendment {
  measurement: string;
  reference: Measurement['reference'];
  interpretation: Measurement['interpretation'];
  remarks: readonly Remark[];
}

export interface SectionOutcome extends Outcome {
  amendments?: Amendment[];
}

/** One section of the result: what it needs, and a pure function of the evidence. */
export interface ObstetricSection<Evidence extends SectionEvidence> {
  id: string;
  title: string;
  /** Views, modes and calibration that are needed to assess the section. */
  needs: readonly string[];
  /**
   * Readers without which the section cannot run. If one of them failed, the section is `failed`.
   */
  reads?: readonly string[];
  /**
   * Set for a section that runs after all others, because it uses their conclusions. The result
   * still lists it in its usual place.
   */
  concludes?: true;
  /** `before` has the measurements and classifications of the sections that ran before. */
  run(
    evidence: Evidence,
    before: readonly Measurement[],
    classified?: readonly ClassificationDraft[],
  ): SectionOutcome;
}
