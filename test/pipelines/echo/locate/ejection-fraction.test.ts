import { expect, test } from 'vitest';
import { jointEjectionFraction } from '../../../../pipelines/echo/locate/ejection-fraction.ts';
import { readRegistry } from '../../../../pipelines/inference/model-registry.ts';

const registry = await readRegistry();
const [first] = registry.filter(({ task }) => task === 'echo-ejection-fraction');
if (!first) throw new Error('the registry has a second network for LVEF');
const model = { ...first, gate: 0.6, recalibration: { slope: 0.9, offset: 5 } };

test('the joint LVEF is the mean of both, recalibrated', () => {
  expect(jointEjectionFraction(60, 50, model).percent).toBeCloseTo(0.9 * 55 + 5, 10);
});

test('two estimates 20 points apart reach a gate of 0.6, those further apart do not', () => {
  expect(jointEjectionFraction(60, 40, model)).toMatchObject({ confidence: 0.6, accepted: true });
  expect(jointEjectionFraction(60, 39, model).accepted).toBe(false);
  expect(jointEjectionFraction(39, 60, model).accepted).toBe(false);
});

test('50 points apart, the confidence is zero and not negative', () => {
  expect(jointEjectionFraction(80, 30, model).confidence).toBe(0);
  expect(jointEjectionFraction(95, 5, model).confidence).toBe(0);
});

test('an ejection fraction stays between 0 and 100', () => {
  expect(jointEjectionFraction(-40, -40, model).percent).toBe(0);
  const steep = { ...model, recalibration: { slope: 2, offset: 0 } };
  expect(jointEjectionFraction(90, 90, steep).percent).toBe(100);
});
