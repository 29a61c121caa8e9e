import { describe, expect, it } from 'vitest';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { writeReport } from '../../../../pipelines/result/render/obstetric/report.ts';
import { renderStatement } from '../../../../pipelines/result/render/render.ts';
import { unsupportedClaims } from '../../../../pipelines/result/render/report-check.ts';
import { limitationsOf, refusedLines } from '../../../../pipelines/result/render/report-lines.ts';
import { sayOfRun } from '../../../../pipelines/result/render/shared.ts';
import { isAssessed } from '../../../../pipelines/result/section-outcome.ts';
import type { Statement } from '../../../../pipelines/result/statement.ts';
import { interpretReadings, MEDIAN_28_WEEKS } from '../../obstetric/evidence-sample.ts';

const LEFT = createMeasurement('heart-left', 'fetal-heart-rate', 143, 'cine-periodicity', {
  section: 'doppler',
  laterality: 'left',
});

/** Returns a dated study in which one section was assessed and has one left-side value. */
function sample(): Result {
  const result = interpretReadings({
    readings: MEDIAN_28_WEEKS(),
    options: { dating: { ga_days: 196 } },
  });
  const sections = result.sections.map((one) =>
    one.id === 'doppler' ? { ...one, status: 'partial' as const, summary: 'One vessel.' } : one,
  );
  return { ...result, sections, measurements: [...result.measurements, LEFT] };
}

const result = sample();
const written = writeReport(result);
/** The report without its impression. The impression is checked against its own statements. */
const report = { ...written, impression: [], impression_lines: undefined };
const check = (findings: readonly string[]) =>
  unsupportedClaims({ ...report, findings: [...findings] }, result);

/**
 * Returns the line with one digit of its n-th number changed, or null if there is no such number.
 */
function withChangedDigit(line: string, n: number): string | null {
  const match = [...line.matchAll(/\d+(?:\.\d+)?/g)][n];
  if (!match) return null;
  const last = match.index + match[0].length - 1;
  const digit = (Number(line[last]) + 5) % 10;
  return `${line.slice(0, last)}${digit}${line.slice(last + 1)}`;
}

/** Lines whose numbers come from measurements, recognized by the label at the beginning. */
const rows = report.findings.filter((line) =>
  result.measurements.some(({ label }) => line.startsWith(label)),
);

