import type { Measurement, Result, Section } from '../../result/envelope.ts';
import { sentence } from '../../result/render/report-lines.ts';
import type { FindingDraft, SectionOutcome } from '../../result/section-outcome.ts';
import type { GradedQuantity } from './grading.ts';
import type { EchoSection, PatientEvidence } from './section.ts';
import { named, ranged } from './values.ts';

export interface Conclusion {
  /** Null: could not be calculated, or was not measured. */
  measurements: readonly (Measurement | null)[];
  /** What is concluded; the values stand before it. */
  sentences?: readonly (string | null)[];
  /** What could not be said, and for want of what. */
  gaps?: readonly (string | null)[];
  data?: SectionOutcome['data'];
  /** True: something was seen and is said, though no value was measured. */
  seen?: boolean;
  findings?: readonly (FindingDraft | null)[];
  classifications?: readonly (Result['classifications'][number] | null)[];
  guidance?: SectionOutcome['guidance'];
}

const present = <T>(values: readonly (T | null)[] = []) => values.filter((value) => value !== null);

/** The values of a section in the words of the report. */
function valuesInWords(measurements: readonly Measurement[]): string[] {
  const accepted = measurements.filter(({ quality }) => quality === 'accepted');
  return accepted.length > 0 ? [`${accepted.map(named).join(', ')}.`] : [];
}

const OUTSIDE = { H: 'above its range', L: 'below its range', A: 'abnormal' } as const;

/** A value outside its range, with the word for it. */
function outsideInWords(one: Measurement): string {
  const { interpretation } = one;
  return interpretation && interpretation !== 'N'
    ? `${named(one)} (${OUTSIDE[interpretation]})`
    : named(one);
}

/** Values that stand for a section where nothing else is concluded. */
const HEADLINES = 3;

const PARTLY = 'Assessed in part, see limitations.';

/**
 * What an assessed section comes to, for the impression: the values outside their range, else its
 * first, and what is concluded. The other values stand in the findings, what is missing among the
 * limitations.
 */
export function conclusionOf(
  { summary, reason }: Pick<Section, 'summary' | 'reason'>,
  own: readonly Measurement[],
): string {
  const said =
    reason && summary.endsWith(reason.detail) ? summary.slice(0, -reason.detail.length) : '';
  return said.trim() === ''
    ? headlineOf(summary, own)
    : `${headlineOf(said.trim(), own)} ${PARTLY}`;
}

function headlineOf(summary: string, own: readonly Measurement[]): string {
  const accepted = own.filter(({ quality }) => quality === 'accepted');
  const [values = ''] = valuesInWords(own);
  if (values === '' || !summary.startsWith(values)) return summary;
  const concluded = summary.slice(values.length).trim();
  const outside = accepted.filter(({ interpretation }) => (interpretation ?? 'N') !== 'N');
  const headlines =
    outside.length > 0 ? outside.slice(0, HEADLINES) : accepted.slice(0, concluded ? 1 : HEADLINES);
  const shown = headlines.map(outsideInWords).join(', ');
  return [...(shown ? [`${shown}.`] : []), concluded].filter(Boolean).join(' ');
}

/**
 * The outcome of a section (echo 0.4): without an accepted value it is not assessed, or
 * inadequate where values were withheld; with gaps it is partial.
 */
