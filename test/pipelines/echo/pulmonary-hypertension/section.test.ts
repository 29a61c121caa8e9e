import { describe, expect, it } from 'vitest';
import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import { contradictsCava } from '../../../../pipelines/echo/pulmonary-hypertension/guideline.ts';
import { contradictsJet } from '../../../../pipelines/echo/pulmonary-hypertension/measure.ts';
import { interpreted } from '../interpret-sample.ts';

type Given = Readonly<Partial<Record<EchoConcept, number>>>;

const ID = 'pulmonary-hypertension';
const probability = (given: Given) => interpreted(given).category('ph-probability')?.value;

/** Corresponds to a normal RA pressure of 3 mmHg. */
const CAVA = { 'ivc-diameter': 15, 'ivc-collapse': 60 } as const;
const PLETHORA = { 'ivc-diameter': 24, 'ivc-collapse': 20 } as const;

describe('the ratio of the ventricles', () => {
  it.each([
    [1.3, 'high'],
    [1.01, 'high'],
    [1, 'intermediate'],
    [0.8, 'intermediate'],
  ])('of %d beside an RVOT acceleration of 90 ms and TR of 3.2 m/s: %s', (ratio, expected) => {
    const given = { 'tr-vmax': 3.2, 'rvot-acceleration': 90, 'rv-to-lv': ratio };
    expect(probability(given)).toBe(expected);
  });
});

describe('a pulmonary artery wider than the aortic root', () => {
  it.each([
    [24.4, 24, 'intermediate'],
    [24.5, 24, 'high'],
  ])('of %d mm beside a root of %d mm, as shown in whole mm: %s', (artery, root, expected) => {
    const given = { 'tr-vmax': 3.2, 'rv-to-lv': 1.3 };
    expect(probability({ ...given, 'pa-diameter': artery, 'aortic-root': root })).toBe(expected);
  });
});

describe('a collapse that the machine does not state', () => {
  const least = (diameter: number, given: Given = {}) =>
    interpreted({ 'ivc-diameter': 20, 'ivc-least-diameter': diameter, ...given });

  it('is calculated from the greatest and the least diameter, and RA pressure from it', () => {
    const { value } = least(8);
    expect(value('ivc-collapse')).toMatchObject({ value: 60, method: 'cava-collapse' });
    expect(value('ra-pressure')?.value).toBe(3);
  });
  it('of exactly half the diameter (50 %) does not count as a collapse', () => {
    expect(least(10).value('ra-pressure')?.value).toBe(8);
  });
  it('is withheld if the least diameter is the greater one', () => {
    const { value } = least(22);
    expect(value('ivc-collapse')?.quality).toBe('inadequate');
    expect(value('ra-pressure')).toBeUndefined();
  });
  it('is not calculated if one is stated', () => {
    expect(least(8, { 'ivc-collapse': 30 }).value('ivc-collapse')?.value).toBe(30);
  });
});

describe('the RA pressure of the machine', () => {
  it.each([
    [3, 22, 49, true],
    [3.4, 22, 50, true],
    [3.5, 22, 49, false],
    [3, 21, 49, false],
    [3, 22, 51, false],
    [8, 22, 49, false],
  ])('of %d mmHg with an IVC of %d mm and %d %% is a contradiction: %s', (...given) => {
    const [pressure, diameter, collapse, expected] = given;
    expect(contradictsCava(pressure, diameter, collapse)).toBe(expected);
  });

  it('is withheld with all values derived from it if it contradicts the IVC, which is reported', () => {
    const { value, summary } = interpreted({
      ...PLETHORA,
      'tr-vmax': 3,
      tapse: 20,
      'ra-pressure': 3,
      rvsp: 39,
    });
    expect(value('ra-pressure')).toMatchObject({ value: 3, quality: 'inadequate' });
    expect(value('rvsp')).toMatchObject({ value: 39, quality: 'inadequate' });
    expect(value('tapse-to-spap')).toBeUndefined();
    expect(value('tr-gradient')?.value).toBe(36);
    expect(summary(ID)).toContain('contradicts a wide IVC that does not collapse');
  });
  it('is used if it does not', () => {
    const { value } = interpreted({ ...PLETHORA, 'tr-vmax': 3, 'ra-pressure': 10 });
    expect(value('ra-pressure')).toMatchObject({ value: 10, quality: 'accepted' });
    expect(value('rvsp')?.value).toBe(46);
  });
});

