import { describe, expect, it } from 'vitest';
import { confirmation } from '../../../../../../src/doors/console/pages/holds.ts';

describe('what is sent when a person confirms a held report', () => {
  it('is nothing while the patient is not certain and none is chosen', () => {
    expect(confirmation({ patient: '', order: 'none' }, 'patient')).toBeNull();
    expect(confirmation({ patient: '', order: '' }, 'patient')).toBeNull();
  });

  it('is the patient with the order, without one, or as the gateway finds it', () => {
    const needs = 'patient';
    const patient = 'Patient/1';
    expect(confirmation({ patient, order: 'ServiceRequest/2' }, needs)).toEqual({
      patient,
      order: 'ServiceRequest/2',
    });
    expect(confirmation({ patient, order: 'none' }, needs)).toEqual({
      patient,
      withoutOrder: true,
    });
    expect(confirmation({ patient, order: '' }, needs)).toEqual({ patient });
  });

  it('is the order alone where only that was not certain', () => {
    expect(confirmation({ patient: '', order: 'ServiceRequest/2' }, 'decision')).toEqual({
      order: 'ServiceRequest/2',
    });
  });

  it.each(['decision', 'nothing'] as const)(
    'is the report as it is where it needs no patient but %s',
    (needs) => {
      expect(confirmation({ patient: '', order: '' }, needs)).toEqual({});
    },
  );
});
