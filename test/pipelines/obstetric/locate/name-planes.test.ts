import { describe, expect, it } from 'vitest';
import type { GrayImage } from '../../../../pipelines/contract/image.ts';
import type { RegisteredModel } from '../../../../pipelines/inference/model-registry.ts';
import type { ModelSession } from '../../../../pipelines/inference/session.ts';
import { namePlanes } from '../../../../pipelines/obstetric/locate/name-planes.ts';

const WIDTH = 64;
const HEIGHT = 48;
const IMAGE: GrayImage = { width: WIDTH, height: HEIGHT, data: new Uint8Array(WIDTH * HEIGHT) };
const CLASSES = ['abdominal', 'femur', 'other'];

function sessionOf(
  task: RegisteredModel['task'],
  channels: string[],
  gate: number,
  answer: Float32Array,
): ModelSession {
  const model: RegisteredModel = {
    id: task,
    version: '1.0.0',
    task,
    file: '',
    path: '',
    sha256: '',
    licence: 'CC0-1.0',
    pack: 'permissive',
    card: '',
    metrics: '',
    input: { name: 'image', width: WIDTH, height: HEIGHT, normalisation: 'luminance / 255' },
    output: { name: 'out', channels },
    temperature: 1,
    gate,
  };
  const run = async (inputs: readonly Float32Array[]) => inputs.map(() => answer);
  return { model, provider: 'cpu', batch: 16, run, close: async () => undefined };
}

/** A classifier that gives a class this probability and `other` the rest. */
const classifier = (named: string, probability: number) =>
  sessionOf(
    'fetal-plane',
    CLASSES,
    0.7,
    Float32Array.from(CLASSES, (one) =>
      Math.log(one === named ? probability : one === 'other' ? 1 - probability : 1e-9),
    ),
  );

/** A model whose map is a disc of this radius in the middle; 0: nothing is there. */
const outliner = (radius: number) =>
  sessionOf(
    'fetal-abdomen',
    ['abdomen'],
    0.9,
    Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) =>
      Math.hypot((i % WIDTH) - 31.5, Math.floor(i / WIDTH) - 23.5) < radius ? 1 : 0,
    ),
  );

const NOTHING = outliner(0);
const FEMUR_NOWHERE = sessionOf(
  'fetal-femur',
  ['femur-shaft', 'femur-ends'],
  0.57,
  new Float32Array(2 * WIDTH * HEIGHT),
);

const SECOND_LOOKS = { head: null, brainPlane: null, abdomen: NOTHING, femur: FEMUR_NOWHERE };

describe('a plane that the whole image names', () => {
  it.each([
    ['abdominal', 0.979, 'other'],
    ['abdominal', 0.981, 'abdominal'],
    ['femur', 0.949, 'other'],
    ['femur', 0.951, 'femur'],
  ])('%s at %d, its structure not found, is called %s', async (named, probability, label) => {
    const plane = classifier(named, probability);
    const [estimate] = await namePlanes({ ...SECOND_LOOKS, plane }, [IMAGE]);
    expect(estimate?.label).toBe(label);
  });

  it('says which plane it would have been', async () => {
    const plane = classifier('femur', 0.9);
    const [estimate] = await namePlanes({ ...SECOND_LOOKS, plane }, [IMAGE]);
    expect(estimate?.belowGate).toBe('femur');
    expect(estimate?.confidence).toBeCloseTo(0.1, 6);
  });

  it('stands where the structure is found', async () => {
    const plane = classifier('abdominal', 0.8);
    const sessions = { ...SECOND_LOOKS, abdomen: outliner(16), plane };
    expect((await namePlanes(sessions, [IMAGE]))[0]?.label).toBe('abdominal');
  });

  it('stands where no permitted model could find the structure', async () => {
    const plane = classifier('abdominal', 0.8);
    const sessions = { ...SECOND_LOOKS, abdomen: null, plane };
    expect((await namePlanes(sessions, [IMAGE]))[0]?.label).toBe('abdominal');
  });

  it('is looked at again for each image apart', async () => {
    const plane = classifier('femur', 0.8);
    const estimates = await namePlanes({ ...SECOND_LOOKS, plane }, [IMAGE, IMAGE]);
    expect(estimates.map(({ label }) => label)).toEqual(['other', 'other']);
  });
});