describe('the check of a draft report against its result', () => {
  it('accepts what was written from the result', () => {
    expect(unsupportedClaims(report, result)).toEqual([]);
  });

  it('has lines of every measured section to check', () => {
    expect(rows.length).toBeGreaterThan(8);
    expect(rows.some((line) => line.includes('(left)'))).toBe(true);
  });

  it('refuses a changed digit anywhere in a row', () => {
    const changed = rows.flatMap((line) =>
      [0, 1, 2, 3].flatMap((n) => withChangedDigit(line, n) ?? []),
    );
    expect(changed.length).toBeGreaterThan(20);
    for (const line of changed) expect([line, check([line]).length]).toEqual([line, 1]);
  });

  it.each([
    [/ mm\b/, ' cm'],
    [/ g\b/, ' kg'],
    [/ weeks\b/, ' days'],
    [/\/min/, ' %'],
    [/ mm\b/, ''],
  ])('refuses a swapped unit: %s for %s', (unit, other) => {
    const line = rows.find((row) => unit.test(row));
    if (!line) throw new Error(`no row with ${unit}`);
    expect(check([line])).toEqual([]);
    expect(check([line.replace(unit, other)])).toHaveLength(1);
  });

  it('refuses the wrong side, and a side that is left out', () => {
    const line = rows.find((row) => row.includes('(left)')) ?? '';
    expect(check([line])).toEqual([]);
    expect(check([line.replace('(left)', '(right)')])).toHaveLength(1);
    expect(check([line.replace(' (left)', '')])).toHaveLength(1);
    expect(check(['The right side is normal.'])).toHaveLength(1);
  });

  it.each(['A', '1', 'Twin 2'])('accepts a row of fetus %s, and of no other', (fetus) => {
    const line = `${LEFT.label} (fetus ${fetus}): 143/min`;
    const held = {
      ...result,
      measurements: [
        { ...LEFT, laterality: null, fetus },
        { ...LEFT, laterality: null, fetus: 'B', value: 121 },
      ],
    };
    const claims = (row: string) =>
      unsupportedClaims({ ...report, findings: [row], impression: [], limitations: [] }, held);
    expect(claims(line)).toEqual([]);
    expect(claims(line.replace(`fetus ${fetus}`, 'fetus B'))).toHaveLength(1);
    expect(claims(line.replace('143', '121'))).toHaveLength(1);
    expect(claims(line.replace(` (fetus ${fetus})`, ''))).toHaveLength(1);
    expect(claims(`The heart of fetus ${fetus} beats.`)).toHaveLength(1);
  });

  it('checks the side as well as the fetus', () => {
    const held = { ...result, measurements: [{ ...LEFT, fetus: '2' }] };
    const claims = (whose: string) =>
      unsupportedClaims(
        {
          ...report,
          findings: [`${LEFT.label} (${whose}): 143/min`],
          impression: [],
          limitations: [],
        },
        held,
      );
    expect(claims('left, fetus 2')).toEqual([]);
    expect(claims('right, fetus 2')).toHaveLength(1);
    expect(claims('left, fetus 1')).toHaveLength(1);
  });

  it('accepts the line about files that were not read, which does not list them', () => {
    const reason = 'no image of 3 frames';
    const refused = [
      { file: '143', reason },
      { file: '144', reason },
    ];
    const held = { ...result, input_summary: { ...result.input_summary, refused } };
    const claims = (line: string) =>
      unsupportedClaims({ ...report, findings: [line], impression: [], limitations: [] }, held);
    expect(claims('2 files were not read: no image of 3 frames.')).toEqual([]);
    expect(claims('2 files were not read: no image of 4 frames.')).toHaveLength(1);
    expect(
      refusedLines([{ file: '143', reason: 'read without frame 3: damaged', read: true }]),
    ).toEqual(['One file was read without frame 3: damaged.']);
    expect(claims(`${LEFT.label} (left): 143/min`)).toEqual([]);
    expect(claims('Femur length: 143 mm')).toHaveLength(1);
  });

  it.each([
    ['4 beats', '4 beats', 0],
    ['4 beats', '14 beats', 1],
    ['4 beats', '1.4 beats', 1],
    ['4 beats', '-4 beats', 1],
    ['mean of 4', 'mean of 42', 1],
    ['mean of 4', 'mean of 4.2', 1],
    ['mean of 4', 'mean of 4+2', 1],
    ['mean of 4', 'mean of 4.', 0],
  ])('matches the words "%s" only as a whole: "%s"', (note, line, refused) => {
    const held = { ...result, measurements: [{ ...LEFT, note }] };
    const claims = unsupportedClaims(
      { ...report, findings: [line], impression: [], limitations: [] },
      held,
    );
    expect(claims).toHaveLength(refused);
  });

  it('refuses the value of another measurement under a name', () => {
    const value = (id: string) => result.measurements.find((one) => one.id === id)?.value ?? 0;
    expect(check([`Head circumference: ${value('hc').toFixed(1)} mm`])).toEqual([]);
    expect(check([`Head circumference: ${value('ac').toFixed(1)} mm`])).toHaveLength(1);
  });

  it('refuses a changed number in the words of the result', () => {
    const summary = result.sections.find(({ id }) => id === 'growth')?.summary ?? '';
    expect(check([summary])).toEqual([]);
    const changed = withChangedDigit(summary, 3) ?? '';
    expect(check([changed])).toHaveLength(1);
  });

  it.each([
    { centile: 0.4, passes: 'centile <1', fails: 'centile <2' },
    { centile: 99.6, passes: 'centile >99', fails: 'centile >98' },
  ])('accepts $passes for a centile of $centile', ({ centile, passes, fails }) => {
    const reference = { low: null, high: null, centile, z_score: null, chart: 'chart' };
    const extreme = { ...LEFT, laterality: null, reference };
    const held = { ...result, measurements: [extreme] };
    const claims = (words: string) =>
      unsupportedClaims(
        { ...report, findings: [`${LEFT.label}: ${words}`], impression: [], limitations: [] },
        held,
      );
    expect(claims(passes)).toEqual([]);
    expect(claims(fails)).toHaveLength(1);
  });

  it('refuses a value that was not accepted', () => {
    const low = { ...LEFT, quality: 'low' as const };
    const held = { ...result, measurements: [...result.measurements.slice(0, -1), low] };
    const line = rows.find((row) => row.includes('(left)')) ?? '';
    expect(unsupportedClaims({ ...report, findings: [line] }, held)).toHaveLength(1);
  });
});

