import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { textWidth, toPng } from '../../../pipelines/artifacts/drawing/draw.ts';
import { growthChart, growthPanel } from '../../../pipelines/artifacts/drawing/growth-chart.ts';
import { measuredOnCurve } from '../../../pipelines/artifacts/drawing/growth-curve.ts';
import { keyOverlays, overlaysOf } from '../../../pipelines/artifacts/previews/overlays.ts';
import {
  coloursOf,
  legendText,
  renderPreview,
} from '../../../pipelines/artifacts/previews/preview.ts';
import type { Rectangle } from '../../../pipelines/contract/study.ts';
import { maskOutside } from '../../../pipelines/measure/picture.ts';
import { rectanglePolygon } from '../../../pipelines/measure/polygon.ts';
import { INTERGROWTH_CURVES } from '../../../pipelines/obstetric/growth/curves.ts';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
import { shortText, typeset, valueText } from '../../../pipelines/result/render/value-text.ts';
import { withStanding } from '../../../pipelines/result/standing.ts';
import {
  AC,
  BPD,
  FL,
  HC,
  MEASUREMENTS,
  measurement,
  OFD_NOT_ACCEPTED,
} from './example-measurements.ts';
import { TWINS } from './example-result.ts';

function plain(width: number, height: number, level: number) {
  return { width, height, data: new Uint8Array(width * height * 3).fill(level) };
}

const area = { minX: 10, minY: 20, maxX: 29, maxY: 39 };

const litPixels = (data: Uint8Array) => data.filter((value) => value > 0).length / 3;

describe('pixels outside the picture', () => {
  const masked = (areas: Rectangle[]) =>
    litPixels(
      maskOutside(plain(64, 48, 200), { areas: areas.map(rectanglePolygon), text: [] }).data,
    );

  test('are black, while the picture itself is unchanged, including its corners', () => {
    expect(masked([area])).toBe(20 * 20);
  });

  test('are those outside all of several regions', () => {
    expect(masked([area, { minX: 40, minY: 0, maxX: 44, maxY: 9 }])).toBe(20 * 20 + 5 * 10);
  });

  test('do not wrap round if a region extends beyond the frame', () => {
    expect(masked([{ minX: -5, minY: -5, maxX: 100, maxY: 4 }])).toBe(64 * 5);
  });

  test('are all of them if the picture is unknown', () => {
    expect(masked([])).toBe(0);
  });
});

describe('previews', () => {
  test.each([
    [320, 240, 1024],
    [1023, 700, 1024],
    [1024, 768, 1024],
    [1025, 768, 1025],
  ])('a frame of %i by %i pixels is shown %i wide', async (width, height, shown) => {
    const png = await renderPreview(plain(width, height, 30), [HC]);
    const metadata = await sharp(png).metadata();
    expect(metadata).toMatchObject({ format: 'png', width: shown });
    expect(metadata.height).toBeGreaterThan((height * shown) / width);
  });

  test('calipers are drawn where they were placed, with a cross at each end', async () => {
    const dark = plain(640, 480, 0);
    const png = await renderPreview(dark, [FL]);
    const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
    const scale = info.width / 640;
    for (const [x, y] of FL.source.calipers[0]?.points ?? []) {
      const [column, row] = [Math.floor((x + 0.5) * scale), Math.floor((y + 0.5) * scale)];
      expect(data[(row * info.width + column) * info.channels + 2]).toBeGreaterThan(128);
    }
    const [middleX, middleY] = [20, 20];
    expect(data[(middleY * info.width + middleX) * info.channels]).toBe(0);
  });

  test('the picture with calipers differs from the one without', async () => {
    const [bare, marked] = await Promise.all(
      [[], [HC, BPD]].map((shown) => renderPreview(plain(640, 480, 90), shown)),
    );
    expect(bare?.equals(marked ?? Buffer.alloc(0))).toBe(false);
  });
});

