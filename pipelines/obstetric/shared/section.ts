import {
  type FindingConceptKey,
  findingConcept,
  type ObstetricConcept,
} from '../../concepts/obstetric.ts';
import type { CartMeasurement, Study } from '../../contract/study.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { Dating, SeveralFetusesSource } from '../../result/render/obstetric/shared.ts';
import type {
  ClassificationDraft,
  FindingDraft,
  SectionOutcome as Outcome,
} from '../../result/section-outcome.ts';
import type { Remark, Statement } from '../../result/statement.ts';

/** The value in the machine's reports for one quantity, fetus and side. */
export interface MachineQuantity {
  measurement: Measurement;
  /**
   * Range of the repeated values; null if there is only one value, or if the machine chose one of
   * them.
   */
  spread: { low: number; high: number } | null;
  /** Values that are not used, each with a remark giving the reason. */
  unused: Measurement[];
}

/** The values in the ultrasound machine's own structured reports. */
interface MachineReport {
  /**
   * Returns the measurements of these quantities as values of `section`, in the order of `keys`.
   * @param where returns true if a value may be used.
   */
  values(
    section: string,
    keys: readonly ObstetricConcept[],
    where?: (value: CartMeasurement) => boolean,
  ): Measurement[];
  /** Like `values`, but returns each measurement with its spread and the values not used. */
  quantities(section: string, keys: readonly ObstetricConcept[]): MachineQuantity[];
}

/**
 * The input common to all sections. Each section adds the readings that it needs (`evidence.ts`).
 */
export interface SectionEvidence {
  study: Pick<Study, 'clips' | 'cart'>;
  options: { dating?: Dating | undefined };
  machine: MachineReport;
  /** The evidence that indicates several fetuses; null if nothing indicates several. */
  severalFetuses: SeveralFetusesSource | null;
}

/** Evidence of a section that uses one reader; what the reader found is null if it failed. */
export type EvidenceWith<Reader extends string, Found> = SectionEvidence & {
  views: { [Name in Reader]?: Found | null };
};

/** A change that a section makes to a measurement of a section that ran before it. */
export interface Amendment {
  measurement: string;
  reference: Measurement['reference'];
  interpretation: Measurement['interpretation'];
  remarks: readonly Remark[];
}

/** Something that was not assessed, and what its assessment would need. */
export interface Gap {
  code: string;
  said: Statement;
  need: string;
}

/**
 * Returns a finding. Its evidence is what the statements are about, unless `given` states otherwise.
 */
export function finding(
  id: string,
  concept: FindingConceptKey,
  said: Statement | readonly Statement[],
  severity: FindingDraft['severity'],
  given: Partial<Pick<FindingDraft, 'confidence' | 'evidence'>> = {},
): FindingDraft {
  const one = 'code' in said;
  return {
    id,
    concept: findingConcept(concept),
    ...(one ? { statement: said } : { statements: said }),
    severity,
    confidence: null,
    evidence: (one ? [said] : said).flatMap(({ about }) => about),
    ...given,
  };
}

/** Returns the code of the first gap, with what all gaps state and need; null without a gap. */
export function reasonOf(gaps: readonly Gap[]): SectionOutcome['reason'] {
  const [first] = gaps;
  if (!first) return null;
  const needs = gaps.map(({ need }) => need);
  return { code: first.code, gaps: gaps.map(({ said }) => said), needs };
}

export interface SectionOutcome extends Outcome {
  amendments?: Amendment[];
}

/**
 * One section of the result. It declares what it needs; its `run` is a pure function of the
 * evidence.
 */
export interface ObstetricSection<Evidence extends SectionEvidence> {
  id: string;
  title: string;
  /** Views, modes and calibration that are needed to assess the section. */
  needs: readonly string[];
  /** Readers that the section needs. If one of them failed, the section is `failed`. */
  reads?: readonly string[];
  /**
   * Set if the section runs after all others because it uses their conclusions. The result still
   * lists it in its usual place.
   */
  concludes?: true;
  /**
   * Runs the section. `before` contains the measurements of the sections that ran before, and
   * `classified` their classifications.
   */
  run(
    evidence: Evidence,
    before: readonly Measurement[],
    classified?: readonly ClassificationDraft<unknown>[],
  ): SectionOutcome;
}
