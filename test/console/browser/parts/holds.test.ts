import { describe, expect, it } from 'vitest';
import { confirmation } from '../../../../src/console/pages/holds.ts';

describe('what is sent when a person confirms a held report', () => {
  it('is nothing while the patient is not certain and none is chosen', () => {
    expect(confirmation({ patient: '', order: 'none' }, 'ehr_patient_ambiguous')).toBeNull();
    expect(confirmation({ patient: '', order: '' }, 'ehr_patient_not_found')).toBeNull();
  });

  it('is the patient with the order, without one, or as the gateway finds it', () => {
    const code = 'ehr_patient_ambiguous';
    const patient = 'Patient/1';
    expect(confirmation({ patient, order: 'ServiceRequest/2' }, code)).toEqual({
      patient,
      order: 'ServiceRequest/2',
    });
    expect(confirmation({ patient, order: 'none' }, code)).toEqual({ patient, withoutOrder: true });
    expect(confirmation({ patient, order: '' }, code)).toEqual({ patient });
  });

  it('is the order alone where only that was not certain', () => {
    expect(confirmation({ patient: '', order: 'ServiceRequest/2' }, 'ehr_order_ambiguous')).toEqual(
      {
        order: 'ServiceRequest/2',
      },
    );
  });

  it.each(['ehr_ambiguous', 'ehr_unavailable', 'ehr_rejected', 'ehr_misconfigured'])(
    'is the report as it is where %s says nothing of the patient',
    (code) => {
      expect(confirmation({ patient: '', order: '' }, code)).toEqual({});
    },
  );
});