describe('the lines below a preview', () => {
  test('have the same colour for measurements with the same calipers, of which one hides the other', () => {
    const onHead = { ...BPD, source: { ...BPD.source, calipers: HC.source.calipers } };
    const colours = coloursOf([HC, onHead, FL]);
    expect(colours.get(onHead)).toBe(colours.get(HC));
    expect(colours.get(FL)).not.toBe(colours.get(HC));
  });

  test('are grey for a value that was not accepted', () => {
    const colours = coloursOf([OFD_NOT_ACCEPTED, HC]);
    expect(colours.get(OFD_NOT_ACCEPTED)).toBe('#9a9a9a');
    expect(colours.get(HC)).not.toBe('#9a9a9a');
  });

  test('differ between values that need review, so that a person can tell their calipers apart', () => {
    const proposals = [HC, FL].map((one) => ({ ...one, quality: 'review' as const }));
    const colours = [...coloursOf(proposals).values()];
    expect(new Set(colours).size).toBe(2);
    expect(colours).not.toContain('#9a9a9a');
  });

  test('begin with a capital letter, as in the report', () => {
    const thickness = measurement('thickness', 'placental-thickness', 28.8);
    expect(legendText(thickness)).toBe('Placental thickness 28.8 mm');
  });
});

test.each([
  ["E/A >= 2, IVRT <= 70 ms, average E/e' > 14", "E/A ≥ 2, IVRT ≤ 70 ms, average E/e' > 14"],
  ['GLS -18.7 ± 2.2 %', 'GLS −18.7 ± 2.2 %'],
  ['z-score -0.1 (centile 45)', 'z-score −0.1 (centile 45)'],
  ['0.6 - 0.9 cm', '0.6 – 0.9 cm'],
  [
    'Lang et al., J Am Soc Echocardiogr 2015;28:1-39',
    'Lang et al., J Am Soc Echocardiogr 2015;28:1-39',
  ],
  ['CC-BY-4.0, INTERGROWTH-21st, 2026-11-29', 'CC-BY-4.0, INTERGROWTH-21st, 2026-11-29'],
])('a report prints "%s" as "%s"', (text, printed) => expect(typeset(text)).toBe(printed));

describe('overlays of a result', () => {
  test('show each measured frame once, numbered within its section', () => {
    const names = overlaysOf(MEASUREMENTS).map(({ name, measurements }) => [
      name,
      measurements.map(({ id }) => id),
    ]);
    expect(names).toEqual([
      ['overlay-biometry-1.png', ['m-hc', 'm-bpd', 'm-ofd']],
      ['overlay-biometry-2.png', ['m-ac']],
      ['overlay-biometry-3.png', ['m-fl']],
    ]);
  });

  test('appear in the report for a second frame only if it shows a new quantity', () => {
    const again = { ...AC, id: 'again', source: { ...AC.source, frame: 6 } };
    const shown = keyOverlays(overlaysOf([AC, again, FL]));
    expect(shown.map(({ name }) => name)).toEqual([
      'overlay-biometry-1.png',
      'overlay-biometry-3.png',
    ]);
  });

  test('appear in the report for both sides of a paired structure', () => {
    const on = (frame: number, laterality: 'left' | 'right') => ({
      ...AC,
      ...{ id: laterality, laterality, source: { ...AC.source, frame } },
    });
    expect(keyOverlays(overlaysOf([on(5, 'left'), on(6, 'right'), on(7, 'left')]))).toHaveLength(2);
  });

  test('are not key images if nothing on the frame was accepted', () => {
    expect(keyOverlays(overlaysOf([OFD_NOT_ACCEPTED]))).toEqual([]);
  });

  test('show the frame of the value that the table states, not that of one that was passed over', () => {
    const on = (frame: number, standing: Measurement['standing']): Measurement => ({
      ...AC,
      id: `ac-${frame}`,
      standing,
      source: { ...AC.source, frame },
    });
    const shown = (values: readonly Measurement[]) =>
      keyOverlays(overlaysOf(values)).map(({ frame }) => frame);
    expect(shown([on(5, 'repeat'), on(6, 'counts')])).toEqual(shown([on(6, 'counts')]));
    expect(shown([on(5, 'repeat'), on(6, 'proposed')])).toEqual(shown([on(6, 'proposed')]));
    expect(shown([on(5, 'repeat')])).toHaveLength(1);
  });
});

