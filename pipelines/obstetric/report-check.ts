import { chartEntry, methodEntry } from '../result/concepts.ts';
import type { Result } from '../result/envelope.ts';
import { weeksAndDays } from './charts/dates.ts';

type Report = NonNullable<Result['report']>;

/** A number as a report prints it: `-1.5`, `28+3`, `2014`. */
const NUMBER = /(?<![\w.])-?\d+(?:[.+]\d+)*/g;

function numbersIn(text: string): string[] {
  return text.match(NUMBER) ?? [];
}

/** Words of the result itself, which a report may say again. */
function statements(result: Result): string[] {
  return [
    ...result.sections.flatMap(({ title, summary, reason }) => [title, summary, reason?.detail]),
    ...result.findings.map(({ text }) => text),
    ...result.guidance.map(({ text }) => text),
    ...result.measurements.flatMap(({ label, method, note, reference }) => [
      label,
      methodEntry(method)?.text,
      chartEntry(reference?.chart ?? '')?.name,
      note,
    ]),
    ...result.input_summary.refused.flatMap(({ file, reason }) => [file, reason]),
  ].flatMap((text) => text ?? []);
}

interface Values {
  numbers: number[];
  /** Ages in days, printed as weeks and days. */
  days: number[];
}

function statedAge(result: Result): number[] {
  const dating = result.sections.find(({ id }) => id === 'growth')?.data.dating;
  const isDating = typeof dating === 'object' && dating !== null && 'ga_days' in dating;
  return isDating && typeof dating.ga_days === 'number' ? [dating.ga_days] : [];
}

function valuesOf(result: Result): Values {
  const { files, frames, calibrated_frames: calibrated } = result.input_summary;
  const accepted = result.measurements.filter(({ quality }) => quality === 'accepted');
  return {
    numbers: [
      files,
      frames,
      calibrated,
      ...accepted.flatMap(({ value, reference }) => [
        value,
        reference?.centile ?? value,
        reference?.z_score ?? value,
      ]),
    ],
    days: [
      ...statedAge(result),
      ...accepted.filter(({ unit }) => unit === 'd').map(({ value }) => value),
    ],
  };
}

function isHeld(printed: string, { numbers, days }: Values): boolean {
  if (printed.includes('+')) return days.some((value) => weeksAndDays(value) === printed);
  const decimals = printed.split('.')[1]?.length ?? 0;
  return numbers.some((value) => value.toFixed(decimals) === printed);
}

/**
 * Numbers of a report that the result does not hold, each with its line: "every number is validated
 * against the structured result" (service.md 2.6). A number is held when it is an accepted value of
 * the result, rounded as printed, or stands in the result's own words.
 */
export function unsupportedNumbers(report: Report, result: Result): string[] {
  const values = valuesOf(result);
  const said = new Set(statements(result).flatMap(numbersIn));
  const lines = [...report.findings, ...report.impression, ...report.limitations];
  return lines.flatMap((line) =>
    numbersIn(line)
      .filter((printed) => !said.has(printed) && !isHeld(printed, values))
      .map((printed) => `${printed} in "${line}"`),
  );
}
