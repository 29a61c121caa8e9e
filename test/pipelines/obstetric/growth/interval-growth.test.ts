import { describe, expect, it } from 'vitest';
import type { CartMeasurement } from '../../../../pipelines/contract/study.ts';
import { intergrowthSizeAt } from '../../../../pipelines/obstetric/growth/charts.ts';
import { readEarlierScans, type ScanRead } from '../../../../pipelines/obstetric/growth/read.ts';
import { earlierValues } from '../../../../pipelines/result/earlier-values.ts';
import { cartValue } from '../../cart-sample.ts';
import {
  abdomen,
  clip,
  EXACT,
  femur,
  head,
  interpretReadings,
  sectionOf,
} from '../evidence-sample.ts';
import { reviewedStudy, reviewedWith } from '../reviewed-study.ts';

/** Returns a head, an abdomen and a femur with these z-scores at an exact age. */
function fetus(gaDays: number, z: { hc?: number; ac?: number; fl?: number } = {}) {
  const length = (measure: 'hc' | 'ac' | 'fl') =>
    intergrowthSizeAt(measure, gaDays / 7, z[measure] ?? 0) ?? Number.NaN;
  const [hc, ac] = [length('hc') / Math.PI, length('ac') / Math.PI];
  return [head(hc * 1.1, hc * 0.9), abdomen(ac, ac), femur(length('fl'))];
}

const scan = (daysBefore: number | null, changes: Partial<ScanRead> = {}): ScanRead => ({
  daysBefore,
  clips: [],
  readings: [],
  reports: [],
  ...changes,
});

function interpret(gaDays: number, earlier: ScanRead[], z: Parameters<typeof fetus>[1] = {}) {
  return interpretReadings({
    readings: fetus(gaDays, z),
    options: { dating: { ga_days: gaDays } },
    evidence: { earlier, priors: earlier.map((_, index) => `prior-${index}`), ...EXACT },
  });
}

const growth = (...given: Parameters<typeof interpret>) => sectionOf(interpret(...given), 'growth');

const changeOf = (data: Record<string, unknown>, concept: string) =>
  (data.change as { values: { concept: string; z_score_per_week: number }[] } | null)?.values.find(
    (one) => one.concept === concept,
  )?.z_score_per_week ?? null;

describe('growth since the prior study', () => {
  it('is not assessed if none was sent', () => {
    const { summary, data } = growth(196, []);
    expect(summary).toMatch(/Growth over time was not assessed\.$/);
    expect(data).toMatchObject({ earlier: [], change: null });
  });

  it('is the change of the z-score per week, on the same chart', () => {
    const before = scan(28, { readings: fetus(168, { ac: 1 }) });
    const { summary, data } = growth(196, [before], { ac: -1 });
    expect(changeOf(data, 'ac')).toBeCloseTo(-0.5, 2);
    expect(changeOf(data, 'fl')).toBeCloseTo(0, 2);
    expect(summary).toContain('since the scan 28 days earlier, at 24+0 weeks');
    expect(summary).toContain('AC -0.50 (then centile 84)');
  });

  it.each([
    [13, false],
    [14, true],
    [15, true],
  ])('after %i days is judged: %s', (days, judged) => {
    const { data, summary } = growth(196, [scan(days, { readings: fetus(196 - days) })]);
    expect(data.change !== null).toBe(judged);
    expect(summary?.includes('too short to assess growth')).toBe(!judged);
  });

  it('is judged against the newest scan that is old enough; the result lists all', () => {
    const earlier = [7, 21, 42].map((days) => scan(days, { readings: fetus(196 - days) }));
    const result = interpret(196, earlier);
    expect(sectionOf(result, 'growth').data.change).toMatchObject({ days_before: 21 });
    expect(earlierValues(result).map(({ ga_days: age }) => age)).toEqual([189, 175, 154]);
  });

  it('is not evaluated if the earlier files are not dated', () => {
    expect(growth(196, [scan(null, { readings: fetus(168) })]).summary).toContain(
      'the earlier files are not dated',
    );
  });

  it('is not evaluated if nothing was measured on them', () => {
    expect(growth(196, [scan(28)]).summary).toContain(
      'nothing comparable was measured on the earlier scan',
    );
  });

  it.each([
    ['values that do not fit the age', 210, { hc: -6, ac: -6, fl: -6 }],
    ['values beyond the weeks of the charts', 290, {}],
  ])('is not evaluated with %s, and says so', (_, gaDays, z) => {
    const now = fetus(Math.min(gaDays, 280), z);
    const result = interpretReadings({
      readings: now,
      options: { dating: { ga_days: gaDays } },
      evidence: { earlier: [scan(70, { readings: fetus(gaDays - 70) })], priors: ['prior'] },
    });
    expect(sectionOf(result, 'growth').summary).toContain(
      'Growth over time was not assessed: no value of this scan can be compared',
    );
  });

  it('is not calculated for the weight if the formula differs: HC, AC and FL now, AC and FL then', () => {
    const before = scan(28, { readings: fetus(168).slice(1) });
    const { data } = growth(196, [before]);
    expect(changeOf(data, 'ac')).not.toBeNull();
    expect(changeOf(data, 'efw')).toBeNull();
  });

  it('leaves out an earlier value that does not fit its age', () => {
    const before = scan(28, { readings: fetus(168, { fl: -6 }) });
    expect(changeOf(growth(196, [before]).data, 'fl')).toBeNull();
  });
});

