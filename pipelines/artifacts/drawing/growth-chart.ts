import type { Point } from '../../contract/image.ts';
import type { EarlierData } from '../../result/earlier-values.ts';
import type { Measurement } from '../../result/envelope.ts';
import { weeksAndDays } from '../../result/render/obstetric/shared.ts';
import { DRAFT_NOTICE } from '../../result/render/statement.ts';
import { centileText } from '../../result/render/unit-text.ts';
import { valueText } from '../../result/render/value-text.ts';
import { textWidth, toPng } from './draw.ts';
import { type Drawing, disc, type Label, line, type Mark, rectangle } from './drawing.ts';
import {
  DRAWN_CENTILES,
  type GrowthCurve,
  measuredOnCurve,
  pointsOnCurve,
} from './growth-curve.ts';

const PANEL = { width: 380, height: 290 } as const;
const PLOT = { left: 48, right: 344, top: 34, bottom: 232 } as const;
const COLUMNS = 2;
const FOOTER = 22;
const LABEL_SPACING = 8;

const INK = '#1f2933';
const FAINT = '#d5dbe1';
const CURVE = '#35618f';
const BAND = '#dce8f4';
/**
 * Values are drawn in a dark colour, because most of them are normal and red is reserved for values
 * that need action.
 */
const POINT_COLOUR = '#14213d';

interface Axis {
  from: number;
  to: number;
  /** Distance between labelled grid lines. */
  step: number;
}

const STEPS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000];

/** Returns an axis that includes both values and has at most eight steps. */
function axisOf(low: number, high: number): Axis {
  const step = STEPS.find((candidate) => (high - low) / candidate <= 7) ?? (high - low) / 5;
  return { from: Math.floor(low / step) * step, to: Math.ceil(high / step) * step, step };
}

function ticks({ from, to, step }: Axis): number[] {
  const count = Math.round((to - from) / step);
  return Array.from({ length: count + 1 }, (_, index) => from + index * step);
}

interface Plot {
  place(week: number, value: number): Point;
  weeks: Axis;
  values: Axis;
}

function plotOf(curve: GrowthCurve, points: readonly Measurement[]): Plot {
  const ends = [3, 97].flatMap((centile) =>
    pointsOnCurve(curve, centile).map(({ value }) => value),
  );
  const all = [...ends, ...points.map(({ value }) => value)];
  const values = axisOf(Math.min(...all), Math.max(...all));
  const weeks = { from: curve.fromWeek, to: curve.toWeek, step: 4 };
  const place = (week: number, value: number): Point => ({
    x: PLOT.left + ((week - weeks.from) / (weeks.to - weeks.from)) * (PLOT.right - PLOT.left),
    y: PLOT.bottom - ((value - values.from) / (values.to - values.from)) * (PLOT.bottom - PLOT.top),
  });
  return { place, weeks, values };
}

const label = (text: string, at: Point, extra: Partial<Label> = {}): Label => ({
  kind: 'label',
  text,
  at,
  size: 9,
  colour: INK,
  ...extra,
});

function grid({ place, weeks, values }: Plot): Mark[] {
  const vertical = ticks({
    ...weeks,
    to: weeks.from + 4 * Math.floor((weeks.to - weeks.from) / 4),
  });
  return [
    ...ticks(values).flatMap((value): Mark[] => {
      const { y } = place(weeks.from, value);
      return [
        line({ x: PLOT.left, y }, { x: PLOT.right, y }, FAINT, 0.5),
        label(String(value), { x: PLOT.left - 5, y: y + 3 }, { anchor: 'end' }),
      ];
    }),
    ...vertical.flatMap((week): Mark[] => {
      const { x } = place(week, values.from);
      return [
        line({ x, y: PLOT.top }, { x, y: PLOT.bottom }, FAINT, 0.5),
        label(String(week), { x, y: PLOT.bottom + 13 }, { anchor: 'middle' }),
      ];
    }),
    label(
      'Gestational age (weeks)',
      { x: (PLOT.left + PLOT.right) / 2, y: PLOT.bottom + 27 },
      { anchor: 'middle' },
    ),
  ];
}

