import { describe, expect, it } from 'vitest';
import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import { interpreted } from '../interpret-sample.ts';

type Given = Readonly<Partial<Record<EchoConcept, number>>>;

const summary = (given: Given) => interpreted(given).summary('valves');
const grade = (given: Given, provenance?: 'model') =>
  interpreted(given, provenance).category('aortic-stenosis')?.value;

describe('a divisor of zero in the report of the machine', () => {
  it.each([
    [{ 'mv-half-time': 0 }, 'mv-area-half-time'],
    [{ 'av-vti': 0, 'lvot-vti': 20, 'lvot-diameter': 2 }, 'av-area'],
    [{ 'av-vti': 0, 'lvot-vti': 20 }, 'velocity-index'],
    [{ 'pulmonary-vein-s': 50, 'pulmonary-vein-d': 0 }, 'pulmonary-vein-ratio'],
  ] as const)('%o: no %s, and every other value is kept', (given, absent) => {
    const { result } = interpreted({ ...given, 'lvef-biplane': 60 });
    const keys: string[] = result.measurements.map(({ concept }) => concept.key);
    expect(keys).toContain('lvef-biplane');
    expect(keys).not.toContain(absent);
  });
  it('keeps what the machine calculated itself', () => {
    const { value } = interpreted({ 'mv-half-time': 0, 'mv-area-half-time': 2 });
    expect(value('mv-area-half-time')).toMatchObject({ value: 2, note: null });
  });
});

/** The LVOT area is 3.14 cm2, so the peak velocities give an AVA of 0.63 cm2. */
const BY_VMAX = {
  'av-vmax': 3.5,
  'av-mean-gradient': 30,
  'lvot-diameter': 2,
  'lvot-vmax': 0.7,
  'lvef-biplane': 60,
} as const;

describe('aortic valve area by peak velocities', () => {
  const { category, finding, value } = interpreted(BY_VMAX);
  it('is graded if there is no area by VTI: row 5', () => {
    expect(category('aortic-stenosis')?.value).toBe(
      'discordant low-gradient AS, flow state unknown',
    );
    expect(finding('aortic-stenosis')?.evidence).toContain('av-area-vmax');
  });
  it('is stated as the method, in words and among the criteria', () => {
    expect(summary(BY_VMAX)).toContain(
      'valve area used for grading was calculated from peak velocities',
    );
    expect(summary(BY_VMAX)).not.toContain('not calculated');
    const names = category('aortic-stenosis')?.criteria.map(({ name }) => name);
    expect(names).toContain('AVA (Vmax) 0.63 cm²: <= 1.00 cm²');
    expect(names).toContain('AVAi (Vmax) 0.34 cm²/m²: <= 0.60 cm²/m²');
  });
  it('has a separate index', () => {
    expect(value('av-area-vmax-index')?.value).toBeCloseTo(0.628 / 1.848, 3);
  });
  it('is replaced by the area by VTI: AVA 1.26, moderate', () => {
    expect(grade({ ...BY_VMAX, 'lvot-vti': 20, 'av-vti': 50 })).toBe('moderate AS');
  });
});

describe('the criteria of aortic stenosis', () => {
  it('are met if the value reaches the limit, and not merely because there is a value', () => {
    const { category } = interpreted({ 'av-vmax': 3.9, 'av-mean-gradient': 40 });
    const criteria = category('aortic-stenosis')?.criteria.map((one) => [one.name, one.outcome]);
    expect(criteria).toEqual([
      ['AV Vmax 3.9 m/s: >= 4.0 m/s', 'not_met'],
      ['AV mean gradient 40 mmHg: >= 40 mmHg', 'met'],
      ['AVA <= 1.00 cm²', 'not_available'],
      ['AVAi <= 0.60 cm²/m²', 'not_available'],
      ['SVi <= 35 ml/m²', 'not_available'],
      ['LVEF < 50 %', 'not_available'],
    ]);
  });
  it.each([
    ['at it', [4, 40, 1, 0.6, 35, 50], ['met', 'met', 'met', 'met', 'met', 'not_met']],
    ['beyond it', [3.9, 39, 1.01, 0.61, 36, 49], [...Array(5).fill('not_met'), 'met']],
  ])('of values %s', (_, [vmax, gradient, area, areaIndex, strokeIndex, ef], expected) => {
    const { category } = interpreted({
      ...{ 'av-vmax': vmax, 'av-mean-gradient': gradient, 'av-area': area },
      ...{ 'av-area-index': areaIndex, 'lvot-stroke-index': strokeIndex, 'lvef-biplane': ef },
    });
    expect(category('aortic-stenosis')?.criteria.map(({ outcome }) => outcome)).toEqual(expected);
  });
});

