import { describe, expect, it } from 'vitest';
import { ECHO_CONCEPTS, type EchoConcept } from '../../../pipelines/concepts/echo.ts';
import { type HeartOutlines, NO_OUTLINES } from '../../../pipelines/echo/evidence.ts';
import { plausibleRange } from '../../../pipelines/echo/shared/plausibility.ts';
import type { EchoPatient } from '../../../pipelines/echo/shared/section.ts';
import { interpreted as studied } from './interpret-sample.ts';

type Given = Readonly<Partial<Record<EchoConcept, number>>>;

function interpreted(
  given: Given,
  patient: Partial<EchoPatient> = {},
  handheld = false,
  provenance: 'cart-sr' | 'model' = 'cart-sr',
  heart: HeartOutlines = NO_OUTLINES,
) {
  const study = studied(given, provenance, patient, { handheld, heart });
  return { ...study, category: (id: string) => study.category(id)?.value };
}

const LINEAR = { ivsd: 1, lvidd: 5, lvpwd: 1, lvids: 3.2 } as const;

describe('a study without any value', () => {
  const { result } = interpreted({});
  it('assesses no section, and states for each why, and what it needs', () => {
    for (const { id, status, reason } of result.sections.filter((one) => one.id !== 'report')) {
      expect([id, status]).toEqual([id, 'not_assessed']);
      expect(reason?.detail.length).toBeGreaterThan(20);
      expect(reason?.needs.length).toBeGreaterThan(0);
    }
  });
  it('concludes nothing and finds nothing normal', () => {
    expect(result.findings).toEqual([]);
    expect(result.report?.impression).toEqual([
      'No conclusion can be drawn from what was assessed.',
    ]);
    expect(result.report?.findings.join(' ')).not.toMatch(/normal/i);
  });
});

describe('size of the left ventricle', () => {
  it('is complete with four dimensions, sex and surface', () => {
    const { section, category, value } = interpreted(LINEAR);
    expect(section('lv-size')?.status).toBe('complete');
    expect(value('lv-mass')?.value).toBeCloseTo(181.976, 2);
    expect(category('lv-geometry')).toBe('normal geometry');
    expect(value('lvidd')?.reference).toMatchObject({ low: 4.2, high: 5.8 });
  });
  it('has no range without sex, but both ranges in words', () => {
    const { section, value } = interpreted(LINEAR, { sex: null });
    expect(section('lv-size')).toMatchObject({ status: 'partial' });
    expect(value('lvidd')?.reference).toBeNull();
    expect(value('lvidd')?.note).toContain('male 4.2 to 5.8, female 3.8 to 5.2');
  });
  // The mass index is 98 g/m², between the limits of 95 for women and 115 for men.
  it('has a geometry without sex only if it is the same for both', () => {
    expect(interpreted(LINEAR, { sex: null }).category('lv-geometry')).toBeUndefined();
    expect(interpreted({ ...LINEAR, lvidd: 4.5 }, { sex: null }).category('lv-geometry')).toBe(
      'concentric remodelling',
    );
  });
  it.each([
    [4.1, null, undefined],
    [4.2, 'N', 'normal'],
    [5.2, 'N', 'normal'],
    [5.3, null, undefined],
    [5.8, null, undefined],
    [5.9, 'H', 'abnormal'],
    [6.9, 'H', 'severely abnormal'],
  ])('without sex, an LVIDd of %d cm has the mark %s and the grade %s', (lvidd, mark, grade) => {
    const { value, category } = interpreted({ ...LINEAR, lvidd }, { sex: null });
    expect(value('lvidd')?.interpretation).toBe(mark);
    expect(category('lvidd-grade')).toBe(grade);
  });
  it('states what is missing in the limitations, not in the impression', () => {
    const { result, section } = interpreted(LINEAR, { sex: null });
    const missing = section('lv-size')?.reason?.detail ?? '';
    expect(missing).not.toBe('');
    expect(result.report?.impression.join(' ')).not.toContain(missing);
    expect(result.report?.limitations.join(' ')).toContain(missing);
  });
  it('states once for all sections that height and weight are missing', () => {
    const volumes = { 'lvedv-biplane': 110, 'lvesv-biplane': 42 };
    const { result } = interpreted({ ...LINEAR, ...volumes }, { surface: null });
    const lines = result.report?.limitations ?? [];
    expect(lines.filter((line) => line.includes('Indexed values are not reported'))).toEqual([
      'Indexed values are not reported: height and weight are missing or implausible.',
    ]);
  });
  it('keeps mass and wall thickness without height and weight, but no geometry', () => {
    const { section, category, value } = interpreted(LINEAR, { surface: null });
    expect(value('lv-mass')).toBeDefined();
    expect(value('lv-mass-index')).toBeUndefined();
    expect(category('lv-geometry')).toBeUndefined();
    expect(section('lv-size')?.summary).toContain('geometry was not assessed');
  });
  it('withholds a dimension that is impossible for a heart, without its number in the report', () => {
    const { section, value, result } = interpreted({ ...LINEAR, lvidd: 10.1 });
    expect(value('lvidd')?.quality).toBe('inadequate');
    expect(value('lv-mass')).toBeUndefined();
    expect(section('lv-size')).toMatchObject({ status: 'partial' });
    expect(section('lv-size')?.summary).toContain('withheld');
    expect(result.report?.findings.join(' ')).not.toContain('10.1');
  });
  it('reports if the machine deviates from its own inputs by more than 5 %', () => {
    expect(interpreted({ ...LINEAR, 'lv-mass': 190 }).value('lv-mass')).toMatchObject({
      value: 190,
      note: null,
    });
    const { value } = interpreted({ ...LINEAR, 'lv-mass': 195 });
    expect(value('lv-mass')).toMatchObject({ value: 195 });
    expect(value('lv-mass')?.note).toContain('its inputs give 182 g');
  });
});

