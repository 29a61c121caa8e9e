import { describe, expect, it } from 'vitest';
import { withMachineValues } from '../../../../pipelines/obstetric/shared/measurement.ts';
import type { Measurement } from '../../../../pipelines/result/envelope.ts';
import { NO_FRAME } from '../../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { withNote } from '../../../../pipelines/result/render/render.ts';

const value = (id: string, pi: number, given: Partial<Measurement> = {}) =>
  createMeasurement(id, 'middle-cerebral-artery-pi', pi, 'cart-sr', {
    section: 'doppler',
    source: { ...NO_FRAME, provenance: 'cart-sr' },
    ...given,
  });
const left = (pi: number) => value('cart-left', pi, { laterality: 'left' });
const right = (pi: number) => value('cart-right', pi, { laterality: 'right' });

const shown = (values: readonly Measurement[]) => values.map(({ id, quality }) => [id, quality]);

describe('several values of the machine for one quantity', () => {
  it('the first counts, and the other is marked as not used', () => {
    const values = withMachineValues([left(2), right(1)], []);
    expect(shown(values)).toEqual([
      ['middle-cerebral-artery-pi', 'accepted'],
      ['cart-right', 'accepted'],
    ]);
    expect(values[1]?.remarks).toEqual([{ code: 'machine.passed-over', params: {} }]);
  });

  it('the first plausible one counts: an absurd one does not prevent it', () => {
    const values = withMachineValues([left(99), right(1.9)], []);
    expect(shown(values)).toEqual([
      ['cart-left', 'inadequate'],
      ['middle-cerebral-artery-pi', 'accepted'],
    ]);
  });

  it('each is shown next to ours with its difference', () => {
    const own = createMeasurement(
      'middle-cerebral-artery-pi',
      'middle-cerebral-artery-pi',
      2,
      'spectral-trace',
      { section: 'doppler' },
    );
    const [, ...machine] = withMachineValues([left(2.2), right(1)], [own]);
    expect(machine.map((one) => withNote(one).note)).toEqual([
      '10.0 % above the value measured here',
      '50.0 % below the value measured here',
    ]);
  });
});
