import { describe, expect, it } from 'vitest';
import type { Params } from '../../../../../pipelines/result/statement.ts';
import { interpreted } from '../../../echo/interpret-sample.ts';
import { textOf } from '../../../echo/rendered.ts';

const said = (code: string, params: Params) =>
  textOf({ kind: 'conclusion', code, about: [], fetus: null, params });

const TR = { disease: 'tricuspid-regurgitation' } as const;

describe('a grade in a statement', () => {
  it.each([
    ['valves.aortic-stenosis', { grade: 'none' }, 'Aortic stenosis: no significant stenosis.'],
    ['valves.aortic-stenosis', { grade: 'mild' }, 'Aortic stenosis: mild AS.'],
    ['valves.grade', { ...TR, grade: 'severe' }, 'Tricuspid regurgitation: severe (3+).'],
    [
      'valves.grade',
      { ...TR, grade: ['moderate', 'severe'] },
      'Tricuspid regurgitation: moderate (2+) - severe (3+).',
    ],
    [
      'ph.outflow-stenosis',
      { grade: 'severe' },
      'In severe PS, the TR velocity shows the RV pressure, not the pulmonary artery pressure.',
    ],
    [
      'cardiomyopathy.obstruction',
      { obstruction: 'at-rest', treatment: 50 },
      'LVOT: obstructive at rest, at or above 50 mmHg.',
    ],
    [
      'cardiomyopathy.dilated',
      { pattern: 'none', device: false },
      'Dilated pattern: no dilated pattern.',
    ],
    [
      'cardiomyopathy.thick-wall',
      { wall: 'massive' },
      'Wall thickness: meets wall-thickness criterion, massive, if not explained by loading.',
    ],
    [
      'effusion.tamponade',
      { statement: 'raised-atrial-pressure' },
      'Raised RA pressure; tamponade not excluded.',
    ],
    ['lvef.grade', { grade: 'mild' }, 'LV systolic function by LVEF: mildly abnormal.'],
    ['lv-size.geometry', { geometry: 'normal' }, 'LV geometry: normal geometry.'],
    [
      'lvef.heart-failure-range',
      { range: 'mildly-reduced' },
      'LVEF is in the range used for HFmrEF if clinical heart failure is present.',
    ],
    [
      'effusion.size',
      { grade: 'very-large', behindWall: false },
      'Pericardial effusion: very large.',
    ],
    [
      'diastolic.result',
      {
        ...{ scheme: '2016-a', result: 'dysfunction', limited: true, because: null },
        criteria: [{ name: 'raised-ratio', met: true }],
        next: { result: 'grade-ii', criteria: [] },
      },
      "ASE/EACVI 2016, algorithm A: diastolic dysfunction, limited (met: raised E/e'); algorithm B: grade II, elevated LAP ().",
    ],
    [
      'diastolic.mitral-disease',
      { diseases: [{ kind: 'stenosis', grade: 'severe', by: 'area' }] },
      "Diastolic function was not graded, and E/e' was not used: severe MS by valve area.",
    ],
    [
      'impression.diastolic-normal',
      {
        state: 'pressure',
        results: [{ result: 'normal-lap-ungraded', limited: true, by: 'ASE', year: 2025, met: [] }],
        met: ['lavi-above-34', 'raised-ratio', 'average-ratio-above-14'],
      },
      "normal LAP by ASE 2025 with some criteria missing, although LAVi and E/e' are beyond the limit",
    ],
  ])('%s %j is a code, rendered in the published words', (code, params, expected) => {
    expect(said(code, params)).toBe(expected);
  });

  it.each([
    ['valves.aortic-stenosis', { grade: 'moderate AS' }, 'Aortic stenosis: moderate AS.'],
    [
      'valves.grade',
      { ...TR, grade: 'moderate (2+) - severe (3+)' },
      'Tricuspid regurgitation: moderate (2+) - severe (3+).',
    ],
    [
      'cardiomyopathy.obstruction',
      { obstruction: 'obstructive at rest, at or above 50 mmHg' },
      'LVOT: obstructive at rest, at or above 50 mmHg.',
    ],
    ['effusion.tamponade', { statement: 'minor sign; correlate' }, 'Minor sign; correlate.'],
    ['lvef.grade', { grade: 'mildly abnormal' }, 'LV systolic function by LVEF: mildly abnormal.'],
    ['impression.lv-geometry', { geometry: 'normal geometry' }, 'normal geometry'],
    [
      'lvef.heart-failure-range',
      { range: 'HFmrEF range' },
      'LVEF is in the range used for HFmrEF if clinical heart failure is present.',
    ],
    [
      'rv-function.systolic',
      { conclusion: 'single index normal', judged: ['tapse'], abnormal: [] },
      'TAPSE normal; single index only.',
    ],
    [
      'diastolic.result',
      {
        ...{ scheme: '2025', result: 'normal LAP, grade 1, limited', because: null, next: null },
        criteria: [{ name: "reduced e'", met: true }],
      },
      "ASE 2025: normal LAP, grade 1, limited (met: reduced e').",
    ],
    [
      'impression.diastolic-normal',
      {
        state: 'pressure',
        results: [{ result: 'normal diastolic function, limited', by: 'ASE/EACVI', year: 2016 }],
        met: ['LAVi'],
      },
      'normal LAP by ASE/EACVI 2016 with some criteria missing, although LAVi is beyond the limit',
    ],
  ])('%s %j of a result stored with the words is rendered unchanged', (code, params, expected) => {
    expect(said(code, params)).toBe(expected);
  });

  it('is a code in the result, with the words in the classification', () => {
    const { result, category } = interpreted({ 'av-vmax': 4.2, 'tr-vena-contracta': 8 });
    const grades = result.sections
      .flatMap(({ statements = [] }) => statements)
      .filter(({ code }) => code === 'valves.aortic-stenosis' || code === 'valves.grade')
      .map(({ params }) => params.grade);
    expect(grades).toEqual(['severe', 'severe']);
    expect(category('aortic-stenosis')?.value).toBe('severe AS (high-gradient)');
    expect(category('tricuspid-regurgitation')?.value).toBe('severe (3+)');
  });

  it('on both sides of a cut-off is a code as well', () => {
    const open = (scale: string, categories: Params[string]) => [
      { id: 'one', name: 'Grade', scale, categories },
    ];
    const sides = (scale: string, categories: Params[string]) =>
      said('echo.between', { open: open(scale, categories) });
    expect(sides('abnormality', ['normal', 'severe'])).toMatch(
      'Grade: normal or severely abnormal;',
    );
    expect(sides('abnormality', ['mild', 'severe'])).toMatch('Grade: mildly to severely abnormal;');
    expect(sides('effusion', ['moderate', null])).toMatch('Grade: moderate or no grade;');
    expect(
      sides('obstruction', [
        { obstruction: 'at-rest', treatment: null },
        { obstruction: 'at-rest', treatment: 50 },
      ]),
    ).toMatch('at or above 50 mmHg;');
  });

  it('on both sides of a cut-off is rendered unchanged if it was stored in words', () => {
    const open = [
      { id: 'one', name: 'Grade', categories: ['severely abnormal', 'mildly abnormal'] },
    ];
    expect(said('echo.between', { open })).toMatch('Grade: mildly to severely abnormal;');
  });
});
