import { describe, expect, it } from 'vitest';
import { type AlertFacts, alertMessage } from '../../../../src/core/alerts/deliver.ts';

const FLAG = {
  code: '1',
  system: 'http://example.org',
  display: 'Reversed end-diastolic flow in the umbilical artery',
  severity: 'critical',
  section: 'doppler',
  evidence: ['m1'],
  at: '2026-11-23T14:20:59.000Z',
} as const satisfies AlertFacts['flags'][number] | object;

const facts: AlertFacts = {
  flags: [{ ...FLAG, evidence: ['m1'] }],
  examination: 'Obstetric ultrasound',
  requestId: 'req_1',
  accessionNumber: 'A123',
  identity: null,
  link: 'https://gateway.example/console/worklist/7',
  list: {
    name: 'obstetrics',
    to: ['a@hospital.example'],
    escalation: { afterMinutes: 30, to: ['b@hospital.example'] },
  },
  isEscalation: false,
};

describe('the mail about a critical finding', () => {
  it('states what was found, where to look, and what happens if nobody does', () => {
    expect(alertMessage(facts)).toEqual({
      subject: 'Critical finding: Reversed end-diastolic flow in the umbilical artery',
      text: [
        'The software found something that a clinician should look at without delay.',
        'It is an unverified draft: look at the images before you act on it.',
        '',
        'Finding:     Reversed end-diastolic flow in the umbilical artery',
        'Examination: Obstetric ultrasound',
        'Accession:   A123',
        'Request:     req_1',
        'Found:       2026-11-23 14:20 UTC',
        '',
        'Open the study:',
        'https://gateway.example/console/worklist/7',
        '',
        'Acknowledge the finding on the study page. If nobody does so within 30 minutes,',
        'a mail is sent to the second list of recipients.',
        '',
      ].join('\n'),
    });
  });

  it('states in an escalation for how long nobody has acknowledged it', () => {
    const { subject, text } = alertMessage({ ...facts, isEscalation: true });
    expect(subject).toBe(
      'Critical finding, not acknowledged for 30 minutes: Reversed end-diastolic flow in the umbilical artery',
    );
    expect(text).toContain('Nobody has acknowledged this finding for 30 minutes.');
    expect(text).not.toContain('second list');
  });

  it('identifies the patient only if the site requires it, and never in the subject', () => {
    const identity = {
      PatientName: 'DOE^JANE^^^=',
      PatientID: 'P-77',
      PatientBirthDate: '19900203',
    } as NonNullable<AlertFacts['identity']>;
    const { subject, text } = alertMessage({ ...facts, identity });
    expect(text).toContain('Patient:     DOE, JANE\nBorn:        1990-02-03\nPatient ID:  P-77\n');
    expect(subject).not.toContain('DOE');
    expect(alertMessage(facts).text).not.toContain('Patient');
  });

  it.each([
    ['=山田^太郎', '山田, 太郎'],
    ['Yamada^Tarou=山田^太郎', 'Yamada, Tarou'],
  ])('states the name %s by its first group that is not empty', (PatientName, name) => {
    const identity = { PatientName, PatientBirthDate: '' } as NonNullable<AlertFacts['identity']>;
    expect(alertMessage({ ...facts, identity }).text).toContain(`Patient:     ${name}\n`);
  });
});
