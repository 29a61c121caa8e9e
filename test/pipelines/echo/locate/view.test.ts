import { describe, expect, test } from 'vitest';
import type { HeartView } from '../../../../pipelines/echo/locate/names.ts';
import {
  contradictingView,
  nameView,
  viewOfShares,
} from '../../../../pipelines/echo/locate/view.ts';
import type { ModelSession } from '../../../../pipelines/inference/session.ts';
import { softmax } from '../../../../pipelines/measure/statistics.ts';

const CHANNELS = ['PLAX', 'A4C', 'other'];

const viewOfLogits = (
  logits: readonly number[],
  channels: readonly string[],
  temperature: number,
  ...gates: [gate: number, classGates?: Readonly<Record<string, number>>]
) => viewOfShares(softmax(logits, temperature), channels, ...gates);

describe('the view of a clip', () => {
  test('is the most probable one, with its probability', () => {
    const found = viewOfLogits([0, Math.log(8), 0], CHANNELS, 1, 0.7);
    expect(found).toEqual({ view: 'A4C', confidence: expect.closeTo(0.8, 6), belowGate: null });
  });

  test('is "other" just below the gate, and the most probable view is kept', () => {
    const logits = [0, Math.log(8), 0];
    expect(viewOfLogits(logits, CHANNELS, 1, 0.79).view).toBe('A4C');
    expect(viewOfLogits(logits, CHANNELS, 1, 0.81)).toEqual({
      view: 'other',
      confidence: expect.closeTo(0.1, 6),
      belowGate: 'A4C',
    });
  });

  test('may have a separate gate for a view', () => {
    const logits = [0, Math.log(8), 0];
    expect(viewOfLogits(logits, CHANNELS, 1, 0.7, { A4C: 0.9 }).view).toBe('other');
    expect(viewOfLogits(logits, CHANNELS, 1, 0.9, { A4C: 0.7 }).view).toBe('A4C');
  });

  describe('levels of the short axis', () => {
    const LEVELS = ['A4C', 'PSAX-MV', 'PSAX-PM', 'PSAX-AP', 'other'];
    const shares = (...of: number[]) => of.map(Math.log);

    test('share the probability: the view is reported, but its level is left open', () =>
      expect(viewOfLogits(shares(0.1, 0.4, 0.45, 0.03, 0.02), LEVELS, 1, 0.6)).toEqual({
        view: 'PSAX',
        confidence: expect.closeTo(0.88, 6),
        belowGate: null,
      }));
    test('are reported if they pass the gate by themselves', () =>
      expect(viewOfLogits(shares(0.1, 0.2, 0.6, 0.08, 0.02), LEVELS, 1, 0.6).view).toBe('PSAX-PM'));
    test('are reported from 0.6 if the short axis as a view reaches a higher gate', () => {
      const logits = shares(0.01, 0.2, 0.7, 0.08, 0.01);
      expect(viewOfLogits(logits, LEVELS, 1, 0.95).view).toBe('PSAX-PM');
      expect(viewOfLogits(shares(0.05, 0.2, 0.66, 0.08, 0.01), LEVELS, 1, 0.95).view).toBe('other');
    });
    test('are "other" below the gate together, with the most probable level', () =>
      expect(viewOfLogits(shares(0.42, 0.2, 0.3, 0.05, 0.03), LEVELS, 1, 0.6)).toEqual({
        view: 'other',
        confidence: expect.closeTo(0.03, 6),
        belowGate: 'PSAX-PM',
      }));
  });

  test.each([
    [{ A4C: 0.3, A2C: 0.6, other: 0.1 }, true, 'A4C'],
    [{ A4C: 0.3, A2C: 0.6, other: 0.1 }, false, 'other'],
    [{ A4C: 0.1, A2C: 0.8, other: 0.1 }, true, 'other'],
    [{ A4C: 0.3, A2C: 0.1, other: 0.6 }, true, 'other'],
    [{ A4C: 0.05, A2C: 0.93, other: 0.02 }, true, 'A2C'],
  ])('is A4C if it is doubtful and the right heart is seen: %j, %s', async (shares, seen, view) => {
    const model = {
      input: { width: 1, height: 1 },
      output: { channels: Object.keys(shares) },
      gate: 0.9,
      confirmed_gates: { A4C: 0.2 },
    };
    const run = async () => [Float32Array.from(Object.values(shares), Math.log)];
    const frame = { width: 1, height: 1, data: new Uint8Array(1) };
    const area = { minX: 0, minY: 0, maxX: 0, maxY: 0 };
    const session = { model, run } as unknown as ModelSession;
    expect(await nameView(session, [frame], area, async () => seen)).toMatchObject({ view });
  });

  test('needs no gate if it is "other"', () => {
    expect(viewOfLogits([0, 0, 1], CHANNELS, 1, 0.99)).toMatchObject({
      view: 'other',
      belowGate: null,
    });
  });

  test('has a lower confidence with a temperature above 1', () => {
    const sure = viewOfLogits([0, 4, 0], CHANNELS, 1, 0).confidence;
    expect(viewOfLogits([0, 4, 0], CHANNELS, 2, 0).confidence).toBeLessThan(sure);
  });
});

describe('a view named in the header', () => {
  const seenAs = (shares: Readonly<Record<string, number>>) => (named: HeartView) => {
    const model = { input: { width: 1, height: 1 }, output: { channels: Object.keys(shares) } };
    const run = async () => [Float32Array.from(Object.values(shares), Math.log)];
    const frame = { width: 1, height: 1, data: new Uint8Array(1) };
    const area = { minX: 0, minY: 0, maxX: 0, maxY: 0 };
    return contradictingView({ model, run } as unknown as ModelSession, [frame], area, named);
  };

  test('is contradicted by another view that is nearly certain', async () => {
    expect(await seenAs({ A2C: 0.02, A4C: 0.96, other: 0.02 })('A2C')).toBe('A4C');
    expect(await seenAs({ A2C: 0.96, A4C: 0.02, other: 0.02 })('A4C')).toBe('A2C');
  });

  test('stands if another view is only probable', async () => {
    expect(await seenAs({ A2C: 0.05, A4C: 0.94, other: 0.01 })('A2C')).toBeNull();
  });

  test('stands if the classifier recognises no view of a heart', async () => {
    expect(await seenAs({ A2C: 0.005, A4C: 0.005, other: 0.99 })('A2C')).toBeNull();
  });

  test('stands if only the level of the short axis or the tilt of the probe differs', async () => {
    expect(await seenAs({ 'PSAX-MV': 0.99, 'PSAX-AP': 0.01 })('PSAX-AP')).toBeNull();
    expect(await seenAs({ A4C: 0.99, A5C: 0.01 })('A5C')).toBeNull();
  });

  test('stands if the classifier was not trained on it', async () => {
    expect(await seenAs({ A4C: 0.99, other: 0.01 })('RV-INFLOW')).toBeNull();
  });
});
