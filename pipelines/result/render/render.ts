import { chartEntry, conceptEntry, conceptKey } from '../../concepts/concepts.ts';
import { fixedOffCutOffs } from '../../measure/rounding.ts';
import type { Finding, Measurement, Result, Section } from '../envelope.ts';
import { implausibleNote } from '../hard-limits.ts';
import { cutOffsOf } from '../obstetric/limits.ts';
import type {
  ClassificationDraft,
  CriterionDraft,
  CriterionValue,
  FindingDraft,
  GuidanceDraft,
  ReasonDraft,
  SectionOutcome,
} from '../section-outcome.ts';
import { type Category, type Params, type Statement, UNNAMED_FETUS } from '../statement.ts';
import { categoryText as codedText } from './categories.ts';
import { categoryText } from './echo/categories.ts';
import { decimalsOf, formatValue, numberText } from './number-text.ts';
import type { SentenceContext, ValueTexts } from './obstetric/shared.ts';
import { basisText, weeksAndDays } from './obstetric/shared.ts';
import { SENTENCES } from './sentences.ts';
import { centileText, withUnit, zScoreText } from './unit-text.ts';

function quantity(key: string, value: number, also: readonly number[] = []): string {
  const known = conceptKey(key);
  if (known === null) throw new Error(`no concept has the key ${key}`);
  return formatValue(known, value, also);
}

/** Renders numbers and names for English sentences. */
const TEXTS: ValueTexts = {
  value: ({ concept, value }, also) => quantity(concept.key, value, also),
  quantity,
  number: numberText,
  rounded: fixedOffCutOffs,
  withUnit,
  names: (keys) => keys.map((key) => conceptEntry(key)?.abbreviation ?? key).join(', '),
  label: (key) => conceptEntry(key)?.label ?? key,
  weeks: weeksAndDays,
  centile: centileText,
  zScore: zScoreText,
  chart: (key) => chartEntry(key)?.name ?? key,
  basis: basisText,
  note: (one) => remarkText(one),
  implausible: (key) => {
    const known = conceptKey(key);
    return known === null ? key : implausibleNote(known);
  },
};

/** Measurements of a result by id. The numbers in sentences come from these. */
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

/**
 * Returns a statement as text.
 * @throws if the result lacks a measurement that the statement refers to.
 */
export function renderStatement(
  { code, params, about, fetus }: Statement,
  measurements: MeasurementsById,
): string {
  const found = about.map((id) => {
    const measurement = measurements.get(id);
    if (!measurement) throw new Error(`${code} is about ${id}, which the result does not hold`);
    return measurement;
  });
  const text = sentence(code, params, { about: found, fetus, text: TEXTS });
  if (fetus === null) return text;
  return fetus === UNNAMED_FETUS ? `Unnamed fetus: ${text}` : `Fetus ${fetus}: ${text}`;
}

/** Renders statements as one text, keeping their order. */
export function renderStatements(
  statements: readonly Statement[],
  measurements: MeasurementsById,
): string {
  return statements.map((one) => renderStatement(one, measurements)).join(' ');
}

export function remarkTexts(measurement: Measurement): string[] {
  const { remarks, fetus } = measurement;
  return remarks.map(({ code, params }) =>
    sentence(code, params, { about: [measurement], fetus, text: TEXTS }),
  );
}

/** Returns the remarks of a measurement as one text; empty if it has none. */
export const remarkText = (measurement: Measurement): string => remarkTexts(measurement).join('; ');

/** Appends the text of a measurement's remarks to its `note`. */
export function withNote(measurement: Measurement): Measurement {
  const note = [measurement.note, ...remarkTexts(measurement)].filter(Boolean).join('; ');
  return { ...measurement, note: note || null };
}

function withReason(reason: ReasonDraft, measurements: MeasurementsById) {
  const { code, needs, gaps } = reason;
  return { code, detail: renderStatements(gaps, measurements), needs, gaps };
}

function textOf(
  { statement, statements }: FindingDraft | GuidanceDraft,
  measurements: MeasurementsById,
): string {
  return renderStatements(statements ?? (statement ? [statement] : []), measurements);
}

function comparedText({ of, value, unit = true, cutOffs = [] }: CriterionValue): string {
  if (of === 'centile') return centileText(value);
  return unit
    ? quantity(of, value, cutOffs)
    : fixedOffCutOffs(value, decimalsOf(of), [...cutOffsOf(of), ...cutOffs]);
}

function withCriteria(one: ClassificationDraft<string | Category>, measurements: MeasurementsById) {
  const printed = (value: CriterionDraft['value']) => {
    if (value === null || typeof value === 'string') return value;
    if ('scale' in value) return codedText(value.scale, String(value.category));
    return 'kind' in value ? renderStatement(value, measurements) : comparedText(value);
  };
  const criteria = one.criteria.map(({ name, value, outcome }) => ({
    name,
    value: printed(value),
    outcome,
    met: outcome === 'met',
  }));
  const { value } = one;
  const category = typeof value === 'string' ? value : categoryText(value.scale, value.category);
  return { ...one, value: category, criteria };
}

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
 * Renders the outcome of a section as text, and names the section in what it concludes. No other
 * code does this.
 * @param measurements all measurements of the result, because a statement may refer to measurements
 * of other sections.
 */
export function renderOutcome(
  section: string,
  outcome: SectionOutcome,
  measurements: MeasurementsById = byId(outcome.measurements ?? []),
): RenderedOutcome {
  const { status, reason, statements, data = {} } = outcome;
  const worded = <Draft extends FindingDraft | GuidanceDraft>(one: Draft) => ({
    ...one,
    section,
    text: textOf(one, measurements),
  });
  return {
    status,
    reason: reason && withReason(reason, measurements),
    statements,
    summary: renderStatements(statements, measurements),
    data,
    measurements: (outcome.measurements ?? []).map(withNote),
    findings: (outcome.findings ?? []).map(worded),
    classifications: (outcome.classifications ?? []).map((one) => ({
      ...withCriteria(one, measurements),
      section,
    })),
    guidance: (outcome.guidance ?? []).map(worded),
  };
}

const mapRecord = (data: object, map: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, map(value)]));

/** Returns the same data with `null` in place of each non-finite number, at any depth. */
function finiteOrNull(data: unknown): unknown {
  if (typeof data === 'number') return Number.isFinite(data) ? data : null;
  if (Array.isArray(data)) return data.map(finiteOrNull);
  return typeof data === 'object' && data !== null ? mapRecord(data, finiteOrNull) : data;
}

/** Returns a section in the format of the envelope, without artifacts. */
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
    data: mapRecord(data, finiteOrNull),
    artifacts: [],
  };
}