describe('a mean gradient above the peak gradient, which no jet has', () => {
  const between = { 'av-vmax': 3, 'av-mean-gradient': 45 } as const;
  it('gives no grade, and says why', () => {
    const { category, finding, summary: of, result } = interpreted(between);
    expect(category('aortic-stenosis')).toBeUndefined();
    const said =
      'Aortic stenosis was not graded: no jet can have both AV mean gradient 45 mmHg and AV Vmax 3.0 m/s';
    expect(of('valves')).toContain(said);
    expect(of('valves')).not.toContain('velocity-based grade');
    expect(result.report?.impression.join(' ')).toContain(said);
    expect(finding('aortic-stenosis-contradiction')).toMatchObject({
      severity: 'abnormal',
      evidence: ['cart-av-mean-gradient', 'cart-av-vmax'],
    });
  });
  it.each([
    [{ 'av-vmax': 3.5, 'av-mean-gradient': 65 }, 'critical'],
    [{ 'av-vmax': 5, 'av-mean-gradient': 120 }, 'critical'],
    [{ 'av-vmax': 1.5, 'av-mean-gradient': 12 }, undefined],
  ] as const)('%o is %s', (given, severity) => {
    const { finding, category } = interpreted(given);
    expect(finding('aortic-stenosis-contradiction')?.severity).toBe(severity);
    expect(category('aortic-stenosis')).toBeUndefined();
  });
  it.each([
    [36, undefined],
    [37, undefined],
    [38, 'abnormal'],
  ])('a velocity of 3.0 m/s, as displayed, allows %d mmHg: %s', (gradient, severity) => {
    const { finding } = interpreted({ 'av-vmax': 3, 'av-mean-gradient': gradient });
    expect(finding('aortic-stenosis-contradiction')?.severity).toBe(severity);
  });
});

describe('a peak velocity below 2.0 m/s with a valve area of at most 1.0 cm², which contradict each other', () => {
  /** AVA 0.84 cm², SVi 26 ml/m². */
  const between = {
    'av-vmax': 1.4,
    'lvot-diameter': 1.7,
    'lvot-vti': 21,
    'av-vti': 57,
    'lvef-biplane': 60,
  } as const;
  it('gives no grade, and says why', () => {
    const { category, finding, summary: of, result } = interpreted(between);
    expect(category('aortic-stenosis')).toBeUndefined();
    const said =
      'Aortic stenosis was not graded: AV Vmax 1.4 m/s does not suggest stenosis, but AVA 0.84 cm² is in the severe range. Check the LVOT diameter and the Doppler traces';
    expect(of('valves')).toContain(said);
    expect(of('valves')).not.toContain('low-flow');
    expect(result.report?.impression.join(' ')).toContain(said);
    expect(finding('aortic-stenosis')).toBeUndefined();
    expect(finding('aortic-stenosis-contradiction')).toMatchObject({
      severity: 'abnormal',
      evidence: ['cart-av-vmax', 'av-area'],
    });
  });
  it('is also reported for the area by peak velocities', () => {
    const { category, finding } = interpreted({
      'av-vmax': 1.4,
      'lvot-diameter': 1.5,
      'lvot-vmax': 0.7,
    });
    expect(category('aortic-stenosis')).toBeUndefined();
    expect(finding('aortic-stenosis-contradiction')?.evidence).toContain('av-area-vmax');
  });
  it.each([
    [1.94, 0.84, undefined],
    [1.95, 0.84, 'discordant low-gradient AS, flow state unknown'],
    [1.4, 1, undefined],
    [1.4, 1.01, 'no significant stenosis'],
  ])('AV Vmax %d m/s and AVA %d cm²: %s', (peak, area, expected) => {
    expect(grade({ 'av-vmax': peak, 'av-area': area })).toBe(expected);
  });
  it('is not graded by a mean gradient either', () => {
    expect(grade({ ...between, 'av-mean-gradient': 5 })).toBeUndefined();
  });
});

