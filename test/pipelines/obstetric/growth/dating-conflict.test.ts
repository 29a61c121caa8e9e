import { describe, expect, it } from 'vitest';
import { intergrowthSizeAt } from '../../../../pipelines/obstetric/growth/charts.ts';
import {
  conflictFindings,
  datingConflict,
  statedAgeFindings,
} from '../../../../pipelines/obstetric/growth/judge.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { renderStatement } from '../../../../pipelines/result/render/render.ts';
import { unsupportedClaims } from '../../../../pipelines/result/render/report-check.ts';
import { cartValue } from '../../cart-sample.ts';
import { abdomen, femur, head, interpretReadings, sectionOf } from '../evidence-sample.ts';

const lmp = (ga_days: number) => ({ ga_days, basis: 'lmp' as const });
const composite = (days: number) =>
  createMeasurement('ga-by-hc-ac-fl', 'ga-by-hc-ac-fl', days, 'hadlock-1984-ga-hc-ac-fl', {
    section: 'biometry',
  });
const byHc = (days: number) =>
  createMeasurement('ga-by-hc', 'ga-by-hc', days, 'hadlock-1984-ga-hc', { section: 'biometry' });

/** Returns a fetus with the median size for `days`, which differs from the stated age. */
function grownTo(days: number, dating: { ga_days: number; basis: string }) {
  const at = (measure: 'hc' | 'ac' | 'fl') => intergrowthSizeAt(measure, days / 7, 0) ?? Number.NaN;
  const [hc, ac] = [at('hc') / Math.PI, at('ac') / Math.PI];
  const readings = [head(hc * 1.1, hc * 0.9), abdomen(ac, ac), femur(at('fl'))];
  return interpretReadings({ readings, options: { dating, report: true } });
}

describe('an age by biometry beside the one by last period (ACOG Committee Opinion 700)', () => {
  it.each([
    [111, 7],
    [112, 10],
    [153, 10],
    [154, 14],
    [195, 14],
    [196, 21],
  ])('at %d days may be %d days off, to either side', (given, limit) => {
    for (const side of [-1, 1]) {
      expect(datingConflict([composite(given + side * limit)], lmp(given))).toBeNull();
      expect(datingConflict([composite(given + side * (limit + 1))], lmp(given))).toMatchObject({
        apartDays: limit + 1,
        limitDays: limit,
      });
    }
  });

  it('is compared as displayed, in whole days', () => {
    expect(datingConflict([composite(150.4)], lmp(140))).toBeNull();
    expect(datingConflict([composite(150.5)], lmp(140))).not.toBeNull();
  });

  it('is that of HC, AC and FL, or otherwise that of HC', () => {
    expect(datingConflict([byHc(120), composite(140)], lmp(140))).toBeNull();
    expect(datingConflict([byHc(120)], lmp(140))?.by).toBe('hc');
  });

  it.each(['crl', 'prior_scan', 'ivf'] as const)(
    'does not redate a study that was dated by %s',
    (basis) => {
      expect(datingConflict([composite(100)], { ga_days: 140, basis })).toBeNull();
    },
  );

  it.each([
    [195, 'dating by ultrasound is advised unless an earlier scan confirms'],
    [196, 'From 28+0 weeks on, a single scan does not change the dating'],
  ])('at %d days: %s', (given, said) => {
    const conflict = datingConflict([composite(given - 30)], lmp(given));
    const [finding] = conflictFindings(conflict, lmp(given));
    expect(finding?.statement && renderStatement(finding.statement, new Map())).toContain(said);
  });
});

