import { describe, expect, it } from 'vitest';
import type { ModelSession } from '../../../../pipelines/inference/session.ts';
import {
  classifyPlanes,
  pastPlanes,
  planeOfLogits,
} from '../../../../pipelines/obstetric/planes/locate.ts';

const CLASSES = ['transthalamic', 'abdominal', 'other'];
/** The probabilities are 0.6, 0.3 and 0.1 at temperature 1. */
const LOGITS = [Math.log(0.6), Math.log(0.3), Math.log(0.1)];

describe('planeOfLogits', () => {
  it('returns the most probable plane at the gate', () => {
    const estimate = planeOfLogits(LOGITS, CLASSES, 1, 0.6 - 1e-9);
    expect(estimate.label).toBe('transthalamic');
    expect(estimate.confidence).toBeCloseTo(0.6);
    expect(estimate.belowGate).toBeNull();
  });

  it('calls an image below the gate other, and keeps the plane that it would have been', () => {
    const estimate = planeOfLogits(LOGITS, CLASSES, 1, 0.6 + 1e-9);
    expect(estimate.label).toBe('other');
    expect(estimate.confidence).toBeCloseTo(0.1);
    expect(estimate.belowGate).toBe('transthalamic');
  });

  it('accepts a certain head whose plane is undecided, and states how undecided', () => {
    const logits = [0.4, 0.35, 0.25].map(Math.log);
    const heads = ['transthalamic', 'transventricular', 'other'];
    const estimate = planeOfLogits(logits, heads, 1, 0.75 - 1e-9);
    expect(estimate.label).toBe('transthalamic');
    expect(estimate.confidence).toBeCloseTo(0.4);
    expect(estimate.groupConfidence).toBeCloseTo(0.75);
    expect(planeOfLogits(logits, heads, 1, 0.75 + 1e-9).label).toBe('other');
  });

  it('returns the class other without a gate', () => {
    const estimate = planeOfLogits([0, 0, 0.1], CLASSES, 1, 0.99);
    expect(estimate.label).toBe('other');
    expect(estimate.belowGate).toBeNull();
  });

  it('is less certain at a higher temperature', () => {
    expect(planeOfLogits(LOGITS, CLASSES, 2, 0).confidence).toBeLessThan(0.6);
  });

  it('gives a plane without a class the probability 0', () => {
    expect(planeOfLogits(LOGITS, CLASSES, 1, 0).probabilities.cervix).toBe(0);
  });

  it.each([
    [0.6 - 1e-9, 'transthalamic'],
    [0.6 + 1e-9, 'other'],
  ])('may have a separate gate for a class: at %s it is %s', (own, label) => {
    const gates = { transthalamic: own, abdominal: 0 };
    expect(planeOfLogits(LOGITS, CLASSES, 1, 0.9, gates).label).toBe(label);
    expect(planeOfLogits(LOGITS, CLASSES, 1, 0, gates).label).toBe(label);
  });
});

describe('views that no longer occur at an age', () => {
  it.each([
    [null, []],
    [111, []],
    [112, ['early-pregnancy']],
    [113, ['early-pregnancy']],
    [114, ['midsagittal', 'early-pregnancy']],
    [280, ['midsagittal', 'early-pregnancy']],
  ])('at %s days: %s', (gaDays, planes) => {
    expect(pastPlanes(gaDays)).toEqual(planes);
  });

  /**
   * Classifies every image as early pregnancy with 60 %, amniotic fluid with 35 % and other with 5
   * %.
   */
  const session = {
    model: {
      input: { width: 8, height: 8 },
      output: { channels: ['early-pregnancy', 'amniotic-fluid', 'other'] },
      temperature: 1,
      gate: 0.5,
    },
    run: async (images: readonly Float32Array[]) =>
      images.map(() => Float32Array.from([0.6, 0.35, 0.05].map(Math.log))),
  } as unknown as ModelSession;
  const image = { width: 8, height: 8, data: new Uint8Array(64) };

  it('are returned while they can be expected, or if the age is unknown', async () => {
    for (const gaDays of [null, 111]) {
      const [named] = await classifyPlanes(session, [image], gaDays);
      expect(named?.label).toBe('early-pregnancy');
    }
  });

  it('are not returned afterwards: the remaining views share the probability', async () => {
    const [named] = await classifyPlanes(session, [image], 112);
    expect(named?.label).toBe('amniotic-fluid');
    expect(named?.confidence).toBeCloseTo(0.35 / 0.4);
    expect(named?.probabilities['early-pregnancy']).toBe(0);
  });

  it('leave an image that looks most like a mid-sagittal fetus unclassified', async () => {
    const late = {
      ...session,
      model: {
        ...session.model,
        output: { name: 'logits', channels: ['midsagittal', 'femur', 'other'] },
      },
    };
    const [at113] = await classifyPlanes(late, [image], 113);
    const [at114] = await classifyPlanes(late, [image], 114);
    expect(at113?.label).toBe('midsagittal');
    expect(at114).toMatchObject({ label: 'other', belowGate: null });
  });
});

describe('a picture on a large black screen', () => {
  /** Classifies a picture with a dark margin as a femur, and a bright one as the given plane. */
  const sessionOf = (bright: 'femur' | 'abdominal') => {
    const channels = ['femur', 'abdominal', 'other'];
    const sure = (name: string) => channels.map((one) => (one === name ? 6 : 0));
    const asked: number[] = [];
    const session = {
      model: { input: { width: 16, height: 16 }, output: { channels }, temperature: 1, gate: 0.5 },
      run: async (images: readonly Float32Array[]) => {
        asked.push(images.length);
        const mean = (pixels: Float32Array) =>
          pixels.reduce((sum, x) => sum + x, 0) / pixels.length;
        return images.map((pixels) =>
          Float32Array.from(sure(mean(pixels) < 0.6 ? 'femur' : bright)),
        );
      },
    } as unknown as ModelSession;
    return { session, asked };
  };
  const data = new Uint8Array(40 * 40);
  for (let y = 10; y < 30; y++) data.fill(200, 40 * y + 10, 40 * y + 30);
  const onScreen = { width: 40, height: 40, data };
  const alone = { width: 20, height: 20, data: new Uint8Array(400).fill(200) };

  it('is classified alone and with a margin, and has a plane if both agree', async () => {
    const { session, asked } = sessionOf('femur');
    const [named] = await classifyPlanes(session, [onScreen], null);
    expect(asked).toEqual([4]);
    expect(named).toMatchObject({ label: 'femur', belowGate: null });
  });
  it('has no plane if the two results differ', async () => {
    const { session } = sessionOf('abdominal');
    const [named] = await classifyPlanes(session, [onScreen], null);
    expect(named?.label).toBe('other');
    expect(named?.belowGate).not.toBeNull();
  });
  it('is classified only once if there is no such screen', async () => {
    const { session, asked } = sessionOf('abdominal');
    const [first, second] = await classifyPlanes(session, [alone, onScreen], null);
    expect(asked).toEqual([6]);
    expect([first?.label, second?.label]).toEqual(['abdominal', 'other']);
  });
});