describe('a velocity without stenosis', () => {
  it('does not exclude a sclerosis that nobody looked for', () => {
    const { category } = interpreted({ 'av-vmax': 1.4 });
    expect(category('aortic-stenosis')?.value).toBe('no significant stenosis');
    expect(summary({ 'av-vmax': 1.4 })).not.toContain('sclerosis');
  });
});

describe('a valve area of the machine', () => {
  const given = { 'av-vmax': 3.5, 'lvot-diameter': 2, 'lvot-vti': 20, 'av-vti': 80 } as const;
  it('is used if it agrees with the DVI', () => {
    expect(interpreted({ ...given, 'av-area': 0.79 }).value('av-area')?.quality).toBe('accepted');
  });
  it('is rejected together with its grade if it does not, which is reported', () => {
    const { value } = interpreted({ ...given, 'av-area': 0.9 });
    expect(value('av-area')?.quality).toBe('inadequate');
    const text = summary({ ...given, 'av-area': 0.9 });
    expect(text).toContain('differ by more than 1 %');
    expect(text).toContain('No valve area was used; velocity-based grade only.');
  });
  it('is not reported as missing if it is graded without an LVOT diameter', () => {
    expect(summary({ 'av-vmax': 3.5, 'av-area': 0.9 })).not.toContain('not calculated');
  });
  it('is reported as missing if only the DVI is available', () => {
    expect(summary({ 'av-vmax': 3.5, 'lvot-vti': 20, 'av-vti': 80 })).toContain('DVI given');
    expect(summary({ 'av-vmax': 3.5 })).toContain('velocity-based grade only.');
  });
});

/** Low flow: SVi is 25 ml/m2 and AVA 0.52 cm2. */
const LOW_FLOW = {
  'av-vmax': 3.5,
  'lvot-diameter': 2,
  'lvot-vti': 15,
  'av-vti': 90,
} as const;

describe('the LVEF that separates classical from paradoxical low flow', () => {
  it('is that of the study', () => {
    expect(grade({ ...LOW_FLOW, 'lvef-biplane': 60 })).toMatch(/^paradoxical/);
    expect(summary({ ...LOW_FLOW, 'lvef-biplane': 60 })).toContain('CT calcium');
    expect(grade({ ...LOW_FLOW, 'lvef-biplane': 40 })).toMatch(/^classical/);
  });
  it('is unknown if two ways to measure it contradict each other', () => {
    const contradicting = { ...LOW_FLOW, 'lvef-networks': 55, 'lvef-biplane': 40 };
    expect(grade(contradicting, 'model')).toBe('low-flow low-gradient AS, LVEF unknown');
    expect(interpreted(contradicting, 'model').summary('valves')).toContain(
      'differ by more than 10 points',
    );
    expect(grade({ ...contradicting, 'lvef-biplane': 50 }, 'model')).toMatch(/^paradoxical/);
  });
});

describe('quantities of regurgitation that contradict each other', () => {
  it('are a finding, because one of them is that of severe regurgitation', () => {
    const { finding, category } = interpreted({ 'mr-orifice': 0.45, 'mr-fraction': 20 });
    expect(category('mitral-regurgitation')?.value).toBe('inconsistent, suggest CMR');
    expect(finding('mitral-regurgitation')).toMatchObject({ severity: 'abnormal' });
  });
});

