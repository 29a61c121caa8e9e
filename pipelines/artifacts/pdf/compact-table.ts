import { conceptEntry } from '../../concepts/concepts.ts';
import { earlierValues } from '../../result/earlier-values.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { saidIn } from '../../result/impression.ts';
import { numberText } from '../../result/render/number-text.ts';
import { withSubject } from '../../result/render/obstetric/shared.ts';
import { asHeading, centileText, counted } from '../../result/render/unit-text.ts';
import { valueText } from '../../result/render/value-text.ts';
import { countingValues, INTERMEDIATE } from '../../result/standing.ts';
import { textWidth } from '../drawing/draw.ts';
import { MARKS, rangeText } from './measurement-table.ts';
import {
  ALERT,
  type Cell,
  type Column,
  drawRow,
  heading,
  INK,
  MARGIN,
  MUTED,
  newPage,
  type Page,
  paragraph,
  rule,
  textHeight,
  WIDTH,
  within,
} from './page.ts';

/**
 * This file draws the compact table on the first pages of the report: one row for each value that
 * was used, grouped by topic, in two columns. Repeats, intervals and methods are in the appendix.
 */

const SIZE = 7.5;
const PADDING = 1.1;
const GUTTER = 16;
const HALF = (WIDTH - GUTTER) / 2;

/**
 * Column widths. The range column fills the remaining width. `wrapped`: a label may be this many
 * times as long as its column before it is abbreviated.
 */
const WIDTHS = {
  alone: { name: 113, value: 68, prior: 0, wrapped: 1 },
  withPrior: { name: 92, value: 58, prior: 32, wrapped: 1.35 },
} as const;
type Widths = (typeof WIDTHS)[keyof typeof WIDTHS];

const columnsFor = ({ name, value, prior }: Widths): readonly Column[] => [
  { title: 'Measurement', width: name },
  { title: 'Value', width: value, align: 'right' },
  { title: 'Range or centile', width: HALF - name - value - prior, align: 'right' },
  ...(prior > 0 ? [{ title: 'Prior', width: prior, align: 'right' as const }] : []),
];

/** Single-view values that are inputs to a biplane value. They are listed only in the appendix. */
const SINGLE_PLANE: ReadonlySet<string> = new Set([
  ...['lvedv-4c', 'lvesv-4c', 'lvedv-2c', 'lvesv-2c', 'lv-length-4c', 'lv-length-2c'],
  ...['la-volume-4c', 'la-volume-2c', 'la-area-4c', 'la-area-2c', 'la-length-4c', 'la-length-2c'],
  ...['gls-end-systolic-4c', 'gls-end-systolic-2c', 'gls-end-systolic-3c'],
  ...['gls-peak-systolic-4c', 'gls-peak-systolic-2c', 'gls-peak-systolic-3c'],
  ...['gls-peak-4c', 'gls-peak-2c', 'gls-peak-3c'],
  ...['la-volume-area-length', 'la-volume-index-area-length'],
]);

/** Kinds of LVEF. The table lists only the one that was used. */
const EJECTION_FRACTIONS: ReadonlySet<string> = new Set([
  ...['lvef', 'lvef-3d', 'lvef-biplane', 'lvef-networks', 'lvef-4c', 'lvef-2c', 'lvef-teichholz'],
]);

/**
 * Codes of the statements which say that values of the same name belong to different fetuses. None
 * of these values can then represent the others.
 */
const APART = ['biometry.apart', 'nt.apart', 'early.apart', 'fluid.pockets-apart'] as const;

function isInside({ value, reference, interpretation, remarks }: Measurement): boolean {
  if (interpretation !== null && interpretation !== 'N') return false;
  // If the sex is unknown, a remark contains the limits of both sexes. A value beyond the limits of
  // both has a category and was excluded above.
  if (remarks.some(({ code }) => code === 'echo.range-by-sex')) return true;
  const { low = null, high = null } = reference ?? {};
  if (low === null && high === null) return interpretation === 'N';
  return (low === null || value >= low) && (high === null || value <= high);
}

/**
 * Returns the ids of the values that an abnormal or critical finding is based on. A value to which
 * the finding's statements refer counts unless it is within its reference range. A value that is
 * only listed as evidence counts only if it is interpreted as abnormal.
 */
export function actionable({
  findings,
  measurements,
}: Pick<Result, 'findings' | 'measurements'>): ReadonlySet<string> {
  const loud = findings.filter(({ severity }) => severity !== 'info');
  const outside = new Set(
    measurements
      .filter(({ interpretation }) => (interpretation ?? 'N') !== 'N')
      .map(({ id }) => id),
  );
  const inside = new Set(measurements.filter(isInside).map(({ id }) => id));
  return new Set(
    loud.flatMap(({ evidence, statement, statements }) => [
      ...evidence.filter((id) => outside.has(id)),
      ...[...(statement ? [statement] : []), ...(statements ?? [])]
        .flatMap(({ about }) => about)
        .filter((id) => !inside.has(id)),
    ]),
  );
}

