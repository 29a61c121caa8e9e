import { describe, expect, it } from 'vitest';
import { type MeasuredStudy, measuredStudy } from '../measured-study.ts';

const LINEAR = { ivsd: 1, lvidd: 5, lvpwd: 1, lvids: 3.2 } as const;
const SURFACE = { 'body-surface-area': 1.848 } as const;
const NO_BODY = { height: null, weight: null, surface: null } as const;

const of = (study: MeasuredStudy, id: string) => {
  const { section, category } = measuredStudy(study);
  const { summary = '', reason } = section(id) ?? {};
  return { summary, gaps: reason?.detail ?? '', category };
};

const size = (machine: MeasuredStudy['machine'], patient: MeasuredStudy['patient'] = {}) =>
  of({ machine: { ...SURFACE, ...machine }, patient }, 'lv-size');

const atrium = (machine: MeasuredStudy['machine'], patient: MeasuredStudy['patient'] = {}) =>
  of({ machine, patient }, 'la-volume');

describe('LV mass of an obese heart', () => {
  // With 175 cm, 91.7 kg are 30.0 kg/m2.
  it.each([
    [91.7, false],
    [91.8, true],
  ] as const)('at %d kg is indexed to height: %s', (weight, given) => {
    const { summary } = size(LINEAR, { height: 175, weight });
    expect(summary.includes('LV mass / height^2.7')).toBe(given);
  });
  // 1.75^2.7 is 4.531, so 219 and 221 g are 48.3 and 48.8 g/m^2.7.
  it.each([
    [219, 'normal'],
    [221, 'mildly abnormal'],
  ])('of %d g is %s', (mass, expected) => {
    const { category } = size({ 'lv-mass': mass }, { height: 175, weight: 110 });
    expect(category('lv-mass-per-height-grade')).toBe(expected);
  });
  // The normal range ends at 44 g/m^2.7 for women and at 48 for men: 219 g are in between.
  it.each([
    [182, 'normal'],
    [219, undefined],
    [230, 'mildly abnormal'],
    [240, 'abnormal'],
    [290, 'severely abnormal'],
  ])('of %d g is without sex %s', (mass, expected) => {
    const { category } = size({ 'lv-mass': mass }, { height: 175, weight: 110, sex: null });
    expect(category('lv-mass-per-height-grade')).toBe(expected);
  });
});

describe('walls that differ in thickness', () => {
  it.each([
    [1.3, false],
    [1.31, true],
  ])(
    'IVSd of %d and LVPWd of 1.0 cm: relative thickness calculated both ways: %s',
    (ivsd, both) => {
      expect(size({ ...LINEAR, ivsd }).summary.includes('(IVSd + LVPWd)/LVIDd')).toBe(both);
    },
  );
  it('uses the mean of both walls: 1.6, 5.0, 1.0 cm are 0.52', () => {
    expect(size({ ...LINEAR, ivsd: 1.6 }).summary).toContain('(IVSd + LVPWd)/LVIDd is 0.52');
  });
});

describe('a value beyond its normal range', () => {
  it.each([
    ['above it', { lvidd: 5.9 }, ['lv-size-abnormal: abnormal']],
    ['at its upper end', { lvidd: 5.8 }, []],
    ['at its lower end', { lvidd: 4.2 }, []],
    ['below it, where no severity is graded,', { lvidd: 4.1 }, ['lv-size-outside-range: info']],
    [
      'in both directions',
      { lvidd: 4.1, ivsd: 1.1 },
      ['lv-size-abnormal: abnormal', 'lv-size-outside-range: info'],
    ],
  ])('%s: %j', (_, machine, expected) => {
    expect(measuredStudy({ machine }).findings('lv-size')).toEqual(expected);
  });

  it('is stated with its own values', () => {
    const { result } = measuredStudy({ machine: { lvidd: 4.1, ivsd: 1.1 } });
    const textOf = (id: string) => result.findings.find((one) => one.id === id)?.text;
    expect(textOf('lv-size-abnormal')).toBe('IVSd 1.1 cm mildly abnormal.');
    expect(textOf('lv-size-outside-range')).toBe('LVIDd 4.1 cm below normal range.');
    expect(result.report?.impression).toEqual([expect.stringMatching(/small.*thick/)]);
  });
});

describe('the reason why there is no geometry', () => {
  it('is the mass if it was withheld', () => {
    const { gaps } = size({ ...LINEAR, ivsd: 3.5, lvidd: 7, lvpwd: 3.5 });
    expect(gaps).toContain('LV geometry was not assessed: LV mass was withheld.');
    expect(gaps).not.toContain('height and weight');
  });
  it('is the body surface if it is unknown', () => {
    const { gaps } = of({ machine: LINEAR, patient: NO_BODY }, 'lv-size');
    expect(gaps).toContain('Indexed values are not reported: height and weight are missing');
    expect(gaps).toContain('LV geometry was not assessed without an LV mass index.');
  });
});

describe('relative wall thickness', () => {
  it('may combine a wall and a diameter from two sources', () => {
    const { value } = measuredStudy({ machine: { lvpwd: 1 }, outlines: { lvidd: 5 } });
    expect(value('relative-wall-thickness')?.value).toBe(0.4);
  });
});

describe('fractional shortening', () => {
  it('uses diameters from one source', () => {
    const { value } = measuredStudy({ machine: { lvidd: 5 }, outlines: { lvids: 3.2 } });
    expect(value('fractional-shortening')).toBeUndefined();
  });
});

describe('LA volume', () => {
  it('that the machine reports as an index is graded and not reported as missing', () => {
    const { gaps, category } = atrium({ 'la-volume-index': 30 });
    expect(category('la-volume-grade')).toBe('normal');
    expect(gaps).not.toContain('was not assessed');
    expect(gaps).not.toMatch(/no .* clip was found/);
  });
  it('is missing if there is no source for it', () => {
    expect(atrium({ 'la-diameter': 3.5 }).gaps).toMatch(/not assessed|could be|No permitted/i);
  });
  it.each([
    [31, true],
    [30, false],
    [51, true],
    [52, false],
  ])('index of %d ml/m2 is close to a limit of its grade: %s', (index, near) => {
    expect(atrium({ 'la-volume-index': index }).summary.includes('within 3 ml/m²')).toBe(near);
  });
  it('of a child has neither grade nor range, and only its age is given as the reason', () => {
    const { gaps, category } = atrium({ 'la-diameter': 3.5, 'la-volume-index': 30 }, { age: 17 });
    expect(category('la-volume-grade')).toBeUndefined();
    expect(category('la-diameter-grade')).toBeUndefined();
    expect(gaps).toContain('under 18 years');
    expect(gaps).not.toContain('The sex of the patient');
  });
});
