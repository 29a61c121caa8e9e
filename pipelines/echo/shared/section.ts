import type { EchoConcept, EchoMethod } from '../../concepts/echo.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { type ImageInputs, type Presumption, sayOfEcho } from '../../result/render/echo/shared.ts';
import type { FindingDraft, SectionOutcome } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { type GradedQuantity, inRangeOf, type Sex } from './grading.ts';

/** The patient as the request describes them; null where it does not say. */
export interface EchoPatient {
  sex: Sex | null;
  /** Years. */
  age: number | null;
  /** Centimetres and kilograms. */
  height: number | null;
  weight: number | null;
  /** Body surface area for indexing, m²; null where it is missing or implausible. */
  surface: number | null;
}

/** What every section may ask for; each declares the rest of what it needs beside it. */
export interface PatientEvidence {
  patient: EchoPatient;
}

/** How a quantity follows from others. */
export interface Calculation {
  section: string;
  method: EchoMethod;
  from: readonly EchoConcept[];
  /** The values of `from`, in their order. */
  value(...inputs: number[]): number;
  presumes?: Presumption;
  /**
   * For inputs that belong to one beat: all are taken from the machine, or all from the images. What
   * a remark calls them.
   */
  ofOneSource?: ImageInputs;
}

/** What was measured so far, by concept: accepted values only. */
export interface Values {
  /** Every value of the concept; the one that counts comes first. */
  all(key: EchoConcept): readonly Measurement[];
  measurement(key: EchoConcept): Measurement | null;
  number(key: EchoConcept): number | null;
  /**
   * A quantity that follows from others; null where one of them is missing. Where the machine reports
   * the quantity itself, its value counts, and a disagreement with its inputs is remarked.
   */
  calculated(key: EchoConcept, calculation: Calculation): Measurement | null;
  /** The values with what was just calculated before them. */
  with(calculations: readonly (Measurement | null)[]): Values;
  /** Only the values that are wanted: of one source, say. */
  only(isWanted: (measurement: Measurement) => boolean): Values;
  /** The values as if those of some concepts had not been given. */
  without(keys: ReadonlySet<EchoConcept>): Values;
}

/** One section of the result: what it needs, and a pure function from the evidence to an outcome. */
export interface EchoSection<Evidence = PatientEvidence> {
  id: string;
  title: string;
  /** Views, modes and values without which the section is not assessed. */
  needs: readonly string[];
  /** Quantities that are shown in this section once they were measured. */
  measures: readonly EchoConcept[];
  /** `values` holds what was measured and what the sections before this one calculated. */
  run(evidence: Evidence, values: Values): SectionOutcome;
}

/** What a section concludes from its values. */
export interface Conclusion {
  /** Null: could not be calculated, or was not measured. */
  measurements: readonly (Measurement | null)[];
  /** What is concluded; the summary lists the values before it. */
  conclusions?: readonly (Statement | null)[];
  /** What could not be assessed, and what is missing for it. */
  gaps?: readonly (Statement | null)[];
  data?: SectionOutcome['data'];
  /** True: something was seen and is reported, though no value was measured. */
  seen?: boolean;
  findings?: readonly (FindingDraft | null)[];
  classifications?: readonly (Result['classifications'][number] | null)[];
}

const present = <T>(values: readonly (T | null)[] = []) => values.filter((value) => value !== null);

const isAccepted = ({ quality }: Measurement) => quality === 'accepted';

/** Whether a value was taken from the report of the ultrasound machine. */
export const isOfMachine = ({ source }: Pick<Measurement, 'source'>): boolean =>
  source.provenance === 'cart-sr';

/** A gap that names the withheld values with their reasons. */
const withheldGap = (withheld: readonly Measurement[]) =>
  withheld.length > 0 ? [sayOfEcho.gap('echo.withheld', {}, withheld)] : [];

/**
 * The outcome of a section (echo 0.4): without an accepted value it is not assessed, or
 * inadequate where values were withheld; with gaps it is partial.
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

/** What was measured for a section and not accepted: kept without its number, with the reason. */
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

/** A finding of a section; `evidence` are the values that it rests on. */
export function finding(
  section: string,
  id: string,
  statement: Statement,
  severity: FindingDraft['severity'],
  evidence: readonly (Measurement | null)[],
): FindingDraft {
  return {
    id,
    section,
    concept: null,
    statement,
    severity,
    confidence: null,
    evidence: present(evidence).map((measurement) => measurement.id),
  };
}

interface Criterion {
  name: string;
  met: boolean | null;
}

/** A category with its scheme; criteria that could not be assessed are listed as not available. */
export function classification(
  section: string,
  id: string,
  name: string,
  value: string,
  scheme: string,
  criteria: readonly Criterion[] = [],
): Result['classifications'][number] {
  return {
    id,
    section,
    concept: null,
    name,
    value,
    scheme,
    criteria: criteria.map((criterion) => ({
      name: criterion.name,
      value: criterion.met === null ? 'not available' : criterion.met ? 'met' : 'not met',
      met: criterion.met === true,
    })),
  };
}

/** Under this age nothing is graded (echo 0.4). */
const ADULT = 18;

export const isChild = ({ patient }: PatientEvidence) =>
  patient.age !== null && patient.age < ADULT;

/** The sex whose ranges apply; null where it is unknown, and for a child. */
export const rangedSex = (evidence: PatientEvidence) =>
  isChild(evidence) ? null : evidence.patient.sex;

/** A value with its adult range; that of a child gets none (echo 0.4). */
export function inAdultRange<T extends Measurement | null>(
  evidence: PatientEvidence,
  measurement: T,
  quantity: GradedQuantity,
) {
  return measurement && !isChild(evidence)
    ? inRangeOf(measurement, quantity, evidence.patient.sex)
    : measurement;
}

/** What is missing about the patient. */
export const PATIENT_GAPS = {
  child: sayOfEcho.gap('echo.child', {}),
  sex: sayOfEcho.gap('echo.sex-unknown', {}),
  surface: sayOfEcho.gap('echo.surface-unknown', {}),
} as const;

/** What is missing about the patient for ranges and for indexing. */
export function patientGaps(evidence: PatientEvidence, indexed: boolean): (Statement | null)[] {
  const { patient } = evidence;
  return [
    isChild(evidence) ? PATIENT_GAPS.child : null,
    patient.sex === null ? PATIENT_GAPS.sex : null,
    indexed && patient.surface === null ? PATIENT_GAPS.surface : null,
  ];
}
