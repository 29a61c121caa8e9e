import { chartEntry, conceptEntry, methodEntry } from '../../concepts/concepts.ts';
import { fixed, rounded } from '../../measure/rounding.ts';
import type { Measurement, Result, Section } from '../envelope.ts';
import { impressionTexts } from './conclusion.ts';
import { decimalsOf } from './number-text.ts';
import { datingOf } from './obstetric/impression.ts';
import { inSentence, weeksAndDays } from './obstetric/shared.ts';
import { byId, type MeasurementsById, remarkTexts, renderStatement } from './render.ts';
import { refusedLines } from './report-lines.ts';
import { unitText, withUnit } from './unit-text.ts';

type Report = NonNullable<Result['report']>;

/** A number in a report: `-1.5`, `28+3`, `2014`, but not the 3 of `3D`. */
const NUMBER = /(?<![\w.])(?![23]D\b)-?\d+(?:[.+]\d+)*/g;

/**
 * Unit that may follow a number; longer units come first. Values in `wk` and `d` are printed in
 * weeks.
 */
const UNIT =
  /^\s?(cm\/s|m\/s|ml\/m²|ml|g\/m²|cm²\/m²|cm²|m²|mm\/mmHg|mmHg|mm²|mm|cm|kg|g|%|weeks|days|°|ms|s|\/min|bpm)(?![\w/])/;

/**
 * Half width of an interval, printed between a value and their common unit, as in `6.4 ± 0.1 cm`.
 */
const MARGIN = /^ ± \d+(\.\d+)?/;

const SIDE = /\b(left|right)\b/gi;

/** Matches the fetus that a row states for its value (report-lines.ts), as in `(left, fetus 1)`. */
const FETUS = /\bfetus ([^(),;]+)/g;

interface Claim {
  number: string;
  unit: string;
  /** True if the number follows ± and is therefore the half width of an interval. */
  margin: boolean;
}

function claimsIn(text: string): Claim[] {
  return [...text.matchAll(NUMBER)].map((match) => ({
    number: match[0],
    unit: UNIT.exec(text.slice(match.index + match[0].length).replace(MARGIN, ''))?.[1] ?? '',
    margin: /±\s?$/.test(text.slice(0, match.index)),
  }));
}

function sidesIn(text: string): string[] {
  return [...text.matchAll(SIDE)].map(([side]) => side.toLowerCase());
}

function fetusesIn(text: string): string[] {
  return [...text.matchAll(FETUS)].map(([, fetus = '']) => fetus.trim());
}

/**
 * Returns all texts of a section, with each statement as a separate text. Statements about missing
 * measurements are left out.
 */
function sectionTexts(
  { title, summary, reason, statements = [] }: Section,
  measurements: MeasurementsById,
) {
  const texts = statements
    .filter(({ about }) => about.every((id) => measurements.has(id)))
    .map((one) => renderStatement(one, measurements));
  return [title, summary, reason?.detail, ...texts];
}

/** Returns the texts of the result that a report may repeat verbatim, longest first. */
function textsOf(result: Result): string[] {
  const measurements = byId(result.measurements);
  return [
    ...result.sections.flatMap((section) => sectionTexts(section, measurements)),
    ...result.findings.map(({ text }) => text),
    ...result.guidance.map(({ text }) => text),
    // Published names of grades contain numbers: "grade 3, elevated LAP".
    ...result.classifications.map(({ value }) => value),
    ...result.measurements.flatMap((one) => [one.note, ...remarkTexts(one), valuePhrase(one)]),
    ...result.measurements.map(({ method }) => methodEntry(method)?.text),
    ...result.measurements.map(({ reference }) => chartEntry(reference?.chart ?? '')?.name),
  ]
    .flatMap((text) => {
      const said = withoutStop(text ?? '');
      // The impression joins sentences with semicolons. Those after a semicolon begin with a
      // lower-case letter.
      return said === '' ? [] : [...new Set([said, inSentence(said)])];
    })
    .toSorted((one, other) => other.length - one.length);
}

