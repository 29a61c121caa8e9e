import type { Result } from './envelope.ts';
import { unsupportedClaims } from './report-check.ts';
import { type SectionOutcome, sectionOf } from './section-outcome.ts';

export const REPORT_SECTION = { id: 'report', title: 'Draft report' } as const;

const NOT_REQUESTED: SectionOutcome = {
  status: 'not_requested',
  reason: {
    code: 'not_requested',
    detail: 'The draft report was not requested.',
    needs: ['options.report'],
  },
  summary: 'The draft report was not requested.',
};

type Write = (result: Result) => NonNullable<Result['report']>;

/** Writes the report; one that says what the result does not hold is withheld. */
function draft(result: Result, write: Write): [Result['report'], SectionOutcome] {
  const written = write(result);
  const unsupported = unsupportedClaims(written, result);
  if (unsupported.length === 0) {
    return [written, { status: 'complete', reason: null, summary: written.impression.join(' ') }];
  }
  const detail = `The report was withheld: the result does not hold ${unsupported.join(', ')}.`;
  const reason = { code: 'unsupported_claim', detail, needs: [] };
  return [null, { status: 'failed', reason, summary: detail }];
}

/** The result with its draft report and the section of it, the last one; `write` null: not requested. */
export function withDraftReport(result: Result, write: Write | null): Result {
  const [report, outcome] = write ? draft(result, write) : [null, NOT_REQUESTED];
  return { ...result, report, sections: [...result.sections, sectionOf(REPORT_SECTION, outcome)] };
}
