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
  /** The concept of the number; `centile` for a place on a chart. */
  of: string;
  value: number;
  /** With its unit, as sentences print it; false: the number alone, as tables print it. */
  unit?: boolean;
  /** Cut-offs of this value alone. */
  cutOffs?: readonly number[];
}

type Classification = Result['classifications'][number];
type Criterion = Classification['criteria'][number];

export type ClassificationDraft = Omit<Classification, 'criteria'> & {
  criteria: (Omit<Criterion, 'value'> & { value: string | CriterionValue | Statement })[];
};

/** Why a section is not complete. `gaps` say it; `needs` names what would complete it. */
export interface ReasonDraft {
  code: string;
  needs: string[];
  gaps: readonly Statement[];
}

/** What one section of an endpoint says of a study. */
export interface SectionOutcome {
  status: Section['status'];
  reason: ReasonDraft | null;
  /** In the order in which the summary says them. */
  statements: readonly Statement[];
  data?: Section['data'];
  /** Their `note` is rendered from their remarks. */
  measurements?: Measurement[];
  findings?: FindingDraft[];
  classifications?: ClassificationDraft[];
  guidance?: GuidanceDraft[];
}

/** A section that says its gaps and nothing else. */
function withGaps(
  status: Section['status'],
  code: string,
  gap: Statement,
  needs: readonly string[],
): SectionOutcome {
  return { status, reason: { code, gaps: [gap], needs: [...needs] }, statements: [gap] };
}

/** The input lacks what a section needs, or forbids it. */
export function notAssessed(
  code: string,
  gap: Statement,
  needs: readonly string[],
): SectionOutcome {
  return withGaps('not_assessed', code, gap, needs);
}

/** What a section needs was there, but below the gate; `measurements` are those that were not accepted. */
export function inadequate(
  code: string,
  gap: Statement,
  needs: readonly string[],
  measurements: Measurement[] = [],
): SectionOutcome {
  return { ...withGaps('inadequate', code, gap, needs), measurements };
}

/** A section that could not be looked at because of an error of ours: neither normal nor abnormal. */
export function failed(code: string, gap: Statement, needs: readonly string[]): SectionOutcome {
  return withGaps('failed', code, gap, needs);
}