describe('growth chart', () => {
  const labels = (gaDays: number, measured = MEASUREMENTS) =>
    (growthChart(INTERGROWTH_CURVES, measured, gaDays)?.marks ?? []).flatMap((mark) =>
      mark.kind === 'label' ? [mark.text] : [],
    );

  test('has a panel for each measured quantity with its value and centile', () => {
    expect(labels(196)).toEqual(
      expect.arrayContaining([
        'Head circumference (mm)',
        '262.4 mm, centile 59',
        'Abdominal circumference (mm)',
        '214.9 mm, centile 5.2',
        'Femur length (mm)',
        'Estimated fetal weight (g)',
        '1004 g, centile 14',
      ]),
    );
  });

  test('states its charts, and that it is a draft', () => {
    const all = labels(196).join('\n');
    expect(all).toContain('Papageorghiou et al., Lancet 2014;384:869-879');
    expect(all).toContain('AI draft, not verified');
  });

  test('is not drawn if no value was compared with a chart', () => {
    expect(growthChart(INTERGROWTH_CURVES, [{ ...HC, reference: null }], 196)).toBeNull();
    expect(growthChart(INTERGROWTH_CURVES, [{ ...HC, quality: 'low' }], 196)).toBeNull();
  });

  test('of twins shows both', () => {
    const all = labels(196, TWINS.measurements);
    expect(all).toContain('Fetus A: 262.4 mm, centile 59');
    expect(all).toContain('Fetus B: 262.4 mm, centile 59');
  });

  test('of repeated values shows only the median', () => {
    const median = measurement('median', 'hc', 261, {
      derivation: 'median',
      inputs: ['m-hc'],
      reference: HC.reference,
    });
    const values = labels(196, withStanding([HC, median])).filter((text) =>
      text.includes('centile 59'),
    );
    expect(values).toEqual(['261.0 mm, centile 59']);
  });

  test.each([
    [98, 97.9],
    [280, 333.9],
  ])('keeps all text inside at the edge of the chart, day %i', (gaDays, value) => {
    const [curve] = INTERGROWTH_CURVES;
    if (!curve) throw new Error('no curve');
    const panel = growthPanel(curve, [{ ...HC, value }], gaDays);
    for (const mark of panel.marks) {
      if (mark.kind !== 'label') continue;
      const width = textWidth(mark.text, mark.size, mark.bold ? 'bold' : 'regular');
      const left = mark.at.x - { start: 0, middle: width / 2, end: width }[mark.anchor ?? 'start'];
      expect(left).toBeGreaterThanOrEqual(0);
      expect(left + width).toBeLessThanOrEqual(panel.width);
    }
  });

  test('shows a weight only on the chart for its formula', () => {
    const weight = (chart: string) =>
      measurement('efw', 'efw', 1100, {
        unit: 'g',
        reference: { low: 950, high: 1280, centile: 50, z_score: 0, chart },
      });
    const drawnOn = (chart: string) =>
      INTERGROWTH_CURVES.filter((curve) => measuredOnCurve(curve, [weight(chart)]).length > 0).map(
        (curve) => curve.chart,
      );
    expect(drawnOn('intergrowth-2017-efw')).toEqual(['intergrowth-2017-efw']);
    expect(drawnOn('intergrowth-2020-efw')).toEqual(['intergrowth-2020-efw']);
  });

  test('draws the curves of the published table (HC at 28 weeks)', () => {
    const [curve] = INTERGROWTH_CURVES;
    const drawn = [3, 10, 50, 90, 97].map((centile) => curve?.valueAt(28, centile)?.toFixed(1));
    expect(drawn).toEqual(['243.6', '248.9', '260.4', '271.8', '277.2']);
  });

  test('has the drawn size as PNG, and is not empty', async () => {
    const chart = growthChart(INTERGROWTH_CURVES, MEASUREMENTS, 196);
    if (!chart) throw new Error('no chart');
    const png = await toPng(chart, 2);
    const { width, height } = await sharp(png).metadata();
    expect([width, height]).toEqual([chart.width * 2, chart.height * 2]);
    const { channels } = await sharp(png).stats();
    expect(channels[0]?.stdev).toBeGreaterThan(10);
  });
});

describe('words', () => {
  test.each([
    [measurement('a', 'hc', 262.44), '262.4 mm'],
    [measurement('b', 'hc-ac-ratio', 1.2214, { unit: '1' }), '1.22'],
    [measurement('c', 'efw', 1003.7, { unit: 'g' }), '1004 g'],
    [measurement('d', 'ga-by-hc', 199.6, { unit: 'd' }), '28+4 weeks'],
  ])('a value is shown with the decimals and unit of its concept', (value, text) => {
    expect(valueText(value)).toBe(text);
  });

  test('a value that was not accepted is mentioned without its number', () => {
    expect(shortText(OFD_NOT_ACCEPTED)).toBe('OFD not accepted');
  });
});
