import { logFailure, runSection, type SectionFailed } from '../run-section.ts';
import type { Result } from './envelope.ts';
import { unsupportedClaims } from './report-check.ts';
import { failed, notAssessed, type SectionOutcome, sectionOf } from './section-outcome.ts';

export const REPORT_SECTION = { id: 'report', title: 'Draft report' } as const;

const NOT_REQUESTED: SectionOutcome = {
  ...notAssessed('not_requested', 'The draft report was not requested.', ['options.report']),
  status: 'not_requested',
};

type Write = (result: Result) => NonNullable<Result['report']>;

/** The section of a report, with the report where one was written and bears the check. */
interface Drafted extends SectionOutcome {
  report?: Result['report'];
}

/** Writes the report; one that says what the result does not hold is withheld. */
function draft(result: Result, write: Write): Drafted {
  const report = write(result);
  const unsupported = unsupportedClaims(report, result);
  if (unsupported.length === 0) {
    return { report, status: 'complete', reason: null, summary: report.impression.join(' ') };
  }
  const detail = `The report was withheld: the result does not hold ${unsupported.join(', ')}.`;
  return failed('unsupported_claim', detail, []);
}

/**
 * The result with its draft report and the section of it, the last one; `write` null: not requested.
 * A report that cannot be written costs itself only.
 */
export function withDraftReport(
  result: Result,
  write: Write | null,
  onFailure: SectionFailed = logFailure,
): Result {
  const section = { ...REPORT_SECTION, needs: [] };
  const outcome: Drafted = write
    ? runSection(section, () => draft(result, write), onFailure)
    : NOT_REQUESTED;
  const { report = null } = outcome;
  return { ...result, report, sections: [...result.sections, sectionOf(REPORT_SECTION, outcome)] };
}
