import { describe, expect, it } from 'vitest';
import { measurementTable } from '../../../../pipelines/artifacts/pdf/measurement-table.ts';
import { CONCEPTS, type ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import type { Measurement } from '../../../../pipelines/result/envelope.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { cutOffsOf } from '../../../../pipelines/result/obstetric/limits.ts';
import { formatValue, numberText } from '../../../../pipelines/result/render/number-text.ts';
import { remarkOfBiometry } from '../../../../pipelines/result/render/obstetric/biometry.ts';
import { writeReport } from '../../../../pipelines/result/render/obstetric/report.ts';
import { remarkText } from '../../../../pipelines/result/render/render.ts';
import { unsupportedClaims } from '../../../../pipelines/result/render/report-check.ts';
import { valueText } from '../../../../pipelines/result/render/value-text.ts';
import { measurementRows } from '../../../../src/doors/console/result-view.ts';
import { interpretReadings, MEDIAN_28_WEEKS } from '../../obstetric/evidence-sample.ts';

const measured = (key: ConceptKey, value: number, given: Partial<Measurement> = {}) =>
  createMeasurement(key, key, value, 'cart-sr', { section: 'doppler', ...given });

const KEYS = (Object.keys(CONCEPTS) as ConceptKey[]).filter((key) => cutOffsOf(key).length > 0);

const NT_LIMIT = 2.5985;
const withLimit = (nt: number) =>
  measured('nuchal-translucency', nt, {
    reference: {
      low: null,
      high: NT_LIMIT,
      centile: null,
      z_score: null,
      chart: 'fmf-nuchal-translucency',
    },
  });

describe('a value next to the category that was derived from it', () => {
  it.each([
    ['deepest-vertical-pocket', 19.97, '19.97 mm'],
    ['deepest-vertical-pocket', 20, '20.0 mm'],
    ['deepest-vertical-pocket', 20.04, '20.04 mm'],
    ['deepest-vertical-pocket', 0.04, '0.04 mm'],
    ['cervical-length', 25.04, '25.04 mm'],
    ['middle-cerebral-artery-psv-mom', 1.497, '1.497'],
    ['fetal-heart-rate', 109.7, '109.7/min'],
    ['fetal-heart-rate', 140.4, '140/min'],
    ['placenta-to-os', -0.04, '-0.04 mm'],
    ['efw', 3999.6, '3999.6 g'],
    ['angle-of-progression', 119.7, '119.7°'],
    ['hc', 262.44, '262.4 mm'],
  ] as const)('%s of %d is shown as %s, in sentences and tables', (key, value, text) => {
    expect(formatValue(key, value)).toBe(text);
    expect(valueText(measured(key, value))).toBe(text);
  });

  it.each([
    [2.62, '2.6'],
    [2.6, '2.6'],
    [2.59, '2.59'],
    [3.46, '3.46'],
  ])(
    'a nuchal translucency of %d mm also stays on its side of the limit for its CRL',
    (nt, text) => {
      expect(numberText(withLimit(nt))).toBe(text);
    },
  );

  it.each(KEYS)('%s stays on its side of each of its cut-offs', (key) => {
    const step = 10 ** -CONCEPTS[key].decimals;
    for (const cutOff of cutOffsOf(key)) {
      const shown = (value: number) => Number(numberText(measured(key, value)));
      expect(shown(cutOff - step / 4)).toBeLessThan(cutOff);
      expect(shown(cutOff)).toBe(cutOff);
      expect(shown(cutOff + step / 4)).toBeGreaterThan(cutOff);
    }
  });
});

describe('of one value', () => {
  const studied = interpretReadings({
    readings: MEDIAN_28_WEEKS(),
    options: { dating: { ga_days: 196 } },
  });
  const mom = measured('middle-cerebral-artery-psv-mom', 1.497, { uncertainty: 1.5 });
  const result = {
    ...studied,
    sections: studied.sections.map((one) =>
      one.id === 'doppler' ? { ...one, status: 'partial' as const, summary: 'One vessel.' } : one,
    ),
    measurements: [mom],
  };

  it('report, PDF and console show the same number, whose margin is on neither side', () => {
    const report = writeReport(result);
    expect(report.findings.join('\n')).toContain('median: 1.497 ± 1.50;');
    expect(unsupportedClaims(report, result)).toEqual([]);
    const cells = measurementTable(result).groups.flatMap(({ rows }) => rows.flat());
    expect(cells.map(({ text }) => text)).toContain('1.497 ± 1.50');
    const [row] = measurementRows(result.measurements, []);
    expect(row?.cart?.text ?? row?.model?.text).toBe('1.497');
  });

  it('a margin that rounds to zero has one significant digit in report and PDF', () => {
    const close = { ...result, measurements: [{ ...mom, uncertainty: 0.004 }] };
    const report = writeReport(close);
    expect(report.findings.join('\n')).toContain('median: 1.497 ± 0.004;');
    expect(unsupportedClaims(report, close)).toEqual([]);
    const cells = measurementTable(close).groups.flatMap(({ rows }) => rows.flat());
    expect(cells.map(({ text }) => text)).toContain('1.497 ± 0.004');
  });

  it('a value that the reader typed has no method', () => {
    const typed = {
      ...mom,
      ...{ confirmed: 'entered' as const, uncertainty: null },
      remarks: [{ code: 'review.by-person', params: { typed: true } }],
    };
    const report = writeReport({ ...result, measurements: [typed] });
    expect(report.findings.join('\n')).toContain('median: 1.497. Note: entered by the reader.');
  });
});

describe('a ratio of lengths that contradict each other', () => {
  const noteOf = (ratio: number, low: number, high: number) => {
    const remarks = [remarkOfBiometry('biometry.contradicts', { id: 'hc-ac', ratio, low, high })];
    return remarkText(measured('hc', 260, { remarks }));
  };

  it.each([
    [0.7, 0.768, 1.412, '0.70, outside the plausible range of 0.77 to 1.41'],
    [1.4511, 0.811, 1.4484, '1.451, outside the plausible range of 0.811 to 1.448'],
    [0.76799, 0.76802, 1.412, '0.7680, outside the plausible range of 0.7680 to 1.4120'],
  ])('of %f is shown outside its range', (ratio, low, high, text) => {
    expect(noteOf(ratio, low, high)).toBe(`not used: HC/AC is ${text}`);
  });
});