const withoutStop = (text: string): string => text.replace(/[.]$/, '');

/**
 * Returns a value in the form used in lists of values, such as "TAPSE 21 mm"; '' if it was not
 * accepted.
 */
function valuePhrase({ concept, quality, value, unit }: Measurement): string {
  const name = conceptEntry(concept.key)?.abbreviation;
  if (quality !== 'accepted' || !name) return '';
  return withUnit(`${name} ${fixed(value, decimalsOf(concept.key))}`, unit);
}

/** Text before or after a match which shows that the match is part of a longer word or number. */
const CONTINUES_LEFT = /[\p{L}\p{N}.+-]$/u;
const CONTINUES_RIGHT = /^(?:[\p{L}\p{N}]|[.+]\p{N})/u;

/**
 * Removes a statement from a line where it consists of whole words and numbers: "4 beats" is removed
 * neither from "14 beats" nor from "1.4 beats".
 */
function without(line: string, statement: string): string {
  const rest: string[] = [];
  let from = 0;
  let at = line.indexOf(statement);
  while (at >= 0) {
    const end = at + statement.length;
    const isWhole =
      !CONTINUES_LEFT.test(line.slice(Math.max(0, at - 2), at)) &&
      !CONTINUES_RIGHT.test(line.slice(end, end + 3));
    if (isWhole) {
      rest.push(line.slice(from, at));
      from = end;
    }
    at = line.indexOf(statement, isWhole ? end : at + 1);
  }
  return [...rest, line.slice(from)].join(' ');
}

/** Returns the part of a line that is not copied verbatim from the result. */
const ownWords = (line: string, said: readonly string[]): string => said.reduce(without, line);

const rounds = (value: number, printed: string) =>
  rounded(value, printed.split('.')[1]?.length ?? 0) === Number(printed);

/**
 * Returns true if a printed limit represents a centile below the 1st or above the 99th: `<1`, `>99`
 * (obstetric 0.3).
 */
const isEndOfScale = (centile: number, printed: string) =>
  (printed === '99' && centile > 99) || (printed === '1' && centile < 1);

/** Returns true if a claim is a measurement's value, margin, centile or z-score. */
function isOf(measurement: Measurement, { number, unit: printed, margin }: Claim): boolean {
  const { value, unit, uncertainty, reference } = measurement;
  if (margin) {
    return uncertainty !== null && unitText(unit) === printed && rounds(uncertainty, number);
  }
  if (unit === 'd') return printed === 'weeks' && weeksAndDays(value) === number;
  if (printed === '') {
    const { centile, z_score: z } = reference ?? {};
    const ofChart =
      [centile, z].some((one) => one != null && rounds(one, number)) ||
      (centile != null && isEndOfScale(centile, number));
    return ofChart || (unitText(unit) === '' && rounds(value, number));
  }
  return unitText(unit) === printed && rounds(value, number);
}

/**
 * Returns true if a claim is one of the ages and counts that a line about the whole study may
 * contain.
 */
function isOfStudy(result: Result, line: string, { number, unit }: Claim): boolean {
  const { files, frames, calibrated_frames: calibrated } = result.input_summary;
  const counts = [files, frames, calibrated].map(String);
  if (line.startsWith('Images:')) return unit === '' && counts.includes(number);
  const dating = datingOf(result);
  return dating !== null && unit === 'weeks' && weeksAndDays(dating.days) === number;
}

/** The part of a line that is not copied from the result, and the fetuses that it mentions. */
interface OwnWords {
  line: string;
  rest: string;
  claims: readonly Claim[];
  fetuses: readonly string[];
}

/**
 * Returns true if `one` is the only name mentioned; if `one` is null, returns true if no name is.
 */
const isOnly = (named: readonly string[], one: string | null) =>
  named.every((other) => other === one) && (one === null || named.includes(one));

/**
 * Returns true if a measurement supports a line: it is accepted, the line mentions it and no other
 * side or fetus, and every claim of the line is its value, margin, centile or z-score.
 */