describe('an RVSP of the machine that contradicts its TR velocity', () => {
  it.each([
    [4, 61, true],
    [4, 62, false],
    [4, 94, false],
    [4, 97, true],
    // As displayed: 2.96 m/s is 3.0 m/s, and its gradient is 35 mmHg.
    [3, 35, false],
    [3, 34, true],
  ])('at %d m/s, %d mmHg: %s', (jet, pressure, expected) => {
    expect(contradictsJet(pressure, jet)).toBe(expected);
  });
  const machine = { 'tr-vmax': 4, rvsp: 30, tapse: 18 } as const;
  it('is withheld with the reason, and so is its ratio; the gradient is given', () => {
    const { value, category, summary } = interpreted({ ...machine, 'tapse-to-spap': 0.6 });
    expect(value('rvsp')?.quality).toBe('inadequate');
    expect(value('tapse-to-spap')?.quality).toBe('inadequate');
    expect(value('tr-gradient')?.value).toBe(64);
    expect(summary(ID)).toContain('the RA pressure would be negative');
    const coupling = category('ph-probability')?.criteria.find(({ name }) =>
      name.includes('TAPSE'),
    );
    expect(coupling).toMatchObject({ value: null, outcome: 'not_available', met: false });
  });
  it('is calculated again if the RA pressure is known', () => {
    const { result } = interpreted({ ...machine, 'ra-pressure': 8 });
    const pressures = result.measurements.filter(({ concept }) => concept.key === 'rvsp');
    expect(pressures.map(({ value, quality }) => [value, quality])).toEqual([
      [72, 'accepted'],
      [30, 'inadequate'],
    ]);
  });
  it('is not a criterion of diastolic function', () => {
    const { category } = interpreted({
      ...{ 'tr-vmax': 2.2, rvsp: 80, 'mitral-e': 60, 'mitral-a': 60 },
      ...{ 'e-prime-septal': 10, 'e-prime-lateral': 12 },
    });
    const raised = category('diastolic-2025')?.criteria.find(({ name }) => name.includes('PASP'));
    expect(raised?.outcome).toBe('not_met');
  });
});

describe('a jet of torrential TR', () => {
  const at = (contracta: number, jet = 2.5) =>
    interpreted({ ...CAVA, tapse: 20, 'tr-vmax': jet, 'tr-vena-contracta': contracta });

  it('gives no RVSP and excludes no pulmonary hypertension', () => {
    const { value, summary, category } = at(21);
    expect(value('rvsp')?.quality).toBe('inadequate');
    expect(value('tapse-to-spap')?.quality).toBe('inadequate');
    expect(value('tr-gradient')).toBeUndefined();
    expect(category('ph-probability')).toBeUndefined();
    expect(summary(ID)).toContain('underestimates RV pressure');
  });
  it('still confirms pulmonary hypertension', () =>
    expect(at(21, 3.5).category('ph-probability')?.value).toBe('high'));
  it('of 20.9 mm is massive: the pressure is given and called uncertain', () => {
    const { value, summary, category } = at(20.9);
    expect(value('rvsp')?.quality).toBe('accepted');
    expect(category('ph-probability')?.value).toBe('low');
    expect(summary(ID)).toContain('TR massive (4+): the pressure estimated from the jet velocity');
  });
  it('of 6.9 mm is moderate and needs no caution', () => {
    expect(at(6.9).summary(ID)).not.toContain('uncertain');
  });
});

describe('a jet beside pulmonary stenosis, which raises the RV pressure alone', () => {
  const at = (peak: number, jet: number) =>
    interpreted({ ...CAVA, tapse: 14, 'tr-vmax': jet, 'pv-vmax': peak });

  it('gives the RVSP, but neither TAPSE/sPAP nor a probability of pulmonary hypertension', () => {
    const { value, summary, category, result } = at(4.2, 3.8);
    expect(value('rvsp')?.quality).toBe('accepted');
    expect(value('tapse-to-spap')?.quality).toBe('inadequate');
    expect(category('ph-probability')).toBeUndefined();
    expect(summary(ID)).toContain(
      'In severe PS, the TR velocity shows the RV pressure, not the pulmonary',
    );
    expect(result.report?.impression.join(' ')).not.toContain('probability');
  });
  it.each([
    [2.9, 3.8, 'high'],
    [3, 3.8, undefined],
    [3, 2.9, undefined],
    [3, 2.8, 'low'],
  ])('of %d m/s at the valve with a TR of %d m/s: %s', (peak, jet, expected) => {
    expect(at(peak, jet).category('ph-probability')?.value).toBe(expected);
  });
  it('has an uncertain probability if a TR of 2.8 m/s lies within its interval', () => {
    const measured = at(3.4, 2.8).evidence.measured.map((one) =>
      one.concept.key === 'tr-vmax' ? { ...one, uncertainty: 0.3 } : one,
    );
    const { result } = interpreted({}, 'cart-sr', {}, { measured });
    const impression = result.report?.impression.join(' ');
    expect(impression).toContain('uncertain probability of pulmonary hypertension');
    expect(impression).not.toContain('no grade');
  });
});

