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
      { obstruction: 'at-rest', treatment: true },
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
});
