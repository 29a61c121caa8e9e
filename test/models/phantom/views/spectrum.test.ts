import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../../models/phantom/random.ts';
import { sizesAt } from '../../../../models/phantom/sizes.ts';
import { umbilicalArtery } from '../../../../models/phantom/views/spectrum.ts';
import {
  drawWaveform,
  truthOf,
  VESSELS,
} from '../../../../models/phantom/views/spectrum-display.ts';
import { VIEWS } from '../../../../models/phantom/views.ts';

describe('simulated waveforms', () => {
  it.each(VESSELS)('%s: the beat ends where the next begins', (vessel) => {
    for (let seed = 1; seed <= 20; seed++) {
      const { velocity } = drawWaveform(vessel, {}, createRandom(seed));
      expect(Math.abs(velocity(1 - 1e-9) - velocity(0))).toBeLessThan(1);
    }
  });

  it.each(VESSELS)('%s: the mean maximum lies between the lowest and the peak', (vessel) => {
    for (let seed = 1; seed <= 20; seed++) {
      const { psv, lowest, tamx } = truthOf(drawWaveform(vessel, {}, createRandom(seed)));
      expect(tamx).toBeGreaterThan(lowest);
      expect(tamx).toBeLessThan(psv);
    }
  });

  it('have the requested peak and end-diastolic velocity', () => {
    const draw = (edvShare: number) =>
      truthOf(drawWaveform('umbilical-artery', { psv: 40, edvShare }, createRandom(1)));
    expect(draw(0.25).psv).toBeCloseTo(40, 1);
    expect(draw(0.25).edv).toBeCloseTo(10, 1);
    expect(draw(0).edv).toBe(0);
    expect(draw(-0.2).edv).toBeCloseTo(-8, 1);
  });
});

describe('a simulated spectrum', () => {
  const request = { gaDays: 210, sizes: sizesAt(210), seed: 7, frames: 1 };

  it('is the same for the same seed', () => {
    const [one] = umbilicalArtery.simulate(request);
    const [other] = umbilicalArtery.simulate(request);
    expect(one?.gray).toEqual(other?.gray);
  });

  it('states in its header what it is: PW, seconds, cm/s, baseline and vessel', () => {
    const frames = umbilicalArtery.simulate(request);
    const header = umbilicalArtery.header?.(frames);
    const values = frames[0]?.truth.values;
    expect(header?.regions).toHaveLength(1);
    expect(header?.regions?.[0]).toMatchObject({
      RegionSpatialFormat: 3,
      RegionDataType: 3,
      PhysicalUnitsXDirection: 4,
      PhysicalUnitsYDirection: 7,
      ReferencePixelY0: values?.zeroRowPixel,
      PhysicalDeltaX: values?.secondsPerColumn,
    });
    expect(JSON.stringify(header?.attributes)).toContain('50536004');
  });
});

it('every view of the simulator has its own name', () => {
  const ids = VIEWS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
