import { describe, expect, it } from 'vitest';
import { myocardialDisease } from '../../../../pipelines/echo/cardiomyopathy/guideline.ts';
import { LEFT_VENTRICLE } from '../../../../pipelines/echo/lv-size/guideline.ts';

describe('myocardial disease in the sense of 2016 (echo 10.4)', () => {
  const NONE = {
    sex: null,
    massIndex: null,
    massRange: LEFT_VENTRICLE.massIndex,
    wall: null,
    scoreIndex: null,
    abnormalSegment: false,
  };
  const OF_AREAS = { massRange: LEFT_VENTRICLE.massIndex2d } as const;
  it.each([
    ['nothing measured', {}, 0],
    ['115 g/m² of a man', { sex: 'male', massIndex: 115.4 }, 0],
    ['116 g/m² of a man', { sex: 'male', massIndex: 115.5 }, 1],
    ['95 g/m² of a woman', { sex: 'female', massIndex: 95 }, 0],
    ['96 g/m² of a woman', { sex: 'female', massIndex: 96 }, 1],
    ['100 g/m² of an unknown sex', { massIndex: 100 }, 0],
    ['116 g/m² of an unknown sex', { massIndex: 116 }, 1],
    ['102 g/m² of a man, by 2D areas', { sex: 'male', massIndex: 102, ...OF_AREAS }, 0],
    ['103 g/m² of a man, by 2D areas', { sex: 'male', massIndex: 103, ...OF_AREAS }, 1],
    ['102 g/m² of an unknown sex, by 2D areas', { massIndex: 102, ...OF_AREAS }, 0],
    ['a wall of 14 mm', { wall: 1.4 }, 0],
    ['a wall of 14.5 mm, which is shown as 15', { wall: 1.45 }, 1],
    ['a score index of 1.00', { scoreIndex: 1.004 }, 0],
    ['a score index of 1.01', { scoreIndex: 1.005 }, 1],
    ['an abnormal segment', { abnormalSegment: true }, 1],
  ] as const)('%s', (_, given, signs) => {
    expect(myocardialDisease({ ...NONE, ...given })).toHaveLength(signs);
  });
});