describe('while the dating is in doubt', () => {
  const doubted = grownTo(132, lmp(145));

  it('both ages are reported, and the given age is kept', () => {
    const text = doubted.findings.find(({ id }) => id === 'age-by-biometry')?.text;
    expect(text).toMatch(/^Age by HC, AC and FL 18\+\d weeks, 1\d days from the 20\+5 weeks/);
    expect(text).toContain('The age given was kept.');
    expect(sectionOf(doubted, 'growth').data).toMatchObject({
      dating: { ga_days: 145 },
      dating_conflict: { by: 'ga-by-hc-ac-fl', limit_days: 10 },
    });
  });

  it('every sentence about size and restriction states this', () => {
    const said = doubted.findings.filter(({ id }) =>
      /^(size|head-size|growth-restriction)$/.test(id),
    );
    expect(said.map(({ id }) => id).toSorted()).toEqual([
      'growth-restriction',
      'head-size',
      'size',
    ]);
    for (const { text } of said)
      expect(text).toMatch(/This applies only if the dating is correct\.$/);
    expect(doubted.guidance[0]?.text).toContain('only if the dating is correct');
    expect(sectionOf(doubted, 'growth').summary).toContain('only if the dating is correct');
  });

  it('the line of the impression about size states this once, and for all of its clauses', () => {
    const line = doubted.report?.impression.find((one) => one.includes('EFW')) ?? '';
    expect(line).toContain('growth restriction');
    expect(line.match(/if the dating is correct/g)).toHaveLength(1);
    expect(line).toContain('; all of this only if the dating is correct');
  });

  it('the report contains nothing that the result does not contain', () => {
    if (!doubted.report) throw new Error(sectionOf(doubted, 'report').reason?.detail);
    expect(unsupportedClaims(doubted.report, doubted)).toEqual([]);
  });

  it('it is not reported if a scan determined the age', () => {
    const { findings } = grownTo(132, { ga_days: 145, basis: 'crl' });
    expect(JSON.stringify(findings)).not.toContain('dating is correct');
  });
});

describe('an age by CRL beside the one by last period', () => {
  const impression = (crlMm: number) => {
    const concept = { scheme: 'LN', code: '11957-8', meaning: 'Crown Rump Length' };
    const cart = [cartValue({ key: 'crl', concept, value: crlMm, unit: 'mm' })];
    const options = { dating: lmp(103), report: true };
    const study = { clips: [], refused: [], files: 1, series: 1, cart };
    const { report } = interpretReadings({ readings: [], options, evidence: { study } });
    return report?.impression.join(' ');
  };

  it('puts the dating in doubt in the impression if they are too far apart', () => {
    expect(impression(60)).toContain(
      'dating in doubt: age by CRL 12+3 weeks, 16 days from the age given',
    );
    expect(impression(78)).not.toContain('in doubt');
  });
});

describe('an age by last period that the machine states', () => {
  const stated = (value: number, unit: string, code = '11885-1') => {
    const concept = { scheme: 'LN', code, meaning: 'Gestational Age by LMP' };
    return statedAgeFindings([cartValue({ concept, value, unit })], lmp(200)).map(
      ({ statement }) => (statement ? renderStatement(statement, new Map()) : ''),
    );
  };

  it.each([
    [179, 'd', 0],
    [178, 'd', 1],
    [221, 'd', 0],
    [222, 'd', 1],
    [25, 'wk', 1],
    [25, 'mo', 0],
  ])('of %d %s beside 200 days: %d findings', (value, unit, count) => {
    expect(stated(value, unit)).toHaveLength(count);
  });

  it('is reported beside the given one', () => {
    expect(stated(150, 'd')).toEqual([
      'The report of the ultrasound machine states 21+3 weeks by last menstrual period, 50 days from the 28+4 weeks given; check the dating. The age given was kept.',
    ]);
    expect(stated(150, 'd', '11888-5')).toEqual([]);
  });
});

describe('a criterion of growth restriction if the definition is not met', () => {
  const at36 = (measure: 'hc' | 'ac' | 'fl') => intergrowthSizeAt(measure, 36, 0) ?? Number.NaN;
  const [hc, ac] = [at36('hc') / Math.PI, at36('ac') / Math.PI];

  it('is reported as such', () => {
    const readings = [head(hc * 1.1, hc * 0.9), abdomen(ac, ac), femur(at36('fl'))];
    const concept = { scheme: 'LN', code: 'x', meaning: 'PI' };
    const cart = [cartValue({ key: 'umbilical-artery-pi', concept, value: 1.9, unit: '1' })];
    const study = {
      clips: readings.map(({ clip }) => clip),
      refused: [],
      files: 4,
      series: 1,
      cart,
    };
    const result = interpretReadings({
      readings,
      options: { dating: { ga_days: 252, basis: 'crl' } },
      evidence: { study },
    });
    expect(sectionOf(result, 'growth').data.fgr).toMatchObject({
      form: null,
      form_between: ['late-fgr', 'not-assessable'],
      criteria_met: ['umbilical artery PI above centile 95 (>99)'],
    });
    expect(result.findings.find(({ id }) => id === 'growth-restriction-criterion')?.text).toMatch(
      /^Of the consensus definition of late fetal growth restriction, only this is met: umbilical artery PI above centile 95 \(>99\)\. This alone does not satisfy the definition\. Undetermined, as a cut-off lies within the interval: EFW\./,
    );
  });
});
