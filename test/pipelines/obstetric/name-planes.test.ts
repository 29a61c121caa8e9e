import { describe, expect, it } from 'vitest';
import type { GrayImage } from '../../../pipelines/contract/image.ts';
import type { RegisteredModel } from '../../../pipelines/inference/model-registry.ts';
import type { ModelSession } from '../../../pipelines/inference/session.ts';
import { namePlanes } from '../../../pipelines/obstetric/name-planes.ts';
import { locateOutline } from '../../../pipelines/obstetric/shared/outline.ts';

const WIDTH = 64;
const HEIGHT = 48;
const IMAGE: GrayImage = { width: WIDTH, height: HEIGHT, data: new Uint8Array(WIDTH * HEIGHT) };
const CLASSES = ['abdominal', 'femur', 'transperineal', 'transthalamic', 'other'];

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

/** Returns a classifier that assigns this probability to one class and the rest to `other`. */
const classifier = (named: string, probability: number) =>
  sessionOf(
    'fetal-plane',
    CLASSES,
    0.7,
    Float32Array.from(CLASSES, (one) =>
      Math.log(one === named ? probability : one === 'other' ? 1 - probability : 1e-9),
    ),
  );

const map = (inside: (x: number, y: number) => boolean) =>
  Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) =>
    inside((i % WIDTH) - 31.5, Math.floor(i / WIDTH) - 23.5) ? 1 : 0,
  );
const disc = (radius: number) => map((x, y) => Math.hypot(x, y) < radius);
/** This square is close enough to an ellipse for the gate, but less so than a disc. */
const SQUARE = map((x, y) => Math.max(Math.abs(x), Math.abs(y)) < 16);

// Returns a model with the same output for every part of an image, so one run per image is enough.
const outlinerOf = (values: Float32Array) => {
  const session = sessionOf('fetal-head', ['outline'], 0.9, values);
  return (images: readonly GrayImage[]) => locateOutline(session, images);
};
/**
 * Returns a model whose map is a disc of this radius in the middle, or empty if the radius is 0.
 */
const outliner = (radius: number) => outlinerOf(disc(radius));

/**
 * Returns maps of symphysis and head that exceed `level` nowhere. The lower the level, the less
 * certain they are.
 */
const symphysisAndHead = (level: number) =>
  sessionOf(
    'symphysis-head',
    ['symphysis', 'head'],
    0.8,
    Float32Array.from([...disc(8), ...disc(16)], (value) => level * value),
  );

/** A disc with a nick, whose outline is slightly less certain than that of the disc. */
const NICKED = map((x, y) => Math.hypot(x, y) < 16 && !(x > 13 && Math.abs(y) < 2));

/** A cross is not an ellipse: no ellipse covers more than a minor part of it. */
const cross = (x: number, y: number) =>
  Math.min(Math.abs(x), Math.abs(y)) < 2 && Math.max(Math.abs(x), Math.abs(y)) < 16;

/** Returns a chest model with these maps of heart and thorax but without spine, crux or apex. */
const chestOf = (heart: Float32Array, thorax: Float32Array) => {
  const points = new Float32Array(3 * WIDTH * HEIGHT);
  return sessionOf(
    'fetal-heart-structures',
    ['thorax', 'heart', 'spine', 'crux', 'apex'],
    0.88,
    Float32Array.from([...thorax, ...heart, ...points]),
  );
};

const NOTHING = outliner(0);
const FEMUR_NOWHERE = sessionOf(
  'fetal-femur',
  ['femur-shaft', 'femur-ends'],
  0.57,
  new Float32Array(2 * WIDTH * HEIGHT),
);

const SECOND_LOOKS = { head: null, brainPlane: null, abdomen: NOTHING, femur: FEMUR_NOWHERE };