export function conclude(
  { needs }: Pick<EchoSection, 'needs'>,
  conclusion: Conclusion,
): SectionOutcome {
  const measurements = present(conclusion.measurements);
  const gaps = present(conclusion.gaps).map(sentence);
  const withheld = measurements.filter(({ quality }) => quality !== 'accepted');
  const notes = withheld.map(({ label, note }) => sentence(`${label} was withheld: ${note}`));
  const detail = [...gaps, ...notes].join(' ');
  if (!conclusion.seen && measurements.length === withheld.length) {
    const none = detail || 'No value of this section was supplied.';
    return {
      status: withheld.length > 0 ? 'inadequate' : 'not_assessed',
      reason: {
        code: withheld.length > 0 ? 'implausible' : 'input_missing',
        detail: none,
        needs: [...needs],
      },
      summary: none,
      measurements,
    };
  }
  const said = [...valuesInWords(measurements), ...present(conclusion.sentences).map(sentence)];
  return {
    status: detail ? 'partial' : 'complete',
    reason: detail ? { code: 'input_missing', detail, needs: [...needs] } : null,
    summary: [...said, detail].filter(Boolean).join(' '),
    measurements,
    data: conclusion.data ?? {},
    findings: present(conclusion.findings),
    classifications: present(conclusion.classifications),
    guidance: conclusion.guidance ?? [],
  };
}

/** What was measured for a section and not accepted: kept without its number, and said with why. */
export function withWithheld(
  outcome: SectionOutcome,
  needs: readonly string[],
  withheld: readonly Measurement[],
): SectionOutcome {
  if (withheld.length === 0) return outcome;
  const notes = withheld.map(({ label, note }) => sentence(`${label} was withheld: ${note}`));
  const said = [outcome.reason?.detail, ...notes].filter(Boolean).join(' ');
  const status = { complete: 'partial', not_assessed: 'inadequate' } as const;
  return {
    ...outcome,
    status:
      outcome.status === 'complete' || outcome.status === 'not_assessed'
        ? status[outcome.status]
        : outcome.status,
    reason: { code: 'implausible', needs: [...needs], ...outcome.reason, detail: said },
    summary: [outcome.summary, ...notes].join(' '),
    measurements: [...(outcome.measurements ?? []), ...withheld],
  };
}

/** A section that this version cannot assess whatever the study holds. */
export function notAssessed(needs: readonly string[], detail: string): SectionOutcome {
  const reason = { code: 'no_permitted_model', detail, needs: [...needs] };
  return { status: 'not_assessed', reason, summary: detail };
}

type Severity = FindingDraft['severity'];

export function finding(
  section: string,
  id: string,
  text: string,
  severity: Severity,
  evidence: readonly (Measurement | null)[],
): FindingDraft {
  return {
    id,
    section,
    concept: null,
    text: sentence(text),
    severity,
    confidence: null,
    evidence: present(evidence).map((measurement) => measurement.id),
  };
}

interface Criterion {
  name: string;
  met: boolean | null;
}

/** A category with its scheme; criteria that could not be assessed are named as such, never met. */
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

export const GAPS = {
  surface: 'Indexed values are not reported: height and weight are missing or implausible.',
  sex: 'Sex-specific reference ranges were not applied.',
  age: 'Adult reference ranges do not apply under 18 years; z-scores are not computed.',
} as const;

/** Under this age nothing is graded (echo 0.4). */
const ADULT = 18;

export const isChild = ({ patient }: PatientEvidence) =>
  patient.age !== null && patient.age < ADULT;

/** The sex whose ranges apply; null where it is unknown, and for a child. */
export const rangedSex = (evidence: PatientEvidence) =>
  isChild(evidence) ? null : evidence.patient.sex;

/** A value with its adult range; that of a child has none, not even in words (echo 0.4). */
export function inAdultRange<T extends Measurement | null>(
  evidence: PatientEvidence,
  measurement: T,
  quantity: GradedQuantity,
) {
  return measurement && !isChild(evidence)
    ? ranged(measurement, quantity, evidence.patient.sex)
    : measurement;
}

/** What is missing of the patient for ranges and for indexing. */
export function patientGaps(evidence: PatientEvidence, indexed: boolean): (string | null)[] {
  const { patient } = evidence;
  return [
    isChild(evidence) ? GAPS.age : null,
    patient.sex === null ? GAPS.sex : null,
    indexed && patient.surface === null ? GAPS.surface : null,
  ];
}

/** Two values that do not fit together, as a statement (echo 19, rule 4). */
export interface Contradiction {
  text: string;
  between: readonly Measurement[];
}
