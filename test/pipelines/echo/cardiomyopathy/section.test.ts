import { describe, expect, it } from 'vitest';
import { clipOf } from '../clip-sample.ts';
import { interpreted } from '../interpret-sample.ts';

const ID = 'cardiomyopathy';

describe('hypertrophic pattern', () => {
  it.each([
    ['the septum alone', { ivsd: 1.5 }, 'meets wall-thickness criterion'],
    ['the posterior wall alone', { lvpwd: 1.5 }, 'meets wall-thickness criterion'],
    [
      'the septum alone, of 13 mm',
      { ivsd: 1.3 },
      'criterion only in first-degree relatives or genotype-positive',
    ],
    ['the septum alone, of 12 mm: the other may be thick', { ivsd: 1.2 }, undefined],
    ['both walls of 12 mm', { ivsd: 1.2, lvpwd: 1.2 }, 'below criterion'],
  ])('%s', (_, given, expected) => {
    expect(interpreted(given).category('hypertrophic-pattern')?.value).toBe(expected);
  });
  it('says that one wall alone was measured', () => {
    expect(interpreted({ ivsd: 1.5 }).summary(ID)).toContain('The one measured wall 15 mm');
  });
  it.each([
    [1.2, false],
    [1.1, true],
  ])('is asymmetric with a septum of 15 mm over a wall of %d cm: %s', (lvpwd, expected) => {
    const { summary } = interpreted({ ivsd: 1.5, lvpwd });
    expect(summary(ID).includes('asymmetric septal hypertrophy')).toBe(expected);
  });
});

describe('obstruction of the outflow tract', () => {
  it('with provocation counts where the gradient at rest was not measured', () => {
    const { category, finding, value } = interpreted({ 'lvot-gradient-provoked': 30 });
    expect(category('lvot-obstruction')?.value).toBe(
      'obstruction with provocation, rest not measured',
    );
    expect(category('lvot-obstruction')?.scheme).toContain('convention');
    expect(finding('lvot-obstruction')?.severity).toBe('abnormal');
    expect(value('lvot-gradient-provoked')?.value).toBe(30);
  });
  it('is open with a provoked gradient of 29 mmHg alone, which stays in the result', () => {
    const { category, section, value } = interpreted({ 'lvot-gradient-provoked': 29 });
    expect(category('lvot-obstruction')).toBeUndefined();
    expect(section(ID)?.status).toBe('partial');
    expect(section(ID)?.reason?.detail).toContain('no gradient at rest was measured');
    expect(value('lvot-gradient-provoked')?.value).toBe(29);
  });
});

describe('restrictive filling', () => {
  const FILLING = { 'e-to-a': 2, 'deceleration-time': 149 } as const;
  it('is reported by an assessed section where nothing else was measured', () => {
    const { section, summary } = interpreted(FILLING);
    expect(section(ID)?.status).toBe('partial');
    expect(summary(ID)).toContain('two criteria for a restrictive pattern');
  });
  it.each([[{ ...FILLING, 'e-to-a': 1.99 }], [{ ...FILLING, 'deceleration-time': 150 }]])(
    'is not reported for %o',
    (given) => {
      expect(interpreted(given).summary(ID)).not.toContain('restrictive');
    },
  );
});

describe('a value of the machine that the diastolic section withholds', () => {
  it("is E/e' in severe MR, from which no AMYLI index is calculated", () => {
    const thick = { ivsd: 1.5, lvpwd: 1.4, lvidd: 4.5, 'e-to-e-prime': 12 };
    expect(interpreted(thick).summary(ID)).toContain('AMYLI index 7.47');
    const leaking = interpreted({ ...thick, 'mr-orifice': 0.45, 'mr-volume': 65 });
    expect(leaking.value('e-to-e-prime')?.quality).toBe('inadequate');
    expect(leaking.summary(ID)).not.toContain('AMYLI');
  });
  it('is E/A at 120 beats per minute, by which filling is not called restrictive', () => {
    const [filling, clip] = [{ 'e-to-a': 2.4, 'deceleration-time': 120 }, clipOf('A4C')];
    const at = (heartRate: number) =>
      interpreted(
        filling,
        'cart-sr',
        {},
        { clips: [{ ...clip, clip: { ...clip.clip, heartRate } }] },
      );
    expect(at(80).summary(ID)).toContain('restrictive pattern');
    expect(at(120).value('e-to-a')?.quality).toBe('inadequate');
    expect(at(120).summary(ID)).not.toContain('restrictive pattern');
  });
});

describe('a child', () => {
  const given = { ivsd: 1.5, lvpwd: 1, 'e-to-a': 2.5, 'deceleration-time': 120 } as const;
  it('has no pattern, restrictive filling least of all', () => {
    const { section, result } = interpreted(given, 'cart-sr', { age: 17 });
    expect(section(ID)).toMatchObject({ status: 'not_assessed' });
    expect(section(ID)?.summary).toContain('do not apply under 18 years');
    expect(result.findings.filter((one) => one.section === ID)).toEqual([]);
  });
  it('has them at 18', () => {
    expect(interpreted(given, 'cart-sr', { age: 18 }).summary(ID)).toContain('restrictive');
  });
});

describe('dilated pattern', () => {
  it('that the diameter alone does not show is left open, and is of no scheme', () => {
    const { category, summary } = interpreted({ 'lvef-3d': 40, lvidd: 5.5 });
    expect(summary(ID)).toContain('not dilated by diameter; volume index not measured');
    expect(category('dilated-pattern')).toBeUndefined();
  });
  it('is reported without the sex where the LV is too wide for either', () => {
    const { category } = interpreted({ 'lvef-3d': 40, lvidd: 5.9 }, 'cart-sr', { sex: null });
    expect(category('dilated-pattern')?.value).toBe('dilated LV with systolic dysfunction');
  });
});

it('names the patterns that are never assessed, so that silence does not mean absence', () => {
  const detail = interpreted({ ivsd: 1, lvpwd: 1 }).section(ID)?.reason?.detail;
  for (const pattern of ['amyloid score', 'infiltration', 'trabeculation', 'ballooning', 'RV']) {
    expect(detail).toContain(pattern);
  }
});

it('names the size among the evidence of a dilated pattern', () => {
  const { finding } = interpreted({ 'lvef-biplane': 30, lvidd: 6.9, 'lvedv-biplane': 200 });
  expect(finding('dilated-pattern')?.evidence).toEqual([
    'cart-lvef-biplane',
    'cart-lvidd',
    'lvedv-index',
  ]);
});