describe('the draft report', () => {
  it('has a line among the limitations for every section that was not assessed', () => {
    const absent = result.sections.filter((section) => !isAssessed(section));
    expect(absent.length).toBeGreaterThan(0);
    for (const { title, reason } of absent) {
      const line = report.limitations.find((one) => one.startsWith(`${title}: `));
      expect([title, line]).toEqual([title, expect.stringContaining(reason?.detail ?? '')]);
    }
  });

  it('states a condition once, even if the section also gives it as a reason', () => {
    const condition: Statement = {
      ...{ kind: 'limitation', code: 'heart.not-judged', about: [], fetus: null, params: {} },
    };
    const text = renderStatement(condition, new Map());
    const sections = result.sections.map((one) =>
      one.id === 'fetal-heart'
        ? {
            ...{ ...one, status: 'partial' as const, statements: [condition] },
            reason: {
              ...{ code: 'parts_missing' as const, detail: `Not seen. ${text}`, needs: [] },
              gaps: [condition],
            },
          }
        : one,
    );
    const lines = limitationsOf({ ...result, sections });
    expect(lines.filter((line) => line.includes(text))).toEqual([`Fetal heart: Not seen. ${text}`]);
  });

  it('has one line for each section with all its limitations', () => {
    const conditions = (['heart.not-judged', 'heart.second-observer'] as const).map(
      (code): Statement => ({ kind: 'limitation', code, about: [], fetus: null, params: {} }),
    );
    const sections = result.sections.map((one) =>
      one.id === 'fetal-heart'
        ? { ...one, status: 'complete' as const, reason: null, statements: conditions }
        : one,
    );
    const texts = conditions.map((one) => renderStatement(one, new Map()));
    const lines = limitationsOf({ ...result, sections });
    expect(lines.filter((line) => line.startsWith('Fetal heart: '))).toEqual([
      `Fetal heart: ${texts.join(' ')}`,
    ]);
  });

  it('never contains the word normal', () => {
    expect([...report.findings, ...report.impression].join(' ')).not.toMatch(/\bnormal\b/);
  });

  it('may contain a named value and a statement of the section, but no other value with that name', () => {
    const flow = (key: 'umbilical-artery-ri' | 'umbilical-artery-pi', value: number) =>
      createMeasurement(key, key, value, 'spectral-trace', { section: 'doppler' });
    const statements = [sayOfRun.gap('run.section-failed', {})];
    const given = {
      ...result,
      measurements: [
        ...result.measurements,
        flow('umbilical-artery-ri', 0.63),
        flow('umbilical-artery-pi', 1.02),
      ],
      sections: result.sections.map((one) =>
        one.id === 'doppler' ? { ...one, statements, summary: '' } : one,
      ),
    };
    const said = 'This section could not be interpreted because of an internal error.';
    const checked = (line: string) => unsupportedClaims({ ...report, findings: [line] }, given);
    expect(checked(`Doppler: UA RI 0.63. ${said}`)).toEqual([]);
    expect(checked(`Doppler: UA RI 0.64. ${said}`)).toHaveLength(1);
    expect(checked(`Doppler: UA RI 1.02. ${said}`)).toHaveLength(1);
  });
});