describe('the draft report', () => {
  it('is written whichever value the machine measured', () => {
    const middle = (key: EchoConcept) => {
      const { low, high } = plausibleRange(key) ?? { low: 1, high: 3 };
      return (low + high) / 2;
    };
    const keys = Object.keys(ECHO_CONCEPTS) as EchoConcept[];
    const withheld = keys.filter((key) => !interpreted({ [key]: middle(key) }).result.report);
    expect(withheld).toEqual([]);
  });
});

describe('ejection fraction', () => {
  it('follows the order of precedence: 3D before biplane before one plane before Teichholz', () => {
    const all = { 'lvef-teichholz': 70, 'lvef-4c': 60, 'lvef-biplane': 50, 'lvef-3d': 40 } as const;
    expect(interpreted(all).category('lvef-grade')).toBe('moderately abnormal');
    expect(interpreted({ ...all, 'lvef-3d': 1 }).category('lvef-grade')).toBe('mildly abnormal');
  });
  it.each([
    ['male', 52, 'normal'],
    ['male', 51.4, 'mildly abnormal'],
    ['female', 53.5, 'normal'],
    ['female', 53.4, 'mildly abnormal'],
  ] as const)('of a %s at %d %% is %s', (sex, ef, expected) => {
    expect(interpreted({ 'lvef-biplane': ef }, { sex }).category('lvef-grade')).toBe(expected);
  });
  it.each([
    [29.4, ['critical']],
    [29.5, ['abnormal']],
    [60, []],
  ] as const)('of %d %% leads to findings %o', (ef, severities) => {
    const { result } = interpreted({ 'lvef-biplane': ef });
    const own = result.findings.filter(({ section }) => section === 'lvef');
    expect(own.map(({ severity }) => severity)).toEqual(severities);
  });
  it('of one plane is limited, which is stated', () => {
    const { section } = interpreted({ 'lvef-4c': 60 });
    expect(section('lvef')).toMatchObject({ status: 'partial' });
    expect(section('lvef')?.summary).toContain('not biplane');
  });
});

