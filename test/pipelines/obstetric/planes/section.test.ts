import { describe, expect, it } from 'vitest';
import { planeOfLogits } from '../../../../pipelines/obstetric/planes/locate.ts';
import { planes, planesDataSchema } from '../../../../pipelines/obstetric/planes/section.ts';
import type { FramePlane } from '../../../../pipelines/obstetric/shared/plane.ts';
import { PLANES } from '../../../../pipelines/obstetric/shared/plane.ts';
import { clip, evidenceWith, runSection } from '../evidence-sample.ts';

const GATE = 0.7;
const HEADS = ['transthalamic', 'transventricular', 'other'];

function frameOf(estimate: FramePlane['estimate']): FramePlane {
  const taken = clip('shot.dcm');
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  return { clip: taken, frame, estimate };
}

/** Returns what the section lists for an image whose planes have these probabilities. */
function listed(classes: readonly string[], likely: readonly number[]) {
  const estimate = planeOfLogits(likely.map(Math.log), classes, 1, GATE);
  const evidence = evidenceWith({ planes: [frameOf(estimate)] });
  return planesDataSchema.parse(runSection(planes, evidence, []).data);
}

describe('the plane of a frame', () => {
  it('is given with the probability of every plane, to three decimals', () => {
    const { frames } = listed(['femur', 'abdominal', 'other'], [0.91236, 0.05, 0.03764]);
    expect(frames[0]).toMatchObject({ plane: 'femur', below_gate: false, likeliest: null });
    expect(Object.keys(frames[0]?.probabilities ?? {})).toEqual([...PLANES]);
    expect(frames[0]?.probabilities).toMatchObject({ femur: 0.912, abdominal: 0.05, cervix: 0 });
  });

  it.each([
    ['at the gate', 0.7 + 1e-9, 'femur', false, null],
    ['below it', 0.7 - 1e-6, 'other', true, { plane: 'femur', probability: 0.7 }],
  ])('%s has the plane that it would have been', (_, likely, plane, below, likeliest) => {
    const { frames, key_frames: keys } = listed(['femur', 'other'], [likely, 1 - likely]);
    expect(frames[0]).toMatchObject({ plane, below_gate: below, likeliest });
    expect(keys).toHaveLength(below ? 0 : 1);
  });

  it('of an accepted head may be less certain than the gate, which applies to any head plane', () => {
    const { frames } = listed(HEADS, [0.44, 0.4, 0.16]);
    expect(frames[0]).toMatchObject({ plane: 'transthalamic', below_gate: false });
    expect(frames[0]?.confidence).toBeCloseTo(0.44);
  });

  it('that is certainly none of them is not below the gate', () => {
    expect(listed(HEADS, [0.1, 0.1, 0.8]).frames[0]).toMatchObject({
      plane: 'other',
      below_gate: false,
      likeliest: null,
    });
  });

  it('of a sweep, which was not classified, has no probabilities', () => {
    const evidence = evidenceWith({ planes: [frameOf({ label: 'other', confidence: 1 })] });
    const { data } = runSection(planes, evidence, []);
    expect(planesDataSchema.parse(data).frames).toMatchObject([
      { below_gate: false, likeliest: null, probabilities: null },
    ]);
  });
});