describe('the sentence shown if the RA pressure is missing', () => {
  it.each([
    [{}, 'there is no accepted IVC measurement, and no pressure is assumed; RVSP is not given.'],
    [{ 'ivc-diameter': 18 }, 'there is no accepted IVC collapse'],
    [{ 'ivc-collapse': 60 }, 'there is no accepted IVC diameter'],
    [{ rvsp: 51 }, 'RVSP is as reported by the ultrasound machine'],
  ] as const)('with %o', (given, expected) => {
    const text = interpreted({ 'tr-vmax': 3.3, ...given }).summary(ID);
    expect(text).toContain(expected);
    if ('rvsp' in given) expect(text).not.toContain('RVSP is not given');
  });

  it('the gradient of the jet is reported alone, but not next to an RVSP', () => {
    expect(interpreted({ 'tr-vmax': 3 }).value('tr-gradient')?.value).toBe(36);
    expect(interpreted({ 'tr-vmax': 3, ...CAVA }).value('tr-gradient')).toBeUndefined();
  });
});

describe('a fast jet that the rest of the right heart does not explain (echo 19)', () => {
  const given = { 'tr-vmax': 3.5, 'rvot-acceleration': 121, tapse: 25, 'rv-to-lv': 0.7 } as const;
  const said = (other: Parameters<typeof interpreted>[0]) =>
    interpreted({ ...given, ...other })
      .summary(ID)
      .includes('is unexpected with');
  it('may be that of another valve', () => {
    expect(interpreted(given).summary(ID)).toContain(
      'TR Vmax 3.5 m/s is unexpected with RVOT AT 121 ms, RV/LV 0.70, TAPSE 25 mm: check that the jet is not that of MR or AS, and look for pulmonary stenosis.',
    );
  });
  it.each([
    ['a slower jet', { 'tr-vmax': 3.4 }],
    ['a shorter acceleration time', { 'rvot-acceleration': 120 }],
    ['a large RV', { 'rv-to-lv': 1.1 }],
    ['a reduced TAPSE', { tapse: 16 }],
    ['measured pulmonary stenosis', { 'pv-vmax': 3.5 }],
  ] as const)('is not said with %s', (_, other) => {
    expect(said(other)).toBe(false);
  });
  it('is not said if nothing of the RV was measured', () => {
    const { summary } = interpreted({ 'tr-vmax': 3.5, 'rvot-acceleration': 130 });
    expect(summary(ID)).not.toContain('is unexpected with');
  });
});

describe('the evidence of an intermediate or high probability', () => {
  it.each([
    [
      'of signs without a jet',
      { 'rvot-acceleration': 80, 'ra-area': 25, 'pa-diameter': 20 },
      ['cart-rvot-acceleration', 'cart-ra-area'],
    ],
    [
      'of a jet and the signs that are present',
      { 'tr-vmax': 3, 'rv-to-lv': 1.2, 'ivc-diameter': 24, 'ivc-collapse': 20, tapse: 24 },
      ['cart-tr-vmax', 'cart-rv-to-lv', 'tapse-to-spap', 'cart-ivc-diameter', 'cart-ivc-collapse'],
    ],
  ] as const)('is that %s', (_, given, evidence) => {
    expect(interpreted(given).finding('ph-probability')?.evidence).toEqual(evidence);
  });
});

describe('a velocity near a cut-off', () => {
  it.each([
    [2.6, false],
    [2.7, true],
    [2.9, true],
    [3, false],
    [3.2, false],
    [3.3, true],
    [3.5, true],
    [3.6, false],
  ])('of %d m/s is within its variability: %s', (jet, near) => {
    const said = interpreted({ 'tr-vmax': jet }).summary(ID).includes('within its variability');
    expect(said).toBe(near);
  });
});

describe('what the probability is based on', () => {
  const said = (given: Given) => interpreted(given).summary(ID) ?? '';
  const slow = { 'tr-vmax': 2.2 };

  it.each([
    [{}, 'low by TRV; 0 of 3 categories assessed'],
    [{ 'rv-to-lv': 0.6 }, 'low by TRV; 1 of 3 categories assessed'],
    [{ 'rv-to-lv': 0.6, 'ra-area': 15 }, '2 of 3 categories of signs were assessed'],
  ] as const)('is stated with a low velocity and %j', (signs, expected) => {
    expect(said({ ...slow, ...signs })).toContain(expected);
  });

  it('is complete with signs of all categories', () => {
    const all = { 'rv-to-lv': 0.6, 'ra-area': 15, 'pa-diameter': 20 };
    expect(said({ ...slow, ...all })).not.toContain('of 3 categories');
  });

  it.each([
    [6.9, false],
    [7, true],
    [14, true],
  ])('a vena contracta of %s mm makes the pressure uncertain: %s', (contracta, uncertain) => {
    const given = { 'tr-vmax': 3.2, 'tr-vena-contracta': contracta };
    const text = 'the pressure estimated from the jet velocity is uncertain';
    expect(said(given).includes(text)).toBe(uncertain);
  });
});
