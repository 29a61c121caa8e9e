import { methodEntry } from '../../concepts/concepts.ts';
import { isAmendment, type Measurement, type Result, type Section } from '../envelope.ts';
import { isRejected } from '../measured.ts';
import { countingValues } from '../standing.ts';
import type { Statement } from '../statement.ts';
import { withSubject } from './obstetric/shared.ts';
import { byId, remarkText, remarkTexts, renderStatements } from './render.ts';
import { gapLine } from './report-lines.ts';
import { RESEARCH_NOTICE } from './shared.ts';
import { allOf, listOfLabels, sentence } from './unit-text.ts';

/** Notice on every page and document of a result that is not signed. */
export const DRAFT_NOTICE = 'AI draft, not verified';

/** Notice on images of a signed result, which have no room for its signatures. */
export const SIGNED_NOTICE = 'Signed';

/** Returns text listing the persons who signed a result; null for a draft. */
export function signedBy({ verification }: Pick<Result, 'verification'>): string | null {
  if (!verification) return null;
  const names = verification.signatures.map(
    ({ observer, organization }) => `${observer} (${organization})`,
  );
  const last = verification.signatures.at(-1)?.at ?? '';
  const signed = isAmendment(verification) ? 'Amended and signed' : 'Signed';
  return `${signed} by ${allOf(names)} on ${last.slice(0, 10)} at ${last.slice(11, 16)} UTC`;
}

/** Returns the notice for a document: that it is an unverified draft, or who signed it. */
export const noticeOf = (result: Pick<Result, 'verification'>): string =>
  signedBy(result) ?? DRAFT_NOTICE;

const STATUS_TEXT = {
  complete: 'Complete',
  partial: 'Partial',
  not_assessed: 'Not assessed',
  inadequate: 'Inadequate',
  not_requested: 'Not requested',
  failed: 'Failed',
} as const satisfies Record<Section['status'], string>;

/**
 * Returns true if the section already reports what is missing, so its reason need not be repeated.
 */
const statesGaps = ({ statements = [], summary, reason }: Section): boolean =>
  statements.some(({ kind }) => kind === 'gap') || summary === reason?.detail;

/** Returns the reason of a section as text, without what its statements already say. */
export function remainingReason(
  section: Section,
  { measurements }: Pick<Result, 'measurements'>,
): string {
  const { statements = [], reason } = section;
  if (!reason || statesGaps(section)) return '';
  const isStated = ({ code, fetus }: Statement) =>
    statements.some((one) => one.code === code && one.fetus === fetus);
  const { gaps = [], detail } = reason;
  if (!gaps.some(isStated)) return detail;
  return renderStatements(
    gaps.filter((gap) => !isStated(gap)),
    byId(measurements),
  );
}

/** Returns what a section found and what it lacks; empty if it states neither. */
export function outcomeText(section: Section, result: Pick<Result, 'measurements'>): string {
  const parts = [section.summary, remainingReason(section, result)];
  return parts.filter(Boolean).map(sentence).join(' ');
}

/**
 * Returns the outcome of a section as text, with its status. The text is never empty, so that a
 * missing text cannot be mistaken for a normal finding (obstetric 14).
 */
export function sectionStatement(section: Section, result: Pick<Result, 'measurements'>): string {
  return `${sentence(STATUS_TEXT[section.status])} ${outcomeText(section, result)}`.trimEnd();
}

/** Returns all sections except the report, which repeats the others in prose. */
export function ownSections({ sections }: Result): Section[] {
  return sections.filter(({ id }) => id !== 'report');
}

export function accepted(result: Result): Measurement[] {
  return result.measurements.filter(({ quality }) => quality === 'accepted');
}

/**
 * Returns the sentence that a document shows no accepted numbers; empty if the result has an accepted
 * value. If no value waits for a review either, the reasons of the planes and biometry sections
 * follow. Otherwise they are not why nothing was accepted: a scan of the nuchal translucency needs no
 * plane of biometry.
 */
export function noMeasurementStatements(result: Result): string[] {
  if (accepted(result).length > 0) return [];
  const counting = countingValues(result.measurements);
  const proposed = counting.filter(({ quality }) => quality === 'review').length;
  if (proposed > 0) {
    return [
      `No measurement was accepted; ${proposed} ${proposed === 1 ? 'needs' : 'need'} review.`,
    ];
  }
  const reasons = result.sections
    .filter(({ id }) => id === 'planes' || id === 'biometry')
    .flatMap((section) => gapLine(section) ?? []);
  return [
    counting.length === 0 ? 'No measurement was made.' : 'No measurement was accepted.',
    ...reasons,
  ];
}

