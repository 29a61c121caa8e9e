import type { CriterionOutcome, Finding, Measurement, Result, Section } from './envelope.ts';
import type { Category, Statement } from './statement.ts';

const ASSESSED: ReadonlySet<Section['status']> = new Set(['complete', 'partial', 'inadequate']);

/**
 * Returns true if a section was assessed and therefore belongs in the findings of the report. Other
 * sections are listed in the limitations.
 */
export const isAssessed = ({ status }: Pick<Section, 'status'>): boolean => ASSESSED.has(status);

/**
 * Returns true if a section drew conclusions, at least in part. A section with the status
 * `inadequate` is assessed but not conclusive.
 */
export const isConclusive = ({ status }: Pick<Section, 'status'>): boolean =>
  status === 'complete' || status === 'partial';

/** Types for the conclusions of sections before rendering. */

/**
 * An entry whose text has not been rendered yet. It has one or more statements. Its section is added
 * when the outcome of the section is rendered.
 */
type Unworded<Entry> = Omit<Entry, 'section' | 'text' | 'statement' | 'statements'> & {
  statement?: Statement;
  statements?: readonly Statement[];
};

export type FindingDraft = Unworded<Finding>;
export type GuidanceDraft = Unworded<Result['guidance'][number]>;

/** A number in a criterion. It is printed when the result is rendered. */
export interface CriterionValue {
  /** Key of the number's concept; `centile` for a centile on a chart. */
  of: string;
  value: number;
  /**
   * True if the number is printed with its unit, as in sentences; false if it is printed without a
   * unit, as in tables.
   */
  unit?: boolean;
  /** Cut-offs that apply to this value only. */
  cutOffs?: readonly number[];
}

export interface CriterionDraft {
  name: string;
  /** Null if there is nothing to show but the outcome. */
  value: string | CriterionValue | Category | Statement | null;
  outcome: CriterionOutcome;
}

export type ClassificationDraft<Value = string> = Omit<
  Result['classifications'][number],
  'section' | 'value' | 'criteria'
> & {
  /** A category, or the text or code that the result contains (render/categories.ts). */
  value: Value;
  criteria: CriterionDraft[];
};

/** Returns the outcome of a criterion. `met` is null if it was not available. */
export const outcomeOf = (met: boolean | null): CriterionOutcome =>
  met === null ? 'not_available' : met ? 'met' : 'not_met';

/** Returns a criterion. `met` is null if it was not available. */
export const criterion = (
  name: string,
  value: CriterionDraft['value'],
  met: boolean | null,
): CriterionDraft => ({ name, value, outcome: outcomeOf(met) });

/**
 * Reason why a section is incomplete. `gaps` contains statements about missing data; `needs` lists
 * the data that would complete the section.
 */
export interface ReasonDraft {
  code: string;
  needs: string[];
  gaps: readonly Statement[];
}

/**
 * A category, or the two categories on both sides of a cut-off if the interval of the value
 * includes one.
 */
export type CategoryWithin<Category> =
  | { category: Category; between: null }
  | { category: null; between: readonly [Category, Category] };

/**
 * Share of the half width by which the ends of an interval are moved inwards to exclude the end
 * points.
 */
const INSIDE = 1e-6;

/** Returns the half width of an interval without its end points. */
export const insideOf = (uncertainty: number): number => uncertainty * (1 - INSIDE);

/**
 * Returns the category of a value; null if its interval includes a cut-off, because the value may
 * be on either side. A value without an interval, such as a machine value, is categorised directly.
 * The end points do not belong to the interval.
 * @param categoryOf returns the category of a number in the unit of the value.
 */
export function categoryWithin<Category>(
  { value, uncertainty }: Pick<Measurement, 'value' | 'uncertainty'>,
  categoryOf: (value: number) => Category,
): CategoryWithin<Category> {
  if (uncertainty === null) return { category: categoryOf(value), between: null };
  const inside = insideOf(uncertainty);
  const [low, high] = [categoryOf(value - inside), categoryOf(value + inside)];
  return low === high ? { category: low, between: null } : { category: null, between: [low, high] };
}

/** Conclusions of one section of an endpoint about a study. */
export interface SectionOutcome {
  status: Section['status'];
  reason: ReasonDraft | null;
  /** Statements in the order of the summary. */
  statements: readonly Statement[];
  data?: Section['data'];
  /** Measurements. Their `note` is rendered later from their remarks. */
  measurements?: Measurement[];
  findings?: FindingDraft[];
  classifications?: ClassificationDraft<string | Category>[];
  guidance?: GuidanceDraft[];
}

function withGaps(
  status: Section['status'],
  code: string,
  gap: Statement | readonly Statement[],
  needs: readonly string[],
): SectionOutcome {
  const gaps = 'code' in gap ? [gap] : gap;
  return { status, reason: { code, gaps, needs: [...needs] }, statements: gaps };
}

/** Returns the outcome of a section whose input is insufficient or does not allow an assessment. */
export function notAssessed(
  code: string,
  gap: Statement | readonly Statement[],
  needs: readonly string[],
): SectionOutcome {
  return withGaps('not_assessed', code, gap, needs);
}

/**
 * Returns the outcome of a section whose input was of insufficient quality. `measurements` contains
 * those that were not accepted.
 */
export function inadequate(
  code: string,
  gap: Statement | readonly Statement[],
  needs: readonly string[],
  measurements: Measurement[] = [],
): SectionOutcome {
  return { ...withGaps('inadequate', code, gap, needs), measurements };
}

/**
 * Returns the outcome of a section that could not be assessed because of an error in the gateway.
 * Such a section is neither normal nor abnormal.
 */
export function failed(code: string, gap: Statement, needs: readonly string[]): SectionOutcome {
  return withGaps('failed', code, gap, needs);
}
