import { describe, expect, it } from 'vitest';
import { confirmation } from '../../../../../../src/doors/console/pages/holds.ts';

describe('what is sent when a person confirms a held report', () => {
  it('is nothing while the patient is uncertain and has not been chosen', () => {
    expect(confirmation({ patient: '', order: 'none' }, 'patient')).toBeNull();
    expect(confirmation({ patient: '', order: '' }, 'patient')).toBeNull();
  });

  it('is the patient, with the chosen order, without an order, or with the one that the gateway finds', () => {
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

  it('is only the order if only the order was uncertain', () => {
    expect(confirmation({ patient: '', order: 'ServiceRequest/2' }, 'decision')).toEqual({
      order: 'ServiceRequest/2',
    });
  });

  it.each(['decision', 'nothing'] as const)(
    'is the unchanged report if it does not need a patient but %s',
    (needs) => {
      expect(confirmation({ patient: '', order: '' }, needs)).toEqual({});
    },
  );
});