/** Returns the text of `noMeasurementStatements`; null if the result has an accepted value. */
export const noMeasurementStatement = (result: Result): string | null =>
  noMeasurementStatements(result).join(' ') || null;

const DOUBT = {
  review: 'needs review by a person',
  low: 'confidence too low',
  // Not only images: a value of the machine may be implausible, or contradict another one.
  inadequate: 'not reliable',
} as const satisfies Record<Exclude<Measurement['quality'], 'accepted'>, string>;

/** Returns the reason why a value was not accepted; null if it was accepted. */
export function doubtOf(measurement: Measurement): string | null {
  const { quality } = measurement;
  if (quality === 'accepted') return null;
  return isRejected(measurement) ? remarkText(measurement) : DOUBT[quality];
}

/**
 * Returns why a value was withheld: the kind of doubt, and the reason that the report gives. Both are
 * the same if a person rejected the value.
 */
export function withheldText(measurement: Measurement): string {
  const { note } = measurement;
  const doubt = doubtOf(measurement);
  return note === null || isRejected(measurement)
    ? `Withheld: ${doubt}`
    : `Withheld (${doubt}): ${note}`;
}

/** Returns the sentence about a value that was not accepted, without its number. */
export function notAcceptedStatement(measurement: Measurement): string {
  const name = withSubject(measurement.label, measurement);
  if (measurement.quality === 'review') {
    return `Proposal: ${name} was measured and needs review by a person before use.`;
  }
  return `${name} was measured but not accepted: ${doubtOf(measurement)}.`;
}

/**
 * Returns true if the number of a value is shown. A value that needs review is shown as a proposal.
 */
export const isShown = ({ quality }: Pick<Measurement, 'quality'>): boolean =>
  quality === 'accepted' || quality === 'review';

/**
 * Returns the notice for a result that accepts values from methods validated on simulated images
 * only; null for any other result.
 */
export const researchNotice = ({
  evidence_accepted: accepts,
}: Pick<Result, 'evidence_accepted'>): string | null =>
  accepts === 'simulated' ? RESEARCH_NOTICE : null;

/** Returns true if a value was measured by this software rather than received. */
export function isOurs({ source: { provenance } }: Measurement): boolean {
  return provenance === 'model' || provenance === 'image-analysis';
}

/**
 * Returns the method by which a value was measured; null for a value that a person typed, whose
 * method is unknown.
 */
export const statedMethod = ({ method, confirmed }: Pick<Measurement, 'method' | 'confirmed'>) =>
  confirmed === 'entered' ? null : method;

/** Returns the text of a value, with its method if that is known, as a sentence. */
export function withMethod(value: string, measurement: Measurement): string {
  const method = statedMethod(measurement);
  const text = method === null ? null : (methodEntry(method)?.text ?? method);
  return sentence(text === null ? value : `${value}; ${text}`);
}

/** Text for the origin of values not measured by this software. */
export const ORIGINS = {
  machine: 'Value of the ultrasound machine, from its structured report',
  calculated: 'Calculated from values of the ultrasound machine, from its structured report',
  corrected: 'Calculated from values of the ultrasound machine, some of which the reader corrected',
  input: 'Value given with the request',
} as const;

/**
 * Returns the origin of a value as text; null for a value measured by this software, and for one of
 * the reader, whose remark says how it was made.
 */
export function originStatement(measurement: Measurement): string | null {
  const { provenance } = measurement.source;
  if (isOurs(measurement) || provenance === 'person') return null;
  if (provenance === 'input') return ORIGINS.input;
  if (measurement.inputs.length === 0) return ORIGINS.machine;
  return measurement.origin === 'person' ? ORIGINS.corrected : ORIGINS.calculated;
}

/**
 * Returns each remark on accepted values once, with the labels of all values that it applies to.
 * Remarks on the same values share a line.
 */
export function remarks(result: Result): string[] {
  const noted = countingValues(accepted(result)).flatMap((one) => {
    const texts = one.remarks.length > 0 ? remarkTexts(one) : one.note === null ? [] : [one.note];
    return texts.map((text) => ({ label: one.label, text }));
  });
  const byText = Map.groupBy(noted, ({ text }) => text);
  const byLabels = Map.groupBy(byText, ([, values]) =>
    listOfLabels(values.map(({ label }) => label)),
  );
  return [...byLabels].map(
    ([labels, texts]) => `${labels}: ${sentence(texts.map(([text]) => text).join('; '))}`,
  );
}