function curves(curve: GrowthCurve, { place }: Plot): Mark[] {
  const traced = DRAWN_CENTILES.map((centile) => ({
    centile,
    points: pointsOnCurve(curve, centile).map(({ week, value }) => place(week, value)),
  }));
  const edge = (centile: number) => traced.find((one) => one.centile === centile)?.points ?? [];
  const band: Mark = {
    kind: 'area',
    points: [...edge(10), ...edge(90).toReversed()],
    colour: BAND,
  };
  const lines = traced.map(
    ({ centile, points }): Mark => ({
      kind: 'path',
      points,
      colour: CURVE,
      width: centile === 50 ? 1.6 : 0.9,
      dash: centile === 3 || centile === 97 ? [3, 2] : undefined,
    }),
  );
  return [band, ...lines, ...centileLabels(traced)];
}

/**
 * Labels the curves at their right ends. If labels are too close to each other, they are moved
 * apart.
 */
function centileLabels(traced: readonly { centile: number; points: readonly Point[] }[]): Mark[] {
  const ends = traced.flatMap(({ centile, points }) => {
    const end = points.at(-1);
    return end ? [{ centile, ...end }] : [];
  });
  let above = Number.POSITIVE_INFINITY;
  return ends.map(({ centile, x, y }) => {
    above = Math.min(y, above - LABEL_SPACING);
    return label(String(centile), { x: x + 4, y: above + 3 }, { size: 8, colour: CURVE });
  });
}

function measured(measurement: Measurement, gaDays: number, plot: Plot): Mark[] {
  const at = plot.place(gaDays / 7, measurement.value);
  const who = measurement.fetus ? `Fetus ${measurement.fetus}: ` : '';
  const centile = centileText(measurement.reference?.centile ?? Number.NaN);
  const text = `${who}${valueText(measurement)}, centile ${centile}`;
  const leftHalf = at.x < (PLOT.left + PLOT.right) / 2;
  return [
    disc(at, 4.5, '#ffffff'),
    disc(at, 3.5, POINT_COLOUR),
    label(
      text,
      { x: at.x + (leftHalf ? -6 : 8), y: at.y + (leftHalf ? -9 : 16) },
      { anchor: leftHalf ? 'end' : 'start', colour: POINT_COLOUR, bold: true },
    ),
  ];
}

/**
 * Draws the values of earlier scans as open circles, joined by a line to the value of this scan.
 * Returns nothing if this scan has no value, or several, because the line could then lead to any of
 * them.
 */
function trajectory(
  curve: GrowthCurve,
  points: readonly Measurement[],
  gaDays: number,
  earlier: EarlierData,
  { place }: Plot,
): Mark[] {
  const past = earlier.flatMap(({ ga_days: days, values }) =>
    values
      .filter(({ concept, chart }) => concept === curve.concept && chart === curve.chart)
      .map(({ value }) => ({ days, at: place(days / 7, value) })),
  );
  const [only, ...others] = points;
  if (past.length === 0 || !only || others.length > 0) return [];
  const path = past
    .toSorted((one, other) => one.days - other.days)
    .map(({ at }) => at)
    .concat(place(gaDays / 7, only.value));
  return [
    { kind: 'path', points: path, colour: POINT_COLOUR, width: 0.9, dash: [2, 2] },
    ...past.flatMap(({ at }) => [disc(at, 3.5, POINT_COLOUR), disc(at, 2, '#ffffff')]),
  ];
}

