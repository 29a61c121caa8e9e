import type { Result } from '../result/envelope.ts';
import { byId, renderOutcome, sectionOf } from '../result/render/render.ts';
import { unsupportedClaims } from '../result/render/report-check.ts';
import { sayOfRun } from '../result/render/shared.ts';
import { failed, notAssessed, type SectionOutcome } from '../result/section-outcome.ts';

export type SectionFailed = (section: string, error: unknown) => void;

/** Logs the failure. The gateway copies the standard error of the child process to its log. */
export const logFailure: SectionFailed = (section, error) =>
  console.error(`section ${section} failed`, error);

/**
 * Returns the outcome of a section. If the section throws, the study does not fail: the section is
 * `failed` in the result, as if its reader had failed (readers.ts), and the error is passed to
 * `onFailure`.
 */
export function runSection<Outcome extends SectionOutcome>(
  { id, needs }: { id: string; needs: readonly string[] },
  run: () => Outcome,
  onFailure: SectionFailed,
): Outcome | SectionOutcome {
  try {
    return run();
  } catch (error) {
    onFailure(id, error);
    return failed('section_failed', sayOfRun.gap('run.section-failed', {}), needs);
  }
}

export const REPORT_SECTION = { id: 'report', title: 'Draft report' } as const;

const NOT_REQUESTED: SectionOutcome = {
  ...notAssessed('not_requested', sayOfRun.gap('report.not-requested', {}), ['options.report']),
  status: 'not_requested',
};

type Write = (result: Result) => NonNullable<Result['report']>;

/** Outcome of the report section, with the report if it was written and passed the check. */
interface Drafted extends SectionOutcome {
  report?: NonNullable<Result['report']>;
}

/** Writes the report. A report with claims that the result does not support is withheld. */
function draft(result: Result, write: Write): Drafted {
  const report = write(result);
  const claims = unsupportedClaims(report, result);
  if (claims.length === 0) return { report, status: 'complete', reason: null, statements: [] };
  return failed('unsupported_claim', sayOfRun.gap('report.withheld', { claims }), []);
}

/**
 * Returns the result with its draft report as the last section; `write` is null if no report was
 * requested. An error in writing the report affects only the report.
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
  const rendered = sectionOf(
    REPORT_SECTION,
    renderOutcome(REPORT_SECTION.id, outcome, byId(result.measurements)),
  );
  const written = report ? { ...rendered, summary: report.impression.join(' ') } : rendered;
  return { ...result, report, sections: [...result.sections, written] };
}
