import type { Finding, Measurement, Result, Section } from '../envelope.ts';
import type {
  FindingDraft,
  GuidanceDraft,
  ReasonDraft,
  SectionOutcome,
} from '../section-outcome.ts';
import type { Params, Remark, Statement } from '../statement.ts';
import { SENTENCES } from './sentences.ts';

/** What a sentence may print beside its parameters. */
interface SentenceContext {
  readonly about: readonly Measurement[];
  readonly fetus: string | null;
}

/** The measurements of a result by id: a sentence takes its numbers from them. */
export type MeasurementsById = ReadonlyMap<string, Measurement>;

export const byId = (measurements: readonly Measurement[]): MeasurementsById =>
  new Map(measurements.map((one) => [one.id, one]));

function sentence(code: string, params: Params, context: SentenceContext): string {
  const write = SENTENCES[code] as
    | ((params: Params, context: SentenceContext) => string)
    | undefined;
  if (!write) throw new Error(`no sentence has the code ${code}`);
  return write(params, context);
}

/** A statement as text; throws where the result lacks a measurement that the statement is about. */
export function renderStatement(
  { code, params, about, fetus }: Statement,
  measurements: MeasurementsById,
): string {
  const found = about.map((id) => {
    const measurement = measurements.get(id);
    if (!measurement) throw new Error(`${code} is about ${id}, which the result does not hold`);
    return measurement;
  });
  return sentence(code, params, { about: found, fetus });
}

/** Statements as one text, in their order; null and repeated sentences are left out. */
export function renderStatements(
  statements: readonly Statement[],
  measurements: MeasurementsById,
): string {
  return statements.map((one) => renderStatement(one, measurements)).join(' ');
}

/** The remarks of a measurement, each as text. */
export function remarkTexts(measurement: Measurement): string[] {
  const remark = ({ code, params }: Remark) =>
    sentence(code, params, { about: [measurement], fetus: measurement.fetus });
  return measurement.remarks.map(remark);
}

/** The remarks of a measurement as its `note`. */
export function withNote(measurement: Measurement): Measurement {
  const note = [measurement.note, ...remarkTexts(measurement)].filter(Boolean).join('; ');
  return { ...measurement, note: note || null };
}

function withReason(reason: ReasonDraft, measurements: MeasurementsById) {
  const { code, needs, gaps, detail } = reason;
  return { code, detail: gaps ? renderStatements(gaps, measurements) : (detail ?? ''), needs };
}

function textOf(
  { statement, text = '' }: FindingDraft | GuidanceDraft,
  measurements: MeasurementsById,
): string {
  return statement ? renderStatement(statement, measurements) : text;
}

/** The outcome of a section in words: what the envelope takes of it. */
interface RenderedOutcome {
  status: Section['status'];
  reason: Section['reason'];
  statements?: Section['statements'];
  summary: string;
  data: Section['data'];
  measurements: Measurement[];
  findings: Finding[];
  classifications: Result['classifications'];
  guidance: Result['guidance'];
}

/**
 * Puts the outcome of a section into words; the only place where this happens.
 * @param measurements all of the result, where statements are about those of other sections.
 */
export function renderOutcome(
  outcome: SectionOutcome,
  measurements: MeasurementsById = byId(outcome.measurements ?? []),
): RenderedOutcome {
  const { status, reason, statements, summary, data = {} } = outcome;
  return {
    status,
    reason: reason && withReason(reason, measurements),
    ...(statements && { statements }),
    summary: statements ? renderStatements(statements, measurements) : (summary ?? ''),
    data,
    measurements: (outcome.measurements ?? []).map(withNote),
    findings: (outcome.findings ?? []).map((one) => ({ ...one, text: textOf(one, measurements) })),
    classifications: outcome.classifications ?? [],
    guidance: (outcome.guidance ?? []).map((one) => ({ ...one, text: textOf(one, measurements) })),
  };
}

/** The section of the envelope; its artifacts are drawn later. */
export function sectionOf(
  { id, title }: Pick<Section, 'id' | 'title'>,
  { status, reason, statements, summary, data }: RenderedOutcome,
): Section {
  return {
    id,
    title,
    status,
    reason,
    ...(statements && { statements }),
    summary,
    data,
    artifacts: [],
  };
}
