import { describe, expect, it } from 'vitest';
import type { ConceptKey, MethodKey } from '../../../../pipelines/concepts/concepts.ts';
import { heartOutlines, outlinedValues } from '../../../../pipelines/echo/evidence.ts';
import { gradableEf, headlineEf, ungradedEf } from '../../../../pipelines/echo/lvef/judge.ts';
import { valuesOf } from '../../../../pipelines/echo/shared/values.ts';
import { NO_FRAME } from '../../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { interpreted } from '../interpret-sample.ts';
import { type MeasuredStudy, measuredStudy } from '../measured-study.ts';
import { beatingClip, HEALTHY } from '../ventricle-sample.ts';

const value = (
  provenance: 'cart-sr' | 'model',
  key: ConceptKey,
  number: number,
  method: MethodKey = 'cart-sr',
) =>
  createMeasurement(`${provenance}-${key}`, key, number, method, {
    section: 'lvef',
    source: { ...NO_FRAME, provenance },
  });
const machine = (key: ConceptKey, number: number, method?: MethodKey) =>
  value('cart-sr', key, number, method);
const images = (key: ConceptKey, number: number) => value('model', key, number);

/**
 * Returns the conclusions of the LVEF section for a study, together with those of the sections that
 * use the EF.
 */
function told(study: MeasuredStudy) {
  const { section, category, result } = measuredStudy(study);
  const own = result.findings.filter((one) => one.section === 'lvef');
  return {
    grade: category('lvef-grade'),
    gaps: section('lvef')?.reason?.detail ?? '',
    summary: section('lvef')?.summary ?? '',
    focused: section('focused')?.summary ?? '',
    focusedLevel: category('focused-lv-function'),
    pattern: category('dilated-pattern'),
    findings: own.map(({ severity }) => severity),
    words: own.map(({ text }) => text).join(' '),
  };
}

describe('the EF that counts', () => {
  it.each([
    ['a better method of the machine', [machine('lvef-3d', 50), images('lvef-networks', 55)], 50],
    ['the same method of the machine', [images('lvef-4c', 55), machine('lvef-4c', 50)], 50],
    [
      'networks, before a lesser method of the machine',
      [machine('lvef-2c', 50), images('lvef-networks', 55)],
      55,
    ],
    [
      'networks, before discs of the images',
      [images('lvef-biplane', 50), images('lvef-networks', 55)],
      55,
    ],
  ])('is that of %s', (_, measured, expected) => {
    expect(headlineEf(valuesOf(measured))?.value).toBe(expected);
  });
});

