import type {
  GrowthChart,
  GrowthCharts,
} from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import type { Measured, MeasurementRow } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import type { PlotContent, PlotSeries } from './plot-content.ts';

/** Formats fractional weeks as weeks and days, such as "29+0". */
export function weeksText(weeks: number): string {
  const days = Math.round(weeks * 7);
  return `${Math.floor(days / 7)}+${days % 7}`;
}

const usedOf = ({ model, cart, given }: MeasurementRow) =>
  [model, cart, given].find((one) => one?.quality === 'accepted');

/** Returns true if a value's centile is from this chart; other charts of the quantity differ. */
const belongsOn = ({ chart }: GrowthChart, { reference }: Measured): boolean =>
  (reference?.chart ?? chart) === chart;

/** Returns the chart's text alternative. */
function words(
  { concept, label, unit, measured }: GrowthChart,
  rows: readonly MeasurementRow[],
): string {
  const values = measured.map(({ value, weeks, fetus }) => {
    const row = rows.find((one) => one.concept === concept && one.fetus === fetus);
    const centile = row && usedOf(row)?.reference?.centile;
    const who = fetus ? `Fetus ${fetus}: ` : '';
    const where = centile ? `centile ${centile}` : 'without a centile';
    const text = value.toFixed(row?.decimals ?? 0);
    return `${who}${label} ${text} ${unit} at ${weeksText(weeks)} weeks, ${where}`;
  });
  return values.join('; ');
}

/** Returns the curves, then the trajectory of earlier scans, then the measured values. */
function growthContent(chart: GrowthChart, rows: readonly MeasurementRow[]): PlotContent {
  const curves = chart.curves.map(
    ({ centile, points }): PlotSeries => ({
      name: `${centile}th centile`,
      colour: centile === 50 ? '--accent' : '--ink-soft',
      width: centile === 50 ? 2 : 1,
      dash: centile === 3 || centile === 97 ? [4, 3] : undefined,
      points,
    }),
  );
  const measured = chart.measured.map(({ weeks, value }) => [weeks, value] as const);
  const [only] = measured;
  const earlier = chart.earlier.map(({ weeks, value }) => [weeks, value] as const);
  const trajectory: PlotSeries[] =
    earlier.length > 0 && only && measured.length === 1
      ? [
          {
            name: 'earlier',
            colour: '--ink',
            width: 1,
            dash: [2, 2],
            points: [...earlier, only],
          },
        ]
      : [];
  return {
    label: `Growth chart. ${words(chart, rows)}`,
    height: 230,
    xText: 'Gestational age (weeks)',
    yText: `${chart.label} (${chart.unit})`,
    series: [
      ...curves,
      ...trajectory,
      {
        name: 'measured',
        colour: '--ink',
        width: 0,
        dots: true,
        points: [...earlier, ...measured],
      },
    ],
  };
}

/**
 * Returns the chart with the values of the table. The chart was stored with the draft, and a reader
 * may have changed, rejected or added a value since.
 * @param weeks gestational age on the day of the scan.
 */
export function asReviewed(
  chart: GrowthChart,
  rows: readonly MeasurementRow[],
  weeks: number,
): GrowthChart {
  const own = rows.filter(({ concept }) => concept === chart.concept);
  const kept = chart.measured.flatMap((point) => {
    const alike = chart.measured.filter(({ fetus }) => fetus === point.fetus);
    if (alike.length > 1) return [point];
    const row = own.find(({ fetus }) => fetus === point.fetus);
    const used = row && usedOf(row);
    return used && belongsOn(chart, used) ? [{ ...point, value: used.value }] : [];
  });
  const added = own.flatMap((row) => {
    const { fetus } = row;
    const used = usedOf(row);
    if (!used?.reference?.centile || !belongsOn(chart, used)) return [];
    if (chart.measured.some((point) => point.fetus === fetus)) return [];
    return [{ measurement: used.id, fetus, weeks, value: used.value, centile: null }];
  });
  return { ...chart, measured: [...kept, ...added] };
}

const contents = new WeakMap<GrowthChart['curves'], { words: string; content: PlotContent }>();

/** Returns the same content object for the same chart, so that the chart is drawn only once. */
function contentOf(chart: GrowthChart, rows: readonly MeasurementRow[]): PlotContent {
  const drawn = contents.get(chart.curves);
  const now = words(chart, rows);
  if (drawn?.words === now) return drawn.content;
  const content = growthContent(chart, rows);
  contents.set(chart.curves, { words: now, content });
  return content;
}

/**
 * Renders each quantity with its centile curves: the 3rd, 10th, 50th, 90th and 97th centile.
 * @param rows rows of the measurement table, which contain the decimals and centiles that the
 * charts show.
 */
export function growthView(
  growth: GrowthCharts | null,
  rows: readonly MeasurementRow[],
): TemplateResult | typeof nothing {
  if (!growth) return nothing;
  const weeks = growth.ga_days / 7;
  // A chart whose value was rejected says so. Other charts without a value are left out.
  const charts = growth.charts.flatMap((chart) => {
    const reviewed = asReviewed(chart, rows, weeks);
    return chart.measured.length + reviewed.measured.length > 0 ? [reviewed] : [];
  });
  if (charts.length === 0) return nothing;
  const drawn = growth.charts[0]?.curves.map(({ centile }) => centile).join(', ') ?? '';
  return html`<section class="panel" id="growth" aria-labelledby="growth-head">
    <header>
      <h2 id="growth-head">Growth at ${weeksText(weeks)} weeks</h2>
      <span class="small soft push">Centiles ${drawn}</span>
    </header>
    <div class="plots">
      ${charts.map(
        (chart) => html`<figure>
          <sonogate-plot .content=${contentOf(chart, rows)}></sonogate-plot>
          <figcaption class="small">
            ${words(chart, rows) || `${chart.label}: no value`}. <span class="soft" title=${chart.citation}>${chart.chart}</span>
          </figcaption>
        </figure>`,
      )}
    </div>
  </section>`;
}