/** Moves the label of a point inwards if it would extend beyond the plot and be cut off. */
function keptInside(mark: Mark): Mark {
  if (mark.kind !== 'label' || mark.colour !== POINT_COLOUR) return mark;
  const room = { start: PLOT.right - mark.at.x, middle: 0, end: mark.at.x - PLOT.left };
  const needed = textWidth(mark.text, mark.size, 'bold');
  const anchor = mark.anchor ?? 'start';
  if (room[anchor] >= needed) return mark;
  return anchor === 'end'
    ? { ...mark, anchor: 'start', at: { x: PLOT.left + 4, y: mark.at.y } }
    : { ...mark, anchor: 'end', at: { x: PLOT.right - 4, y: mark.at.y } };
}

/** Draws a light background under the label of a point, so that no curve crosses it. */
function withBackground(mark: Mark): Mark[] {
  if (mark.kind !== 'label') return [mark];
  const width = textWidth(mark.text, mark.size, mark.bold ? 'bold' : 'regular');
  const left = mark.anchor === 'end' ? mark.at.x - width : mark.at.x;
  const corner = { x: left - 2, y: mark.at.y - mark.size };
  return [rectangle(corner, width + 4, mark.size + 3, '#ffffff', 0.85), mark];
}

/** Draws one quantity on its chart, including its values from earlier scans. */
export function growthPanel(
  curve: GrowthCurve,
  measurements: readonly Measurement[],
  gaDays: number,
  earlier: EarlierData = [],
): Drawing {
  const points = measuredOnCurve(curve, measurements);
  const plot = plotOf(curve, points);
  const marks = [
    rectangle({ x: 0, y: 0 }, PANEL.width, PANEL.height, '#ffffff'),
    ...grid(plot),
    ...curves(curve, plot),
    ...trajectory(curve, points, gaDays, earlier, plot),
    ...points
      .flatMap((measurement) => measured(measurement, gaDays, plot))
      .map(keptInside)
      .flatMap(withBackground),
    label(`${curve.label} (${curve.unit})`, { x: PLOT.left, y: 20 }, { size: 12, bold: true }),
    ...curve.source.map((text, index) =>
      label(
        text,
        { x: PLOT.left, y: PLOT.bottom + 42 + 9 * index },
        { size: 7, colour: '#52606d' },
      ),
    ),
  ];
  return { ...PANEL, marks };
}

function moved(mark: Mark, dx: number, dy: number): Mark {
  const shift = ({ x, y }: Point): Point => ({ x: x + dx, y: y + dy });
  return mark.kind === 'label'
    ? { ...mark, at: shift(mark.at) }
    : { ...mark, points: mark.points.map(shift) };
}

/** Draws the panel of each quantity that was measured, side by side; null if none was measured. */
export function growthChart(
  growthCurves: readonly GrowthCurve[],
  measurements: readonly Measurement[],
  gaDays: number,
  earlier: EarlierData = [],
): Drawing | null {
  const shown = growthCurves.filter((curve) => measuredOnCurve(curve, measurements).length > 0);
  if (shown.length === 0) return null;
  const columns = Math.min(COLUMNS, shown.length);
  const width = columns * PANEL.width;
  const height = Math.ceil(shown.length / columns) * PANEL.height + FOOTER;
  const panels = shown.flatMap((curve, index) => {
    const [dx, dy] = [(index % columns) * PANEL.width, Math.floor(index / columns) * PANEL.height];
    return growthPanel(curve, measurements, gaDays, earlier).marks.map((mark) =>
      moved(mark, dx, dy),
    );
  });
  const footer = label(
    `${DRAFT_NOTICE}. Gestational age ${weeksAndDays(gaDays)}. Band: 10th to 90th centile.`,
    { x: PLOT.left, y: height - 8 },
  );
  const ground = rectangle({ x: 0, y: 0 }, width, height, '#ffffff');
  return { width, height, marks: [ground, ...panels, footer] };
}

/** Renders `growth-chart.png` with two pixels per unit of the drawing. */
export function renderGrowthChart(drawing: Drawing): Promise<Buffer> {
  return toPng(drawing, 2);
}