describe('an EF of the machine and an EF of the images', () => {
  it.each([
    [45, 55, 55],
    [44.5, 55, 55],
    [44.4, 55, null],
    [65, 55, 55],
    [65.4, 55, 55],
    [65.5, 55, null],
    [39.4, 49.6, null],
    [39.5, 49.6, 49.6],
  ])('of %d and %d %%, compared as printed, leave %s to grade', (cart, own, expected) => {
    const values = valuesOf([machine('lvef', cart), images('lvef-networks', own)]);
    expect(gradableEf(values)?.value ?? null).toBe(expected);
  });

  it.each([
    ['one diameter does not contradict volumes', [machine('lvef-teichholz', 40)], 55],
    [
      'a lesser method does not where a better one of its source agrees',
      [machine('lvef-biplane', 52), machine('lvef-teichholz', 40)],
      52,
    ],
  ])('are compared by the best method of each: %s', (_, ofMachine, expected) => {
    const values = valuesOf([...ofMachine, images('lvef-networks', 55)]);
    expect(gradableEf(values)?.value).toBe(expected);
  });

  it('are distinguished from an EF of the machine whose volume a person corrected', () => {
    const corrected = { ...machine('lvef-biplane', 60), origin: 'person' as const };
    const { gap } = ungradedEf(valuesOf([corrected, images('lvef-networks', 45)])) ?? {};
    expect(gap?.params).toMatchObject({ readings: [{ origin: 'corrected' }, { origin: 'image' }] });
  });

  it('contradict each other even under one concept', () => {
    const values = valuesOf([machine('lvef-4c', 60), images('lvef-4c', 45)]);
    expect(gradableEf(values)).toBeNull();
  });

  it('contradict each other even if the images provide only volumes', () => {
    const own = [images('lvedv-biplane', 100), images('lvesv-biplane', 70)];
    expect(gradableEf(valuesOf([machine('lvef-biplane', 60), ...own]))).toBeNull();
    expect(gradableEf(valuesOf([machine('lvef-biplane', 40), ...own]))?.value).toBe(40);
  });

  it('are not compared if only the machine measured, by two methods', () => {
    const values = valuesOf([machine('lvef-biplane', 50), machine('lvef-teichholz', 65)]);
    expect(gradableEf(values)?.value).toBe(50);
  });

  it.each([
    ['in another grade', [machine('lvef-biplane', 60), machine('lvef', 45)], null],
    ['at the variability', [machine('lvef-biplane', 60), machine('lvef', 50)], 60],
    ['in the same grade', [machine('lvef-biplane', 57), machine('lvef', 70)], 57],
    ['of one of the planes', [machine('lvef-biplane', 45), machine('lvef-4c', 60)], 45],
    ['of an unknown plane', [machine('lvef-biplane', 45), machine('lvef', 60, 'cart-discs')], 45],
    ['of the other plane', [machine('lvef-4c', 60), machine('lvef-2c', 45)], null],
  ])('of the machine, %s', (_, measured, expected) => {
    expect(gradableEf(valuesOf(measured))?.value ?? null).toBe(expected);
  });

  it.each([
    ['that contradicts the networks', [images('lvef-networks', 60), images('lvef-2c', 28)], null],
    ['that contradicts A4C', [images('lvef-4c', 60), images('lvef-2c', 45)], null],
    ['at the variability', [images('lvef-networks', 60), images('lvef-2c', 50)], 60],
    [
      'combined with A4C in the biplane volumes',
      [images('lvef-networks', 60), images('lvef-2c', 45), images('lvef-biplane', 53)],
      60,
    ],
  ])('of the images in A2C, %s', (_, measured, expected) => {
    expect(gradableEf(valuesOf(measured))?.value ?? null).toBe(expected);
  });

  it('keeps the alert of the plane below 30 %', () => {
    const said = told({ outlines: { 'lvef-networks': 60, 'lvef-2c': 28 } });
    expect(said.grade).toBeUndefined();
    expect(said.findings).toEqual(['critical']);
    expect(said.gaps).toContain('LVEF (A2C) 28 % from the images differ');
  });

  it('that contradicts the volumes of the machine is not graded, and both are stated', () => {
    const volumes = { 'lvedv-biplane': 150, 'lvesv-biplane': 105 };
    const said = told({ machine: { 'lvef-biplane': 60, ...volumes }, outlines: {} });
    expect(said.grade).toBeUndefined();
    expect(said.gaps).toContain(
      'LVEF (biplane) 60 % from the machine and LVEF 30 % (EDV and ESV) from the machine differ',
    );
    expect(said.focusedLevel).toBeUndefined();
  });

  it('are both reported if they contradict each other, and no section uses either', () => {
    const said = told({ machine: { lvef: 28, lvidd: 5 }, outlines: { 'lvef-networks': 55 } });
    expect(said.grade).toBeUndefined();
    expect(said.gaps).toContain('LVEF 55 % from the images and LVEF 28 % from the machine differ');
    expect(said.focused).toContain('LV function was not graded');
    expect(said.focusedLevel).toBeUndefined();
    expect(said.pattern).toBeUndefined();
  });

  it('keep the alert of either one that is below 30 %', () => {
    const said = told({ machine: { lvef: 28 }, outlines: { 'lvef-networks': 55 } });
    expect(said.findings).toEqual(['critical']);
    expect(said.words).toContain('one of two methods gives LVEF below 30 %');
    const higher = told({ machine: { lvef: 30 }, outlines: { 'lvef-networks': 55 } });
    expect(higher.findings).toEqual([]);
  });

  it("keep the machine's alert if they agree on a value above", () => {
    const said = told({ machine: { lvef: 29 }, outlines: { 'lvef-networks': 34 } });
    expect(said.findings).toEqual(['critical']);
    expect(said.words).toContain('LVEF 29 % from the machine');
    expect(said.grade).toBe('moderately abnormal');
  });
});

describe('several EFs of the machine', () => {
  it('keep the alert of one that is below 30 %', () => {
    const said = told({ machine: { 'lvef-3d': 55, 'lvef-biplane': 25 } });
    expect(said.findings).toEqual(['critical']);
    expect(said.words).toContain('one of two methods gives LVEF below 30 %');
    expect(said.gaps).toContain(
      'LVEF (3D) 55 % from the machine and LVEF (biplane) 25 % from the machine differ',
    );
  });
  it('give no alert by one diameter against volumes', () => {
    expect(told({ machine: { 'lvef-biplane': 55, 'lvef-teichholz': 25 } }).findings).toEqual([]);
  });
});