describe('the day of an earlier examination', () => {
  const DAY = 86_400;
  const NOTHING = { planes: null, head: null, abdomen: null, femur: null };
  const at = (instant: number) => ({ file: 'sr.dcm', instant, draft: false, values: [] });

  it.each([
    ['early on the 14th day before', -14 * DAY, 14],
    ['late on the 14th day before', -13 * DAY - 1, 14],
    ['on the same day', 3600, 0],
  ])('is counted by the calendar: %s', async (_, instant, days) => {
    const study = { clips: [], refused: [], files: 1, series: 1, priorReports: [at(instant)] };
    const { scans } = await readEarlierScans(study, NOTHING, new AbortController().signal);
    expect(scans.map(({ daysBefore }) => daysBefore)).toEqual([days]);
  });
});

describe('earlier values of a report', () => {
  const value = (key: 'hc' | 'ac' | 'fl' | 'bpd', mm: number): CartMeasurement =>
    cartValue({ key, concept: { scheme: 'LN', code: key, meaning: key }, value: mm, unit: 'mm' });
  const report = (draft: boolean, values: CartMeasurement[]) => ({
    file: 'sr.dcm',
    instant: -28 * 86_400,
    draft,
    values,
  });
  const at24 = (measure: 'hc' | 'ac' | 'fl' | 'bpd') =>
    intergrowthSizeAt(measure, 24, 0) ?? Number.NaN;
  const sourcesOf = (earlier: ScanRead) =>
    Object.fromEntries(
      earlierValues(interpret(196, [earlier]))
        .flatMap(({ values }) => values)
        .map(({ concept, source }) => [concept, source]),
    );

  it('from the machine are compared, and the sentence states whose they are', () => {
    const values = [value('hc', at24('hc')), value('ac', at24('ac')), value('fl', at24('fl'))];
    const { summary, data } = growth(196, [scan(28, { reports: [report(false, values)] })]);
    expect(changeOf(data, 'efw')).toBeCloseTo(0, 0);
    expect(summary).toContain('with values from the report of the ultrasound machine');
  });

  it("do not include a machine's BPD, which may be outer to inner", () => {
    const values = [value('bpd', at24('bpd')), value('hc', at24('hc'))];
    expect(sourcesOf(scan(28, { reports: [report(false, values)] }))).toEqual({
      hc: 'machine-report',
    });
  });

  it('from an earlier draft are called unreviewed', () => {
    const values = [value('bpd', at24('bpd'))];
    expect(sourcesOf(scan(28, { reports: [report(true, values)] }))).toEqual({
      bpd: 'unreviewed-draft',
    });
  });

  it("come after those from the images, and those from a draft after the machine's", () => {
    const reports = [
      report(true, [value('fl', at24('fl')), value('ac', at24('ac'))]),
      report(false, [value('ac', at24('ac'))]),
    ];
    const [headOnly] = fetus(168);
    const readings = headOnly ? [headOnly] : [];
    expect(sourcesOf(scan(28, { readings, reports }))).toMatchObject({
      hc: 'images',
      ac: 'machine-report',
      fl: 'unreviewed-draft',
      efw: 'unreviewed-draft',
    });
  });

  it('of several fetuses are left out together with the images of that scan, which is reported', () => {
    const several = cartValue({
      concept: { scheme: 'LN', code: '11878-6', meaning: 'Number of Fetuses by US' },
      value: 2,
      unit: '1',
    });
    const twins = scan(28, { readings: fetus(168), reports: [report(false, [several])] });
    const alone = growth(196, [twins]);
    expect(alone.data).toMatchObject({ earlier: [], change: null });
    expect(alone.summary).toContain(
      'Growth over time was not assessed: the earlier scan names several fetuses.',
    );
    const older = scan(42, { readings: fetus(154) });
    const beside = growth(196, [twins, older]);
    expect(beside.data.change).toMatchObject({ days_before: 42 });
    expect(beside.summary).toContain('An earlier scan that names several fetuses was left out.');
    expect(growth(196, [older]).summary).not.toContain('several fetuses');
  });

  it.each([
    ['FETUS A UA', 'FETUS B UA', true],
    ['FETUS A UA', 'FETUS A UA', false],
  ])('on images named %s and %s are left out: %s', (one, other, left) => {
    // Nothing is measured on these clips, but the label of a spectrum or a sweep also identifies a
    // fetus.
    const clips = [one, other].map((viewName) => clip('named.dcm', { viewName }));
    const before = scan(28, { clips, readings: fetus(168) });
    expect(growth(196, [before]).data.change === null).toBe(left);
  });

  it('that are impossible are not used', () => {
    expect(sourcesOf(scan(28, { reports: [report(false, [value('fl', 0)])] }))).toEqual({});
    const fl = [value('fl', 0), value('fl', at24('fl'))];
    expect(sourcesOf(scan(28, { reports: [report(false, fl)] }))).toEqual({
      fl: 'machine-report',
    });
  });

  it('of a report that identifies several fetuses are not used', () => {
    const twins = ['A', 'B'].map((fetusName) => ({ ...value('fl', 40), fetus: fetusName }));
    expect(sourcesOf(scan(28, { reports: [report(false, twins)] }))).toEqual({});
  });
});

