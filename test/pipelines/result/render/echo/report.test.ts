import { describe, expect, it } from 'vitest';
import type { Measurement } from '../../../../../pipelines/result/envelope.ts';
import { writeReport } from '../../../../../pipelines/result/render/echo/report.ts';
import { unsupportedClaims } from '../../../../../pipelines/result/render/report-check.ts';
import { NOTHING_ACCEPTED } from '../../../../../pipelines/result/render/report-lines.ts';
import { interpreted } from '../../../echo/interpret-sample.ts';

const { result } = interpreted({ ivsd: 1, lvidd: 5, lvpwd: 1, lvids: 3.2 });

/**
 * Returns the report's row for the diastolic diameter, with these changes to its interpretation and
 * range.
 */
function rowOf(changes: Partial<Measurement>): string {
  const measurements = result.measurements.map((one) =>
    one.concept.key === 'lvidd' ? { ...one, ...changes } : one,
  );
  const changed = { ...result, measurements };
  const report = writeReport(changed);
  expect(unsupportedClaims(report, changed)).toEqual([]);
  const label = measurements.find(({ concept }) => concept.key === 'lvidd')?.label ?? '?';
  return report.findings.find((line) => line.startsWith(label)) ?? '';
}

const reference = { low: 4.2, high: 5.8, centile: null, z_score: null, chart: 'some chart' };

describe('a row of the echo report', () => {
  it.each([
    ['N', 'within the range of'],
    ['L', 'below the range of'],
    ['H', 'above the range of'],
    ['A', 'abnormal by the range of'],
    [null, 'not compared with the range of'],
  ] as const)('of interpretation %s is %s its chart', (interpretation, words) => {
    const row = rowOf({ interpretation, reference });
    expect(row).toContain(` 5.0 cm, ${words} some chart;`);
  });

  it('without a range does not mention a range', () => {
    expect(rowOf({ interpretation: null, reference: null })).not.toContain('range of');
  });
});

describe('the findings of the echo report', () => {
  it('state that nothing was accepted only if that is so', () => {
    expect(writeReport(interpreted({}, 'cart-sr', { surface: null }).result).findings).toContain(
      NOTHING_ACCEPTED,
    );
    expect(writeReport(result).findings).not.toContain(NOTHING_ACCEPTED);
  });

  it('do not repeat the limitations', () => {
    const given = { ivsd: 1, lvidd: 5, lvpwd: 1, lvids: 3.2, 'lvef-biplane': 60 };
    const { result: unknown } = interpreted(given, 'cart-sr', { sex: null });
    const { findings, limitations } = writeReport(unknown);
    const gaps = unknown.sections.flatMap(({ reason }) => reason?.detail ?? []);
    expect(gaps.length).toBeGreaterThan(3);
    for (const gap of gaps) expect(findings.join(' ')).not.toContain(gap);
    const sexUnknown = 'The sex of the patient is unknown';
    expect(findings.join(' ')).not.toContain(sexUnknown);
    expect(limitations.filter((line) => line.includes(sexUnknown))).toHaveLength(1);
  });
});

describe('the limitations of the echo report', () => {
  it('state once that the sex is unknown', () => {
    const given = { ivsd: 1, lvidd: 5, lvpwd: 1, lvids: 3.2, 'lvef-biplane': 60 };
    const { result: unknown } = interpreted(given, 'cart-sr', { sex: null });
    const text =
      'The sex of the patient is unknown: only grades that hold for both sexes are given.';
    const sections = unknown.sections.filter(({ reason }) => reason?.detail.includes(text));
    expect(sections.length).toBeGreaterThan(1);
    const own = writeReport(unknown).limitations.filter((line) => line.includes(text));
    expect(own).toEqual([text]);
  });

  it('state that an earlier examination was not compared', () => {
    const of = (priors: number) =>
      writeReport({ ...result, input_summary: { ...result.input_summary, priors } }).limitations;
    expect(of(2).filter((line) => !of(0).includes(line))).toEqual([
      'The earlier examination was not compared with this one.',
    ]);
  });
});
