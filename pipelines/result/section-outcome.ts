import type { Finding, Measurement, Result, Section } from './envelope.ts';
import type { Statement } from './statement.ts';

const ASSESSED: ReadonlySet<Section['status']> = new Set(['complete', 'partial', 'inadequate']);

/**
 * Whether a section has something to say in the findings; the others are listed in the limitations.
 */
export const isAssessed = ({ status }: Pick<Section, 'status'>): boolean => ASSESSED.has(status);

/** What the sections of an endpoint conclude, before anything is put into words. */

/** An entry whose text is still to be rendered, from one statement or from several. */
type Unworded<Entry extends { text: string }> = Omit<Entry, 'text' | 'statement' | 'statements'> & {
  statement?: Statement;
  statements?: readonly Statement[];
};

export type FindingDraft = Unworded<Finding>;
export type GuidanceDraft = Unworded<Result['guidance'][number]>;

/** A number of a criterion, which is printed when the result is put into words. */
export interface CriterionValue {
  /** Key of the concept of the number; `centile` for a centile on a chart. */
  of: string;
  value: number;
  /**
   * Whether the number is printed with its unit, as in sentences; false for the number alone, as in
   * tables.
   */
  unit?: boolean;
  /** Cut-offs that apply to this value only. */
  cutOffs?: readonly number[];
}

type Classification = Result['classifications'][number];
type Criterion = Classification['criteria'][number];

export type ClassificationDraft = Omit<Classification, 'criteria'> & {
  criteria: (Omit<Criterion, 'value'> & { value: string | CriterionValue | Statement })[];
};

/**
 * Why a section is not complete. `gaps` are the statements about what is missing; `needs` names
 * what would complete the section.
 */
export interface ReasonDraft {
  code: string;
  needs: string[];
  gaps: readonly Statement[];
}

/** A category, or, where the interval of the value holds a cut-off, those on both sides of it. */
export type CategoryWithin<Category> =
  | { category: Category; between: null }
  | { category: null; between: readonly [Category, Category] };

/** How far within the interval its ends are taken, as a share of its half width. */
const INSIDE = 1e-6;

/**
 * The category of a value; none where its interval holds a cut-off, because neither side is certain
 * then. A value without an interval, such as one of the machine, is taken as it is. The ends of the
 * interval do not belong to it.
 * @param categoryOf the category of a number in the unit of the value.
 */
export function categoryWithin<Category>(
  { value, uncertainty }: Pick<Measurement, 'value' | 'uncertainty'>,
  categoryOf: (value: number) => Category,
): CategoryWithin<Category> {
  if (uncertainty === null) return { category: categoryOf(value), between: null };
  const inside = uncertainty * (1 - INSIDE);
  const [low, high] = [categoryOf(value - inside), categoryOf(value + inside)];
  return low === high ? { category: low, between: null } : { category: null, between: [low, high] };
}

/** What one section of an endpoint concludes about a study. */
export interface SectionOutcome {
  status: Section['status'];
  reason: ReasonDraft | null;
  /** The statements in the order of the summary. */
  statements: readonly Statement[];
  data?: Section['data'];
  /** The measurements; their `note` is rendered later from their remarks. */
  measurements?: Measurement[];
  findings?: FindingDraft[];
  classifications?: ClassificationDraft[];
  guidance?: GuidanceDraft[];
}

/** Returns the outcome of a section that states its gaps and nothing else. */
function withGaps(
  status: Section['status'],
  code: string,
  gap: Statement,
  needs: readonly string[],
): SectionOutcome {
  return { status, reason: { code, gaps: [gap], needs: [...needs] }, statements: [gap] };
}

/**
 * Returns the outcome of a section for which the input lacks something, or which the input forbids.
 */
export function notAssessed(
  code: string,
  gap: Statement,
  needs: readonly string[],
): SectionOutcome {
  return withGaps('not_assessed', code, gap, needs);
}

/**
 * Returns the outcome of a section whose input was present but of insufficient quality;
 * `measurements` are those that were not accepted.
 */
export function inadequate(
  code: string,
  gap: Statement,
  needs: readonly string[],
  measurements: Measurement[] = [],
): SectionOutcome {
  return { ...withGaps('inadequate', code, gap, needs), measurements };
}

/**
 * Returns the outcome of a section that could not be assessed because of an error in the gateway;
 * it is neither normal nor abnormal.
 */
export function failed(code: string, gap: Statement, needs: readonly string[]): SectionOutcome {
  return withGaps('failed', code, gap, needs);
}
