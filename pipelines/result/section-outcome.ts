import type { Finding, Measurement, Result, Section } from './envelope.ts';
import type { Statement } from './statement.ts';

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