describe('a plane found on the whole image', () => {
  it.each([
    ['abdominal', 0.979, 'other'],
    ['abdominal', 0.981, 'abdominal'],
    ['femur', 0.899, 'other'],
    ['femur', 0.901, 'femur'],
  ])('%s at %d without its structure is called %s', async (named, probability, label) => {
    const plane = classifier(named, probability);
    const [estimate] = await namePlanes({ ...SECOND_LOOKS, plane }, [IMAGE]);
    expect(estimate?.label).toBe(label);
  });

  it('keeps the plane that it would have been', async () => {
    const plane = classifier('femur', 0.89);
    const [estimate] = await namePlanes({ ...SECOND_LOOKS, plane }, [IMAGE]);
    expect(estimate?.belowGate).toBe('femur');
    expect(estimate?.confidence).toBeCloseTo(0.11, 6);
  });

  it('is kept if the structure is found', async () => {
    const plane = classifier('abdominal', 0.8);
    const sessions = { ...SECOND_LOOKS, abdomen: outliner(16), plane };
    expect((await namePlanes(sessions, [IMAGE]))[0]?.label).toBe('abdominal');
  });

  it('is kept if no permitted model could find the structure', async () => {
    const plane = classifier('abdominal', 0.8);
    const sessions = { ...SECOND_LOOKS, abdomen: null, plane };
    expect((await namePlanes(sessions, [IMAGE]))[0]?.label).toBe('abdominal');
  });

  it('is examined again for each image separately', async () => {
    const plane = classifier('femur', 0.8);
    const estimates = await namePlanes({ ...SECOND_LOOKS, plane }, [IMAGE, IMAGE]);
    expect(estimates.map(({ label }) => label)).toEqual(['other', 'other']);
  });

  it.each([
    ['a better head', SQUARE, disc(16), 'other'],
    ['a worse head', disc(16), SQUARE, 'abdominal'],
    ['a head that is outlined as surely', disc(16), disc(16), 'other'],
    ['no head', disc(16), disc(0), 'abdominal'],
  ])('abdominal but doubtful, with %s', async (_, abdomen, head, label) => {
    const sessions = { ...SECOND_LOOKS, abdomen: outlinerOf(abdomen), head: outlinerOf(head) };
    const plane = classifier('abdominal', 0.8);
    expect((await namePlanes({ ...sessions, plane }, [IMAGE]))[0]?.label).toBe(label);
  });

  it.each([
    ['a head that is outlined more surely', SQUARE, disc(16), 'other'],
    ['a head that is outlined slightly more surely', NICKED, disc(16), 'other'],
    ['a head that is outlined as surely', disc(16), disc(16), 'abdominal'],
    ['a head that is outlined less surely', disc(16), SQUARE, 'abdominal'],
    ['a head that is not certain enough to be asked about', disc(0), map(cross), 'abdominal'],
  ])('abdominal beyond doubt, with %s', async (_, abdomen, head, label) => {
    const sessions = { ...SECOND_LOOKS, abdomen: outlinerOf(abdomen), head: outlinerOf(head) };
    const plane = classifier('abdominal', 0.999);
    expect((await namePlanes({ ...sessions, plane }, [IMAGE]))[0]?.label).toBe(label);
  });

  it.each([
    [0.94, 'is outlined', disc(16), 'transthalamic'],
    [0.94, 'is not outlined', disc(0), 'other'],
    [0.94, 'is outlined as no ellipse', map(cross), 'other'],
    [0.96, 'is not outlined', disc(0), 'transthalamic'],
  ])('a head at %d that %s', async (probability, _, head, label) => {
    const plane = classifier('transthalamic', probability);
    const sessions = { ...SECOND_LOOKS, head: outlinerOf(head), plane };
    expect((await namePlanes(sessions, [IMAGE]))[0]?.label).toBe(label);
  });

  it.each([
    ['a heart in a thorax', disc(8), disc(18), 'other'],
    ['a thorax without a heart', disc(0), disc(18), 'abdominal'],
    ['a heart that is outlined below the gate', map(cross), disc(18), 'abdominal'],
  ])('abdominal beyond doubt, with %s', async (_, heart, thorax, label) => {
    const sessions = { ...SECOND_LOOKS, chest: chestOf(heart, thorax) };
    const plane = classifier('abdominal', 0.999);
    expect((await namePlanes({ ...sessions, plane }, [IMAGE]))[0]?.label).toBe(label);
  });

  it('abdominal beyond doubt is kept if no permitted model could find a heart', async () => {
    const plane = classifier('abdominal', 0.999);
    const sessions = { ...SECOND_LOOKS, chest: null };
    expect((await namePlanes({ ...sessions, plane }, [IMAGE]))[0]?.label).toBe('abdominal');
  });

  it.each([
    [0.979, 0.74, 'a whole head', 16, 'other'],
    [0.981, 0.74, 'a whole head', 16, 'transperineal'],
    [0.979, 0.9, 'a whole head', 16, 'transperineal'],
    [0.979, 0.74, 'no whole head', 0, 'transperineal'],
  ])(
    'transperineal at %d, its maps at %d, with %s',
    async (probability, level, _, radius, label) => {
      const plane = classifier('transperineal', probability);
      const symphysisHead = symphysisAndHead(level);
      const sessions = { ...SECOND_LOOKS, head: outliner(radius), symphysisHead, plane };
      expect((await namePlanes(sessions, [IMAGE]))[0]?.label).toBe(label);
    },
  );
});
