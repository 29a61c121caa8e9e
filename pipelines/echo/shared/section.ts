import type { EchoConcept, EchoMethod } from '../../concepts/echo.ts';
import { isFromReport, type Measurement } from '../../result/envelope.ts';
import { type ImageInputs, type Presumption, sayOfEcho } from '../../result/render/echo/shared.ts';
import {
  type ClassificationDraft,
  criterion,
  type FindingDraft,
  type SectionOutcome,
} from '../../result/section-outcome.ts';
import type { Category, Statement } from '../../result/statement.ts';
import { type Criterion, type GradedQuantity, inRangeOf, SEXES, type Sex } from './grading.ts';

/** The patient described in the request. Properties missing from the request are null. */
export interface EchoPatient {
  sex: Sex | null;
  /** Years. */
  age: number | null;
  /** Centimetres and kilograms. */
  height: number | null;
  weight: number | null;
  /** Body surface area for indexing, m²; null if it is missing or implausible. */
  surface: number | null;
  /** True if the body size is below that of any adult, which matters if the age is unknown. */
  childSized: boolean;
}

/** Evidence available to every section. A section declares any further evidence that it uses. */
export interface PatientEvidence {
  patient: EchoPatient;
}

export interface Calculation {
  section: string;
  method: EchoMethod;
  from: readonly EchoConcept[];
  /** Calculates the quantity from the values of `from`, in that order. */
  value(...inputs: number[]): number;
  presumes?: Presumption;
  /**
   * Set if the inputs must come from the same beat, and therefore all from the machine or all from
   * the images. The value is the word that a remark uses for these inputs.
   */
  ofOneSource?: ImageInputs;
}

/** Returns the calculation of a quantity per m² of body surface area. */
export const perSurface = (section: string, of: EchoConcept): Calculation => ({
  section,
  method: 'per-surface-area',
  from: [of, 'body-surface-area'],
  value: (quantity = 0, surface = 1) => quantity / surface,
});

/**
 * A move of one value to one end of its 95 % interval, to find out whether a conclusion changes.
 */
export interface Shift {
  id: string;
  concept: string;
  from: number;
  to: number;
}

export interface Values {
  /**
   * These values as measured, not moved to an end of their intervals. Contradictions are checked
   * against them.
   */
  readonly asMeasured: Values;
  /** Returns the values of the concept. Only the first of them is used. */
  all(key: EchoConcept): readonly Measurement[];
  measurement(key: EchoConcept): Measurement | null;
  /** Returns the value with this id; null if no value has it. */
  named(id: string): Measurement | null;
  number(key: EchoConcept): number | null;
  /**
   * Calculates a quantity from others; null if an input is missing. If the quantity itself has a
   * value, that is used instead, with a remark if it disagrees with the inputs.
   */
  calculated(key: EchoConcept, calculation: Calculation): Measurement | null;
  /** Returns these values with newly calculated values placed before them. */
  with(calculations: readonly (Measurement | null)[]): Values;
  only(isWanted: (measurement: Measurement) => boolean): Values;
  without(keys: ReadonlySet<EchoConcept>): Values;
}

/**
 * One section of the result. It declares the evidence that it uses. Its outcome depends only on
 * that evidence and the values.
 */
export interface EchoSection<Evidence = PatientEvidence> {
  id: string;
  title: string;
  /** Views, modes and values that a complete section requires; stated if it is not complete. */
  needs: readonly string[];
  measures: readonly EchoConcept[];
  /**
   * True if the section's rules already consider the 95 % intervals of its values. Otherwise its
   * conclusions are compared at both ends of each interval (within-intervals.ts).
   */
  judgesIntervals?: boolean;
  run(evidence: Evidence, values: Values): SectionOutcome;
}

export type EchoClassification = ClassificationDraft<string | Category>;

interface Conclusion {
  measurements: readonly (Measurement | null)[];
  /** The summary lists the conclusions after the values. */
  conclusions?: readonly (Statement | null)[];
  gaps?: readonly (Statement | null)[];
  data?: SectionOutcome['data'];
  /** True if the section reports an observation even though no value was measured. */
  seen?: boolean;
  findings?: readonly (FindingDraft | null)[];
  classifications?: readonly (EchoClassification | null)[];
}

const present = <T>(values: readonly (T | null)[] = []) => values.filter((value) => value !== null);

const isAccepted = ({ quality }: Measurement) => quality === 'accepted';

/**
 * Returns true if a value comes from the ultrasound machine's report, even if a person has
 * corrected it. A corrected value still belongs with the machine's other values, such as the other
 * volume of the same beat, and not with the values from the images.
 */
export const belongsToMachine = (one: Pick<Measurement, 'source' | 'method'>): boolean =>
  one.source.provenance === 'cart-sr' || (one.source.provenance === 'person' && isFromReport(one));

const withheldGap = (withheld: readonly Measurement[]) =>
  withheld.length > 0 ? [sayOfEcho.gap('echo.withheld', {}, withheld)] : [];

/**
 * Returns the outcome of a section (echo 0.4). A section with gaps is partial. If it has no
 * accepted value, it is inadequate if values were withheld, and otherwise not assessed.
 */
