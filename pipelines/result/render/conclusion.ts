import type { Result } from '../envelope.ts';
import { type ImpressionLine, impressionOf, type Topic } from '../impression.ts';
import { ECHO_TOPICS } from './echo/impression.ts';
import { OBSTETRIC_TOPICS } from './obstetric/impression.ts';
import { capital } from './obstetric/shared.ts';
import { byId, type MeasurementsById, renderStatement } from './render.ts';
import { NOTHING_CONCLUDED } from './report-lines.ts';

const withoutStop = (text: string) => text.replace(/\.$/, '');

/** One line as a sentence: its clauses, joined by semicolons. */
function lineText({ statements }: ImpressionLine, measurements: MeasurementsById): string {
  const clauses = statements.map((one) => withoutStop(renderStatement(one, measurements)));
  return `${capital(clauses.join('; '))}.`;
}

/** The lines of the impression as text; one line says that nothing can be concluded. */
export function impressionTexts(
  lines: readonly ImpressionLine[],
  result: Pick<Result, 'measurements'>,
): string[] {
  const measurements = byId(result.measurements);
  return lines.length > 0 ? lines.map((line) => lineText(line, measurements)) : [NOTHING_CONCLUDED];
}

/** The impression as the draft report holds it: as text, and as data. */
export function impressionWith(
  topics: readonly Topic[],
  result: Result,
): Pick<NonNullable<Result['report']>, 'impression' | 'impression_lines'> {
  const lines = impressionOf(result, topics);
  return { impression: impressionTexts(lines, result), impression_lines: lines };
}

/**
 * What a result concludes, in the words that the PDF, the SR, the `conclusion` of FHIR and the
 * console share: the impression of the draft report, or the same lines where no report was
 * requested. Where the report was withheld, the reason is given in its place.
 */
export function conclusionTexts(result: Result): string[] {
  if (result.report) return result.report.impression;
  const section = result.sections.find(({ id }) => id === 'report');
  if (section?.status === 'failed' && section.reason) return [section.reason.detail];
  const topics = result.endpoint.startsWith('us/echo') ? ECHO_TOPICS : OBSTETRIC_TOPICS;
  return impressionWith(topics, result).impression;
}