describe('the stroke volumes of LVOT and LV (echo 4.6, 19)', () => {
  /** The LVOT of 2.0 cm has 3.14 cm², and the LV ejects 60 ml. */
  const ventricle = { 'lvedv-biplane': 100, 'lvesv-biplane': 40, 'lvot-diameter': 2 } as const;
  const said = (vti: number, other: Given = {}) =>
    summary({ ...ventricle, 'lvot-vti': vti, ...other });
  it.each([
    ['72 ml', 22.9, null],
    ['72 ml', 22.94, 'the LV volumes are underestimated, or the LVOT diameter is overestimated'],
    ['42 ml', 13.4, null],
    [
      '42 ml',
      13.33,
      'check the LVOT diameter and the volumes, unless MR or AR that was not assessed',
    ],
  ])('an LVOT stroke volume of %s', (volume, vti, expected) => {
    if (expected === null) expect(said(vti)).not.toContain('The stroke volume is');
    else
      expect(said(vti)).toContain(
        `${volume} by the LVOT and 60 ml by the biplane volumes: ${expected}`,
      );
  });
  it('differ in significant MR, but a larger one of the LVOT is never explained', () => {
    expect(said(13, { 'mr-volume': 45 })).not.toContain('The stroke volume is');
    expect(said(25, { 'mr-volume': 45 })).toContain('The stroke volume is 79 ml by the LVOT');
  });
  it('contradict each other if MR and AR are mild', () => {
    expect(said(13, { 'mr-volume': 10, 'ar-volume': 10 })).toContain(
      'check the LVOT diameter and the volumes.',
    );
  });
});

describe('regurgitation with an impossible quantity', () => {
  it('has no grade, which the summary explains', () => {
    const { category, summary: of } = interpreted({ 'mr-fraction': -20, 'ar-volume': -15 });
    expect(category('mitral-regurgitation')).toBeUndefined();
    expect(category('aortic-regurgitation')).toBeUndefined();
    expect(of('valves')).toContain('Regurgitation not assessed.');
    expect(of('valves')).toContain('outside the plausible range');
  });
});

describe('mitral stenosis', () => {
  const ms = (given: Given) => interpreted(given).category('mitral-stenosis')?.value;
  it.each([
    [3.99, 'progressive (non-severe) MS'],
    [4, undefined],
    [4.2, undefined],
  ])('of a planimetry of %d cm2: %s', (area, expected) => {
    const { finding, category } = interpreted({ 'mv-area-planimetry': area });
    expect(category('mitral-stenosis')?.value).toBe(expected);
    expect(finding('mitral-stenosis') !== undefined).toBe(expected !== undefined);
  });
  it('is not graded if the area is normal, by convention, which the summary states', () => {
    expect(summary({ 'mv-area-planimetry': 4.2 })).toContain('By convention');
  });
  it.each([
    [4.4, undefined],
    [4.5, 'very severe MS'],
  ])('by half-time with a gradient of %d mmHg: %s', (gradient, expected) => {
    expect(ms({ 'mv-half-time': 220, 'mv-mean-gradient': gradient })).toBe(expected);
  });
  it('by half-time is not graded if the area is normal, which is stated with a gradient', () => {
    const given = { 'mv-half-time': 50, 'mv-mean-gradient': 8 };
    expect(ms(given)).toBeUndefined();
    expect(summary(given)).toContain('By convention');
    expect(summary({ 'mv-half-time': 50 })).not.toContain('By convention');
  });
  it('by half-time carries its caution', () => {
    expect(summary({ 'mv-half-time': 220, 'mv-mean-gradient': 8 })).toContain('commissurotomy');
  });
  it.each([
    [29, 'very severe MS'],
    [30, undefined],
  ])('by half-time with AR of %d ml: %s', (volume, expected) => {
    const given = { 'mv-half-time': 220, 'mv-mean-gradient': 8, 'ar-volume': volume };
    expect(ms(given)).toBe(expected);
    expect(summary(given)).toMatch(/half-time.* is not valid with .*significant/);
  });
  it.each([
    [150, undefined],
    [400, 'very severe MS'],
  ])('by half-time with AR of unknown severity and a half-time of %d ms: %s', (time, expected) => {
    const given = { 'mv-half-time': 220, 'mv-mean-gradient': 8, 'ar-half-time': time };
    expect(ms(given)).toBe(expected);
    const unclear = 'not valid with AR that is or may be significant';
    expect(summary(given).includes(unclear)).toBe(expected === undefined);
  });
  it.each([
    ['narrow', 220],
    ['normal', 50],
  ])('is suspected by the gradient if AR makes a %s area by half-time invalid', (_, time) => {
    const given = { 'mv-half-time': time, 'mv-mean-gradient': 8, 'ar-volume': 50 };
    const detail = interpreted({ ...given, 'mitral-e': 150, 'mitral-a': 60 }).summary('diastolic');
    expect(detail).toContain('a mitral mean gradient of at least 5 mmHg suggests stenosis');
    expect(detail).not.toContain('by half-time');
  });
});