export function conclude(
  { needs }: { needs: readonly string[] },
  conclusion: Conclusion,
): SectionOutcome {
  const measurements = present(conclusion.measurements);
  const accepted = measurements.filter(isAccepted);
  const withheld = measurements.filter((one) => !isAccepted(one));
  const gaps = [...present(conclusion.gaps), ...withheldGap(withheld)];
  if (!conclusion.seen && accepted.length === 0) {
    const none = gaps.length > 0 ? gaps : [sayOfEcho.gap('echo.no-value', {})];
    const code = withheld.length > 0 ? 'implausible' : 'input_missing';
    return {
      status: withheld.length > 0 ? 'inadequate' : 'not_assessed',
      reason: { code, gaps: none, needs: [...needs] },
      statements: none,
      measurements,
    };
  }
  const values = accepted.length > 0 ? [sayOfEcho.value('echo.values', {}, accepted)] : [];
  return {
    status: gaps.length > 0 ? 'partial' : 'complete',
    reason: gaps.length > 0 ? { code: 'input_missing', gaps, needs: [...needs] } : null,
    statements: [...values, ...present(conclusion.conclusions), ...gaps],
    measurements,
    data: conclusion.data ?? {},
    findings: present(conclusion.findings),
    classifications: present(conclusion.classifications),
  };
}

/**
 * Adds the section's measured values that were not accepted to an outcome. A gap states the reason
 * for each, but not its number.
 */
export function withWithheld(
  outcome: SectionOutcome,
  needs: readonly string[],
  withheld: readonly Measurement[],
): SectionOutcome {
  if (withheld.length === 0) return outcome;
  const gap = withheldGap(withheld);
  const { status, reason, statements = [], measurements = [] } = outcome;
  const lowered = { complete: 'partial', not_assessed: 'inadequate' } as const;
  return {
    ...outcome,
    status: status === 'complete' || status === 'not_assessed' ? lowered[status] : status,
    reason: {
      code: reason?.code ?? 'implausible',
      needs: reason?.needs ?? [...needs],
      gaps: [...(reason?.gaps ?? []), ...gap],
    },
    statements: [...statements, ...gap],
    measurements: [...measurements, ...withheld],
  };
}

/**
 * Adds values of an unknown structure that a person confirmed to an outcome. Without them, a value
 * that a reader accepted or typed would disappear from the result. Several displays may show the
 * same structure, such as one annulus, so only one value of a quantity counts; the reader may choose
 * another.
 */
export function withConfirmed(
  outcome: SectionOutcome,
  confirmed: readonly Measurement[],
): SectionOutcome {
  if (confirmed.length === 0) return outcome;
  const { status, statements = [], measurements = [] } = outcome;
  const counting = new Map(confirmed.toReversed().map((one) => [one.concept.key, one]));
  const listed = confirmed.map((one) =>
    counting.get(one.concept.key) === one ? one : { ...one, standing: 'repeat' as const },
  );
  return {
    ...outcome,
    status: status === 'not_assessed' || status === 'inadequate' ? 'partial' : status,
    statements: [sayOfEcho.value('echo.of-unknown-structure', {}, confirmed), ...statements],
    measurements: [...measurements, ...listed],
  };
}

/**
 * Returns a finding. `evidence` contains the values on which it is based: those that the statement is
 * about, unless others are given.
 */
export const finding = (
  id: string,
  statement: Statement,
  severity: FindingDraft['severity'],
  evidence?: readonly (Measurement | null)[],
): FindingDraft => ({
  id,
  concept: null,
  statement,
  severity,
  confidence: null,
  evidence: evidence
    ? present(evidence).map((measurement) => measurement.id)
    : [...statement.about],
});

/** Returns a classification with its scheme. A category without a scale is its own text. */
export function classification(
  id: string,
  name: string,
  value: string | Category,
  scheme: string,
  criteria: readonly Criterion[] = [],
): EchoClassification {
  return {
    id,
    concept: null,
    name,
    value,
    scheme,
    criteria: criteria.map((one) => criterion(one.name, null, one.met)),
  };
}

/** Age in years below which nothing is graded (echo 0.4). */
const ADULT = 18;

/** Returns true if nothing is graded: under 18 years or, if the age is unknown, at a child's size. */
export const isChild = ({ patient: { age, childSized } }: PatientEvidence) =>
  age === null ? childSized : age < ADULT;

/** Returns the sex whose ranges apply. Null for a child, or if the sex is unknown. */
export const rangedSex = (evidence: PatientEvidence) =>
  isChild(evidence) ? null : evidence.patient.sex;

/**
 * Returns the sexes whose ranges must agree on a grade: none for a child, both if the sex is
 * unknown.
 */
export function rangedSexes(evidence: PatientEvidence): readonly Sex[] {
  if (isChild(evidence)) return [];
  return evidence.patient.sex ? [evidence.patient.sex] : SEXES;
}

/** Returns a value with its adult range, or without a range for a child (echo 0.4). */
export function inAdultRange<T extends Measurement | null>(
  evidence: PatientEvidence,
  measurement: T,
  quantity: GradedQuantity,
) {
  return measurement && !isChild(evidence)
    ? inRangeOf(measurement, quantity, rangedSexes(evidence))
    : measurement;
}

/** Gaps for missing patient properties, and for children. */
export const PATIENT_GAPS = {
  child: sayOfEcho.gap('echo.child', {}),
  sex: sayOfEcho.gap('echo.sex-unknown', {}),
  surface: sayOfEcho.gap('echo.surface-unknown', {}),
} as const;

/**
 * Reports which patient properties are missing for normal ranges and, if `indexed`, for indexing.
 */
export function patientGaps(evidence: PatientEvidence, indexed: boolean): (Statement | null)[] {
  const { patient } = evidence;
  const child = isChild(evidence);
  return [
    child ? PATIENT_GAPS.child : null,
    !child && patient.sex === null ? PATIENT_GAPS.sex : null,
    indexed && patient.surface === null ? PATIENT_GAPS.surface : null,
  ];
}