function holds(measurement: Measurement, { line, rest, claims, fetuses }: OwnWords): boolean {
  const { label, quality, laterality, fetus } = measurement;
  if (quality !== 'accepted' || !line.includes(label)) return false;
  const sides = sidesIn(rest.replace(label, ' '));
  return (
    isOnly(sides, laterality) &&
    isOnly(fetuses, fetus) &&
    claims.every((claim) => isOf(measurement, claim))
  );
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(numbersIn);
}

/**
 * Returns true if a number is a parameter of a statement, such as a count, a cut-off or an age in
 * days.
 */
const isParameter = (value: number, { number }: Claim) =>
  rounds(value, number) || weeksAndDays(value) === number;

/**
 * Returns the unsupported claims of the impression. A line must match the text of its statements.
 * Every number in it, with its unit, must belong to an accepted value that the line refers to, or
 * be a parameter of its statements.
 */
function unsupportedInImpression(
  { impression, impression_lines: lines }: Report,
  result: Result,
  said: readonly string[],
): string[] {
  if (!lines) return [];
  const measurements = byId(result.measurements);
  const missing = lines
    .flatMap(({ statements }) => statements.flatMap(({ about }) => about))
    .filter((id) => !measurements.has(id));
  if (missing.length > 0) return [`an impression about ${missing.join(', ')}`];
  const texts = impressionTexts(lines, result);
  if (texts.join('\n') !== impression.join('\n')) return ['an impression in other words'];
  return lines.flatMap(({ statements }, at) => {
    const about = statements
      .flatMap((one) => one.about)
      .flatMap((id) => measurements.get(id) ?? []);
    const given = statements.flatMap(({ params }) => numbersIn(params));
    const line = texts[at] ?? '';
    const doubtful = about.filter(({ quality }) => quality !== 'accepted').map(({ id }) => id);
    const own = ownWords(line, said);
    const claims = claimsIn(own).filter(
      (claim) =>
        !about.some((one) => isOf(one, claim)) && !given.some((one) => isParameter(one, claim)),
    );
    const sides = sidesIn(own).filter(
      (side) => !about.some(({ laterality }) => laterality === side),
    );
    const named = [
      ...claims.map(({ number, unit }) => `${number} ${unit}`.trim()),
      ...sides,
      ...doubtful,
    ];
    return named.length > 0 ? [`${named.join(', ')} in "${line}"`] : [];
  });
}

/**
 * Returns the claims of a report that the result does not support, each with its line: "every
 * number is validated against the structured result" (api 2.6). Text copied verbatim from the
 * result is not checked. Any other line must be about the study as a whole, or be supported by one
 * accepted measurement that it names (`holds`).
 */
export function unsupportedClaims(report: Report, result: Result): string[] {
  const said = textsOf(result);
  // The reason why a file was not read may contain numbers.
  const refused = new Set(refusedLines(result.input_summary.refused));
  const impression = report.impression_lines ? [] : report.impression;
  const lines = [...report.findings, ...impression, ...report.limitations];
  const doubted = unsupportedInImpression(report, result, said);
  const others = lines.flatMap((line) => {
    if (refused.has(line)) return [];
    const own = ownWords(line, said);
    const fetuses = fetusesIn(own);
    const rest = own.replace(FETUS, ' ');
    const claims = claimsIn(rest);
    const sides = sidesIn(rest);
    if (claims.length + sides.length + fetuses.length === 0) return [];
    const ofStudy =
      sides.length + fetuses.length === 0 && claims.every((one) => isOfStudy(result, line, one));
    const words = { line, rest, claims, fetuses };
    if (ofStudy || result.measurements.some((one) => holds(one, words))) return [];
    const named = [
      ...claims.map(({ number, unit }) => `${number} ${unit}`.trim()),
      ...sides,
      ...fetuses.map((fetus) => `fetus ${fetus}`),
    ];
    return [`${named.join(', ')} in "${line}"`];
  });
  return [...doubted, ...others];
}
