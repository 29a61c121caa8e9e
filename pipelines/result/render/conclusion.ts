import { isTranslation } from '../../contract/translate.ts';
import type { Result, Section } from '../envelope.ts';
import { type ImpressionLine, impressionOf, type Topic } from '../impression.ts';
import { countingValues } from '../standing.ts';
import type { SentenceTable } from '../statement.ts';
import { ECHO_TOPICS } from './echo/impression.ts';
import { OBSTETRIC_TOPICS } from './obstetric/impression.ts';
import { capital, inSentence } from './obstetric/shared.ts';
import { byId, type MeasurementsById, renderStatement } from './render.ts';
import { gapLines, isEcho, NOTHING_CONCLUDED } from './report-lines.ts';
import { researchNotice, signedBy } from './statement.ts';

const withoutStop = (text: string) => text.replace(/\.$/, '');

/** Renders a line as one sentence, with its clauses joined by semicolons. */
function lineText({ statements }: ImpressionLine, measurements: MeasurementsById): string {
  const clauses = statements.map((one) =>
    inSentence(withoutStop(renderStatement(one, measurements))),
  );
  return `${capital(clauses.join('; '))}.`;
}

/**
 * Renders the lines of the impression. Without lines, returns a sentence stating that nothing can
 * be concluded.
 */
export function impressionTexts(
  lines: readonly ImpressionLine[],
  result: Pick<Result, 'measurements'>,
): string[] {
  const measurements = byId(result.measurements);
  return lines.length > 0 ? lines.map((line) => lineText(line, measurements)) : [NOTHING_CONCLUDED];
}

type Impression = Pick<NonNullable<Result['report']>, 'impression' | 'impression_lines'>;

/** Returns the impression for the draft report, as text and as data. */
export function impressionWith<Table extends SentenceTable>(
  topics: readonly Topic<Table>[],
  result: Result,
): Impression {
  const lines = impressionOf(result, topics);
  return { impression: impressionTexts(lines, result), impression_lines: lines };
}

/**
 * Returns the conclusions of a result. They are the same in the PDF, the SR, the `conclusion` in
 * FHIR and the console: the impression of the draft report, or the same lines if no report was
 * requested. If the report was withheld, the reason replaces them.
 */
export function conclusionOf(result: Result): Impression {
  if (result.report) return result.report;
  const section = result.sections.find(({ id }) => id === 'report');
  if (section?.status === 'failed' && section.reason) {
    return { impression: [section.reason.detail] };
  }
  return isEcho(result)
    ? impressionWith(ECHO_TOPICS, result)
    : impressionWith(OBSTETRIC_TOPICS, result);
}

export const conclusionTexts = (result: Result): string[] => conclusionOf(result).impression;

/** Statuses of sections without a gap. Any other status means that something was not assessed. */
const WITHOUT_GAP: ReadonlySet<Section['status']> = new Set(['complete', 'not_requested']);

/**
 * Renders the result as lines of text for receivers that cannot use a table. The lines contain only
 * what is in `result`. They also list what was not assessed, so that a missing section is never
 * read as normal.
 */
export function conclusionLines(result: Result): string[] {
  const measurements = countingValues(result.measurements);
  const accepted = measurements.filter((m) => m.quality === 'accepted').length;
  const proposed = measurements.filter((m) => m.quality === 'review').length;
  const withheld = measurements.length - accepted - proposed;
  if (isTranslation(result)) {
    return [
      `Values of the structured report of the ultrasound machine, not reviewed: ${accepted}; withheld as implausible: ${withheld}.`,
    ];
  }
  const notice = researchNotice(result);
  const withGap = result.sections.filter((section) => !WITHOUT_GAP.has(section.status));
  const gaps = [
    ...withGap.flatMap(({ title, reason }) => (reason ? [] : `${title}.`)),
    ...gapLines({ ...result, sections: withGap }),
  ];
  return [
    signedBy(result) === null ? 'AI draft, not reviewed.' : `${signedBy(result)}.`,
    ...(notice ? [`${notice}.`] : []),
    `Measurements accepted: ${accepted}; to be reviewed: ${proposed}; withheld: ${withheld}.`,
    ...conclusionTexts(result),
    ...(gaps.length > 0 ? ['Not assessed, or only in part:', ...gaps] : []),
  ];
}