describe('large volumes', () => {
  it('are a finding even if the EF is normal', () => {
    const said = told({
      machine: { 'lvedv-biplane': 200, 'lvesv-biplane': 90, 'body-surface-area': 1.85 },
    });
    expect(said.grade).toBe('normal');
    expect(said.findings).toEqual(['abnormal']);
    expect(said.words).toBe(
      'LVEDVi 108 ml/m² severely abnormal, LVESVi 49 ml/m² severely abnormal.',
    );
  });
});

describe('networks and discs of the images that contradict each other', () => {
  it('are not graded severely reduced, because only one of two methods shows that', () => {
    const { findings, words, focused } = told({
      outlines: { 'lvef-networks': 44, 'lvef-biplane': 28 },
    });
    expect(findings).toEqual(['critical']);
    expect(words).toContain('one of two methods');
    expect(words).not.toContain('severely reduced');
    expect(focused).not.toContain('LVEF about');
  });
});

describe('LVEF by one diameter', () => {
  const teichholz = (given: MeasuredStudy['machine'], patient?: MeasuredStudy['patient']) =>
    told({ machine: { 'lvef-teichholz': 60, ...given }, ...(patient && { patient }) });

  it.each([
    [5.8, 'male', 'normal'],
    [5.9, 'male', undefined],
    [5.2, 'female', 'normal'],
    [5.3, 'female', undefined],
  ] as const)('and an LVIDd of %d cm in a %s: %s', (lvidd, sex, expected) => {
    expect(teichholz({ lvidd }, { sex }).grade).toBe(expected);
  });
  it('is not graded in a certainly dilated ventricle if the sex is unknown', () => {
    const values = (lvidd: number) =>
      valuesOf([machine('lvef-teichholz', 60), machine('lvidd', lvidd)]);
    expect(gradableEf(values(5.8))?.value).toBe(60);
    expect(gradableEf(values(5.9))).toBeNull();
  });
  it.each([
    [1, 'normal'],
    [1.06, undefined],
  ])('and a score index of %d: %s', (index, expected) => {
    expect(teichholz({ 'wall-motion-score-index': index }).grade).toBe(expected);
  });
  it('is shown but not used, with the reason', () => {
    const said = teichholz({ lvidd: 6.2 });
    expect(said.summary).toContain('LVEF (Teichholz) 60 %');
    expect(said.gaps).toContain('neither graded nor used: the LV is dilated (LVIDd 6.2 cm)');
    expect(said.focusedLevel).toBeUndefined();
    expect(said.pattern).toBeUndefined();
  });
  it('applies to the cube of the diameters, but to no method that traces the cavity', () => {
    const beside = (method: MethodKey) =>
      gradableEf(valuesOf([machine('lvef', 60, method), machine('lvidd', 6.5)]));
    expect(beside('cart-cube')).toBeNull();
    expect(beside('cart-area-length-biplane')?.value).toBe(60);
  });
});

describe('LVEF of a child', () => {
  const study = (age: number) =>
    measuredStudy({
      machine: { 'lvef-biplane': 25, 'lvedv-biplane': 100, lvidd: 4, 'la-diameter': 3 },
      patient: { age, sex: age < 18 ? 'male' : null },
    });
  it('has no finding for adults and mentions no range for adults', () => {
    const { result } = study(10);
    expect(result.findings).toEqual([]);
    const notes = result.measurements.map(({ note }) => note ?? '').join(' ');
    expect(notes).not.toContain('normal range');
    expect(result.measurements.every(({ reference }) => reference === null)).toBe(true);
  });
  it('has the age as its only reason not to be graded', () => {
    const { section } = measuredStudy({
      machine: { lvef: 40, 'la-diameter': 3 },
      patient: { age: 10, sex: null },
    });
    for (const id of ['lvef', 'la-volume', 'lv-size']) {
      expect(section(id)?.summary).not.toContain('The sex of the patient');
    }
  });
  it('at 18 is treated as that of an adult', () => {
    const { result } = study(18);
    expect(result.findings.map(({ severity }) => severity)).toContain('critical');
    expect(result.measurements.map(({ note }) => note ?? '').join(' ')).toContain('normal range');
  });
});

describe('the band of the focused study', () => {
  const focused = (sex: 'male' | null) =>
    told({ machine: { 'lvef-biplane': 52 }, patient: { sex } }).focused;
  it('is never shown with the sex-specific grade of the same EF (echo 15)', () => {
    expect(focused('male')).toContain('LVEF about 50 %.');
    expect(focused(null)).toContain('LVEF about 50 % (normal)');
  });
});