describe('mitral stenosis that one value suggests and none confirms', () => {
  it.each([
    [
      'a gradient without an area',
      { 'mv-mean-gradient': 12 },
      'abnormal',
      ['cart-mv-mean-gradient'],
    ],
    [
      'an area by half-time without a gradient',
      { 'mv-half-time': 240 },
      'abnormal',
      ['cart-mv-half-time', 'mv-area-half-time'],
    ],
    [
      'an area by half-time with a low gradient',
      { 'mv-half-time': 240, 'mv-mean-gradient': 2 },
      'info',
      ['cart-mv-mean-gradient', 'cart-mv-half-time', 'mv-area-half-time'],
    ],
  ] as const)('is a finding without a grade: %s', (_, given, severity, evidence) => {
    const { finding, category, summary: of } = interpreted(given);
    expect(finding('mitral-stenosis-suspected')).toMatchObject({ severity, evidence });
    expect(category('mitral-stenosis')).toBeUndefined();
    expect(of('valves')).toContain('Mitral stenosis is suspected but was not graded');
  });
  it('is in the impression', () => {
    const { result } = interpreted({ 'mv-mean-gradient': 12 });
    expect(result.report?.impression.join(' ')).toContain(
      'Mitral stenosis is suspected but was not graded: a mitral mean gradient of at least 5 mmHg suggests stenosis, but there is no accepted valve area',
    );
  });
  it.each([
    [{ 'mv-mean-gradient': 4 }],
    [{ 'mv-half-time': 140 }],
    [{ 'mv-half-time': 220, 'mv-mean-gradient': 8 }],
    [{ 'mv-area-planimetry': 4.5, 'mv-mean-gradient': 12 }],
  ] as const)('is not suspected: %o', (given) => {
    expect(interpreted(given).finding('mitral-stenosis-suspected')).toBeUndefined();
  });
});

describe('regurgitation of which nothing was measured', () => {
  it('is reported for each valve', () => {
    expect(summary({ 'av-vmax': 1.4 })).toContain('Regurgitation not assessed.');
    expect(summary({ 'ar-half-time': 400 })).toContain(
      'Regurgitation not assessed: mitral and tricuspid valves.',
    );
    expect(summary({ 'ar-volume': 20, 'mr-volume': 20, 'tr-vena-contracta': 5 })).not.toContain(
      'not assessed',
    );
  });
});

describe('pulmonary stenosis', () => {
  it('is a finding from 3 m/s on', () => {
    expect(interpreted({ 'pv-vmax': 3 }).finding('pulmonary-stenosis')?.text).toContain('moderate');
    expect(interpreted({ 'pv-vmax': 2.9 }).finding('pulmonary-stenosis')).toBeUndefined();
  });
});