describe('a fall over more than two quartiles', () => {
  const fallTo = (z: number, gaDays: number) => {
    const before = scan(28, { readings: fetus(gaDays - 28, { hc: 0.7, ac: 0.7, fl: 0.7 }) });
    return interpret(gaDays, [before], { hc: z, ac: z, fl: z });
  };

  it('is a finding from 32+0 weeks on, with both centiles', () => {
    const finding = fallTo(-0.9, 252).findings.find(({ id }) => id === 'centile-crossing');
    expect(finding?.text).toMatch(
      /^(AC|EFW) crossed more than two quartiles since the scan 28 days/,
    );
  });

  it('is not reported before 32+0 weeks, nor below 50 points', () => {
    const ids = (result: ReturnType<typeof fallTo>) => result.findings.map(({ id }) => id);
    expect(ids(fallTo(-0.9, 217))).not.toContain('centile-crossing');
    expect(ids(fallTo(-0.3, 252))).not.toContain('centile-crossing');
  });

  it('is late growth restriction together with a small size', () => {
    const result = fallTo(-1.5, 252);
    expect(sectionOf(result, 'growth').data.fgr).toMatchObject({ form: 'late-fgr' });
    expect(result.findings.map(({ id }) => id)).toContain('growth-restriction');
  });
});

describe('the draft report', () => {
  it('states the change since the prior study, and the checker agrees', () => {
    const before = scan(28, { readings: fetus(168) });
    const result = interpretReadings({
      readings: fetus(196),
      options: { dating: { ga_days: 196 }, report: true },
      evidence: { earlier: [before], priors: ['prior.dcm'] },
    });
    expect(result.report?.impression.join('\n')).toContain('since the scan 28 days earlier');
  });

  it('states the age that was given, even if nothing was measured', () => {
    const result = interpretReadings({
      readings: [],
      options: { dating: { ga_days: 143 }, report: true },
    });
    expect(result.report?.findings[0]).toBe(
      'Stated gestational age: 20+3 weeks, by last menstrual period.',
    );
  });
});

describe('a current length that a person rejected', () => {
  it('leaves the lengths of the earlier scan', () => {
    const study = reviewedStudy('simulated', fetus(196));
    const earlier = [scan(28, { readings: fetus(168) })];
    const given = { ...study.given, earlier, priors: ['prior'] };
    const reject = { kind: 'reject', measurement: 'fl' } as const;
    const result = reviewedWith({ ...study, given }, reject);
    const [before] = earlierValues(result);
    const concepts = before?.values.map(({ concept }) => concept);
    expect(concepts).toEqual(['hc', 'bpd', 'ofd', 'ac', 'fl', 'efw']);
  });
});