describe('what is unknown is not treated as negative', () => {
  it('a low TR velocity without other signs is low by TRV only', () => {
    const { section, category } = interpreted({ 'tr-vmax': 2.5 });
    expect(category('ph-probability')).toBe('low');
    expect(section('pulmonary-hypertension')).toMatchObject({ status: 'partial' });
    expect(section('pulmonary-hypertension')?.summary).toContain('0 of 3 categories');
  });
  it('without TR the probability is not assessed, whatever the IVC', () => {
    const { category } = interpreted({ 'ivc-diameter': 24, 'ivc-collapse': 20 });
    expect(category('ph-probability')).toBeUndefined();
  });
  it('no RVSP without an IVC: no RA pressure is assumed', () => {
    expect(interpreted({ 'tr-vmax': 3.4 }).value('rvsp')).toBeUndefined();
  });
  it('a valve area alone never leads to a grade', () => {
    const { category } = interpreted({ 'av-area': 0.7 });
    expect(category('aortic-stenosis')).toBeUndefined();
  });
  it('no colour value is "not assessed", never "no regurgitation"', () => {
    const { section } = interpreted({ 'av-vmax': 1.2, 'av-mean-gradient': 4 });
    expect(section('valves')?.summary).toContain('Regurgitation not assessed');
    expect(section('valves')?.summary).not.toMatch(/no regurgitation/i);
    expect(section('valves')?.summary).toContain(
      'Not graded here: pulmonary regurgitation, tricuspid stenosis',
    );
  });
});

describe('a child', () => {
  const { section, result } = interpreted(
    { ...LINEAR, 'lvef-biplane': 40, 'mitral-e': 90, 'mitral-a': 50, tapse: 10 },
    { age: 17 },
  );
  it('is measured and not graded', () => {
    expect(result.classifications).toEqual([]);
    expect(section('lv-size')?.summary).toContain('do not apply under 18 years');
  });
});

describe('a patient of unknown age', () => {
  const values = { ...LINEAR, 'lvef-biplane': 40 };
  it('is not graded if the body size is that of a child', () => {
    const { section, result } = interpreted(values, { age: null, childSized: true });
    expect(result.classifications).toEqual([]);
    expect(section('lv-size')?.summary).toContain('the body size of a child');
  });
  it('is otherwise graded as an adult, which the result says once', () => {
    const said = 'The age of the patient is unknown: the limits of adults were used.';
    const texts = (age: number | null) =>
      interpreted(values, { age }).result.sections.map(({ summary }) => summary ?? '');
    expect(texts(null).filter((one) => one.includes(said))).toHaveLength(1);
    expect(texts(60).join(' ')).not.toContain(said);
  });
});

describe('relative apical sparing', () => {
  const basal = { segment: 1, name: 'basal anterior', readings: [], score: null, suspected: null };
  const reason = (heart: HeartOutlines) =>
    interpreted(LINEAR, {}, false, 'model', heart).section('cardiomyopathy')?.reason?.detail;

  it('is not assessed without strain by segment', () => {
    expect(reason(NO_OUTLINES)).toContain('sparing was not assessed: no segmental strain.');
  });
  it('is not assessed from contour strain, for which its cut-off was not validated', () => {
    const segments = [{ ...basal, strain: -18 }];
    const heart = { ...NO_OUTLINES, segments, trusted: true };
    expect(reason(heart)).toContain('segmental strain is contour strain');
    expect(reason({ ...heart, trusted: false })).toContain('no segmental strain');
  });
});

describe('clips of a handheld', () => {
  it('are not a cart study: what they cannot answer is reported', () => {
    const { section } = interpreted({}, {}, true);
    expect(section('focused')?.summary).toContain('The handheld clips are not calibrated');
  });
});

describe('LVEF measured on images in two ways', () => {
  const both = (networks: number, biplane: number) =>
    interpreted({ 'lvef-networks': networks, 'lvef-biplane': biplane }, {}, false, 'model');

  it('is graded by the networks if biplane discs are within 10 points', () => {
    const { category, section } = both(44, 34);
    expect(category('lvef-grade')).toBe('mildly abnormal');
    expect(section('lvef')?.reason?.detail ?? '').not.toContain('not graded');
  });
  it('is not graded beyond that, which is stated', () => {
    const { category, section, value } = both(44, 33.4);
    expect(category('lvef-grade')).toBeUndefined();
    expect(category('heart-failure-range')).toBeUndefined();
    expect(section('lvef')?.reason?.detail).toContain('differ by more than 10 points');
    expect(value('lvef-networks')?.value).toBe(44);
  });
});
