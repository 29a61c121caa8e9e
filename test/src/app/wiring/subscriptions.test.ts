import { expect, test } from 'vitest';
import { patientOf } from '../../../../src/app/wiring/subscriptions.ts';

test.each([
  [
    { PatientID: 'P1', IssuerOfPatientID: 'HOSPITAL' },
    { identifier: { value: 'P1', assigner: { display: 'HOSPITAL' } } },
  ],
  [{ PatientID: 'P1', IssuerOfPatientID: '' }, { identifier: { value: 'P1' } }],
  [{ PatientID: '', IssuerOfPatientID: '' }, { display: 'Without a patient ID' }],
])('the patient of a notification with %o has no empty string', (identity, expected) => {
  expect(patientOf(identity)).toEqual({ type: 'Patient', ...expected });
});
