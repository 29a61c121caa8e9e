import { describe, expect, it } from 'vitest';
import { myocardialDisease } from '../../../../pipelines/echo/cardiomyopathy/guideline.ts';

describe('myocardial disease in the sense of 2016 (echo 10.4)', () => {
  const NONE = { sex: null, massIndex: null, wall: null, scoreIndex: null, abnormalSegment: false };
  it.each([
    ['nothing measured', {}, 0],
    ['115 g/m² of a man', { sex: 'male', massIndex: 115.4 }, 0],
    ['116 g/m² of a man', { sex: 'male', massIndex: 115.5 }, 1],
    ['95 g/m² of a woman', { sex: 'female', massIndex: 95 }, 0],
    ['96 g/m² of a woman', { sex: 'female', massIndex: 96 }, 1],
    ['100 g/m² of an unknown sex', { massIndex: 100 }, 0],
    ['116 g/m² of an unknown sex', { massIndex: 116 }, 1],
    ['a wall of 14 mm', { wall: 1.4 }, 0],
    ['a wall of 15 mm', { wall: 1.5 }, 1],
    ['a score index of 1.00', { scoreIndex: 1.004 }, 0],
    ['a score index of 1.01', { scoreIndex: 1.005 }, 1],
    ['an abnormal segment', { abnormalSegment: true }, 1],
  ] as const)('%s', (_, given, signs) => {
    expect(myocardialDisease({ ...NONE, ...given })).toHaveLength(signs);
  });
});