/**
 * Returns one value for each quantity, side and fetus. Of several LVEFs, only the one that was used
 * is returned. If values of the same name belong to different fetuses (`APART`), all are returned.
 */
export function compactValues(result: Result): Measurement[] {
  const said = saidIn(result);
  const [ejection] = said.about(said.find('lvef.variability'));
  const shown = countingValues(result.measurements).filter(
    ({ quality }) => quality === 'accepted' || quality === 'review',
  );
  const apart = APART.some((code) => said.find(code));
  const seen = new Set<string>();
  return shown.filter((one) => {
    if (INTERMEDIATE.has(one.section) || SINGLE_PLANE.has(one.concept.key)) return false;
    if (ejection && EJECTION_FRACTIONS.has(one.concept.key) && one.id !== ejection.id) return false;
    const key = JSON.stringify([one.concept.key, one.laterality, one.fetus]);
    if (seen.has(key) && !apart) return false;
    seen.add(key);
    return true;
  });
}

const markOf = ({ interpretation }: Measurement) => (interpretation ? MARKS[interpretation] : '');

/** Returns a name with the side but not the fetus, which is in the title of the group. */
const withSide = (name: string, { laterality }: Measurement) =>
  asHeading(withSubject(name, { laterality, fetus: null }));

/** Labels of abnormal values are bold and therefore wider. */
const fits = (one: Measurement, width: number) =>
  textWidth(withSide(one.label, one), SIZE, markOf(one) ? 'bold' : 'regular') <= width;

/** Labels with more words than this are not wrapped, because an abbreviation is faster to read. */
const WRAPPED_WORDS = 3;

/**
 * Returns the label of a value, or its abbreviation if the label is too long for the column. All
 * values of a quantity get the same form.
 */
function nameOf(
  one: Measurement,
  all: readonly Measurement[],
  { name: width, wrapped }: Widths,
): string {
  const alike = all.filter(({ concept }) => concept.key === one.concept.key);
  const most = one.label.split(' ').length > WRAPPED_WORDS ? 1 : wrapped;
  const whole = alike.every((each) => fits(each, most * (width - 6)));
  const short = conceptEntry(one.concept.key)?.abbreviation ?? one.label;
  return withSide(whole ? one.label : short, one);
}

function place(one: Measurement): string {
  const { reference } = one;
  if (reference?.centile != null) return `centile ${centileText(reference.centile)}`;
  return rangeText(one, false);
}

function cellsOf(
  one: Measurement,
  urgent: ReadonlySet<string>,
  prior: string,
  name: string,
): Cell[] {
  const proposal = one.quality === 'review';
  const mark = markOf(one);
  const style = proposal
    ? { colour: MUTED }
    : urgent.has(one.id)
      ? { colour: ALERT, bold: true }
      : { colour: INK, bold: mark !== '' };
  return [
    { text: name, ...style },
    { text: `${mark}${valueText(one)}`, ...style },
    { text: proposal ? 'needs review' : place(one), colour: MUTED },
    { text: prior, colour: MUTED },
  ];
}

interface Line {
  cells: Cell[];
  title: boolean;
  height: number;
  group: string;
}

const TITLE_SPACE = 6;

const titleLine = (page: Page, group: string, text: string): Line => ({
  cells: [{ text, bold: true }],
  title: true,
  height: textHeight(page, text, { size: SIZE }) + TITLE_SPACE,
  group,
});

/**
 * Repeats the title of the group above the first line of a column if the column starts in the
 * middle of a group.
 */
function titled(page: Page, lines: readonly Line[]): Line[] {
  const [first] = lines;
  if (!first || first.title) return [...lines];
  return [titleLine(page, first.group, `${first.group}, continued`), ...lines];
}

interface ValueGroup {
  title: string;
  values: Measurement[];
}

/**
 * Returns the values of a section, grouped by fetus. If it is unknown to which of several fetuses
 * the values belong, those measured on one image form a group.
 */
function groupsOf(section: string, values: readonly Measurement[]): ValueGroup[] {
  const byFetus = Map.groupBy(values, ({ fetus }) => fetus);
  return [...byFetus].flatMap(([fetus, own]): ValueGroup[] => {
    if (fetus !== null) return [{ title: `${section}, fetus ${fetus}`, values: own }];
    const names = new Set(own.map((one) => withSubject(one.concept.key, one)));
    if (names.size === own.length) return [{ title: section, values: own }];
    const title = `${section}, fetus not identified`;
    const images = [...Map.groupBy(own, ({ source }) => `${source.file} ${source.frame}`).values()];
    if (images.length === own.length) return [{ title, values: own }];
    return images.map((each, at) => ({
      title: `${title}, image ${at + 1} of ${images.length}`,
      values: each,
    }));
  });
}