describe('volumes of both sources', () => {
  it('never result in an EF from one of each', () => {
    const { value } = measuredStudy({
      machine: { 'lvedv-biplane': 118 },
      outlines: { 'lvesv-biplane': 66 },
    });
    expect(value('lvef-biplane')).toBeUndefined();
  });
  it("from the images are labelled as such next to the machine's EF", () => {
    const { value } = measuredStudy({
      machine: { 'lvef-biplane': 52 },
      outlines: { 'lvedv-biplane': 118, 'lvesv-biplane': 66 },
    });
    expect(value('lvef-biplane')?.note).toContain('EDV and ESV from the images give 44 %');
  });
  it('are described as not indexed only if there is no index', () => {
    const patient = { surface: null, height: null, weight: null };
    const gaps = (machine: MeasuredStudy['machine']) =>
      told({ machine: { 'lvef-biplane': 60, 'lvedv-biplane': 100, ...machine }, patient }).gaps;
    expect(gaps({})).toContain('Indexed values are not reported');
    expect(gaps({ 'lvedv-index': 54 })).not.toContain('Indexed values are not reported');
  });
});

it.each([
  [8, 'The methods disagree, but each gives LVEF below 30 %'],
  [40, 'The methods disagree: one of two methods gives LVEF below 30 %'],
])('LVEFs of 27 and %d %% that contradict each other are critical: %s', (machine, expected) => {
  const study = { machine: { lvef: machine }, outlines: { 'lvef-networks': 27 } };
  expect(told(study)).toMatchObject({ grade: undefined, findings: ['critical'] });
  expect(told(study).words).toContain(expected);
});

it('an LVEF that was measured but withheld is not said to be unmeasured', () => {
  const heart = heartOutlines({ clips: [beatingClip('A4C', HEALTHY)], volumesTrusted: false });
  const { section } = interpreted({}, 'model', {}, { heart, measured: outlinedValues(heart) });
  expect(section('lvef')).toMatchObject({ status: 'inadequate' });
  const detail = section('lvef')?.reason?.detail;
  expect(detail).toContain('LVEF was not assessed: there is no accepted value.');
  expect(detail).toMatch(/LVEF.* were withheld: no permitted model/);
});

describe('two A4C clips', () => {
  const joint = { confidence: 0.9, diastole: 0, systole: 18 };
  const clip = (file: string, percent: number, accepted = true) =>
    beatingClip('A4C', HEALTHY, { file, ejections: [{ ...joint, percent, accepted }] });
  const study = (...clips: ReturnType<typeof clip>[]) => {
    const heart = heartOutlines({ clips, volumesTrusted: true });
    return interpreted({}, 'model', {}, { heart, measured: outlinedValues(heart) });
  };

  it('that contradict each other give no grade, and both are stated', () => {
    const { category, summary, finding, result } = study(clip('a.dcm', 65), clip('b.dcm', 28));
    expect(category('lvef-grade')).toBeUndefined();
    expect(summary('lvef')).toContain(
      'LVEF 65 % from the images and LVEF 28 % from another A4C clip differ by more than 10 points: LVEF was not graded.',
    );
    expect(finding('severe-lv-dysfunction')).toMatchObject({ severity: 'critical' });
    const [ef, other] = result.measurements.filter(
      ({ concept }) => concept.key === 'lvef-networks',
    );
    expect(ef).toMatchObject({ value: 65, standing: 'counts', source: { file: 'a.dcm' } });
    expect(other).toMatchObject({ value: 28, standing: 'repeat', source: { file: 'b.dcm' } });
  });

  it.each([
    ['agree', [clip('a.dcm', 65), clip('b.dcm', 55)], 'normal'],
    [
      'of which the second is disputed but near',
      [clip('a.dcm', 65), clip('b.dcm', 55, false)],
      'normal',
    ],
    ['of which the first is disputed', [clip('a.dcm', 65, false), clip('b.dcm', 28)], undefined],
  ])('that %s: %s', (_, clips, expected) => {
    const { category, result } = study(...clips);
    expect(category('lvef-grade')?.value).toBe(expected);
    const efs = result.measurements.filter(({ concept }) => concept.key === 'lvef-networks');
    expect(efs).toHaveLength(1);
  });

  it('of which the second is disputed and far from the first: it is named, and withheld', () => {
    const { category, section, finding, result } = study(
      clip('a.dcm', 65),
      clip('b.dcm', 38, false),
    );
    expect(category('lvef-grade')?.value).toBe('normal');
    expect(section('lvef')?.status).toBe('partial');
    expect(section('lvef')?.summary).toContain(
      'another A4C clip gave an LVEF more than 10 points apart, which was not accepted because the two networks do not agree on it',
    );
    expect(finding('severe-lv-dysfunction')).toBeUndefined();
    const efs = result.measurements.filter(({ concept }) => concept.key === 'lvef-networks');
    expect(efs[1]).toMatchObject({ standing: 'withheld', source: { file: 'b.dcm' } });
  });
});