function linesOf(page: Page, result: Result, widths: Widths): Line[] {
  const columns = columnsFor(widths);
  const values = compactValues(result);
  const urgent = actionable(result);
  const [last] = earlierValues(result);
  const priorOf = (one: Measurement) => {
    const earlier = last?.values.find(({ concept }) => concept === one.concept.key);
    return earlier ? numberText({ ...one, value: earlier.value }) : '';
  };
  const heightOf = (cells: readonly Cell[]) => {
    const each = columns.map(({ width }, at) => {
      const { text = '', bold = false } = cells[at] ?? {};
      return textHeight(page, text, { size: SIZE, bold, width: width - 6 });
    });
    return Math.max(...each) + 2 * PADDING;
  };
  const groups = result.sections.flatMap(({ id, title }) =>
    groupsOf(
      title,
      values.filter(({ section }) => section === id),
    ),
  );
  return groups.flatMap(({ title, values: own }) => {
    const rows = own.map((one) => cellsOf(one, urgent, priorOf(one), nameOf(one, own, widths)));
    return [
      titleLine(page, title, title),
      ...rows.map((cells) => ({ cells, title: false, height: heightOf(cells), group: title })),
    ];
  });
}

const sumOf = (lines: readonly Line[]) => lines.reduce((sum, { height }) => sum + height, 0);

/** Returns how many of the lines fit into `height`. A title is never the last of them. */
function taken(lines: readonly Line[], height: number): number {
  let used = 0;
  let count = 0;
  for (const line of lines) {
    if (used + line.height > height + 0.01) break;
    used += line.height;
    count += 1;
  }
  return lines[count - 1]?.title ? count - 1 : count;
}

const HEAD_HEIGHT = 13;

function drawColumn(
  page: Page,
  columns: readonly Column[],
  lines: readonly Line[],
  at: { x: number; top: number },
): number {
  const { x } = at;
  page.y = at.top;
  const top = at.top;
  if (lines.length === 0) return top;
  within(page, 'Table', () => {
    const head = columns.map(({ title }) => ({ text: title, colour: MUTED }));
    drawRow(page, columns, head, { x, size: 6.5, padding: PADDING, head: true });
    page.y += HEAD_HEIGHT;
    for (const { cells, title, height } of lines) {
      const own = title ? [{ title: '', width: HALF }] : columns;
      if (title) page.y += 3;
      drawRow(page, own, cells, { x, size: SIZE, padding: PADDING, head: title });
      page.y += title ? height - 3 : height;
      rule(page, x, HALF);
    }
  });
  return page.y;
}

/** Minimum height that must be left on a page to start a part of the table there. */
const LEAST = 60;

/** A table up to this height has one column, because two columns would split its groups. */
const SMALL = 90;

const LEGEND =
  '\u25bc below, \u25b2 above the reference range, \u25cf abnormal; red: a finding that needs action. A value outside its range has no mark if its interval reaches into the range. Intervals, repeats and methods are in the appendix.';

function compactLegend(result: Result): string {
  const [last] = earlierValues(result);
  if (!last) return LEGEND;
  return `${LEGEND} Prior: the scan ${counted(last.days_before, 'day')} earlier.`;
}

/** Draws the table at `page.y`. Lines that do not fit continue on the next page. */
export function compactTable(page: Page, result: Result): void {
  const isCompared = earlierValues(result).length > 0;
  const widths = isCompared ? WIDTHS.withPrior : WIDTHS.alone;
  const columns = columnsFor(widths);
  let rest = linesOf(page, result, widths);
  if (rest.length === 0) return;
  heading(page, 'Measurements', LEAST);
  while (rest.length > 0) {
    const room = page.bottom - page.y - HEAD_HEIGHT - 14;
    if (room < LEAST) {
      newPage(page);
      continue;
    }
    const tallest = Math.max(...rest.map(({ height }) => height));
    const whole = sumOf(rest);
    const wanted = whole <= SMALL ? room : Math.min(room, whole / 2 + tallest);
    // At least one row is drawn, so that a row taller than a page does not cause an endless loop.
    const left = Math.max(rest[0]?.title ? 2 : 1, taken(rest, wanted));
    const other = titled(page, rest.slice(left));
    const right = taken(other, room);
    const top = page.y;
    const ends = [
      drawColumn(page, columns, rest.slice(0, left), { x: MARGIN, top }),
      drawColumn(page, columns, other.slice(0, right), { x: MARGIN + HALF + GUTTER, top }),
    ];
    page.y = Math.max(...ends) + 3;
    rest = titled(page, other.slice(right));
    if (rest.length > 0) newPage(page);
  }
  paragraph(page, compactLegend(result), { size: 6.5, colour: MUTED });
}
