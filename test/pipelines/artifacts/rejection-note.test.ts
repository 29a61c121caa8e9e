import { describe, expect, test } from 'vitest';
import { buildRejectionNote } from '../../../pipelines/artifacts/ko/rejection-note.ts';
import { resultSeriesUids } from '../../../pipelines/artifacts/modules.ts';
import { decode } from '../../../pipelines/artifacts/sr/decode.ts';
import { WITHDRAWAL_REASON_CODES } from '../../../pipelines/contract/withdrawal.ts';
import { STORAGE_CLASS } from '../../../pipelines/dicom/sop-classes.ts';
import { RESULT } from './example-result.ts';
import { SUBJECT } from './example-subject.ts';
import { asFile, dciodvfy, installed, run } from './programs.ts';

const REJECTED = [
  {
    sopClassUid: STORAGE_CLASS.comprehensive3dSr,
    sopInstanceUid: '1.2.3.1',
    seriesInstanceUid: '1.2.3',
  },
  {
    sopClassUid: STORAGE_CLASS.segmentation,
    sopInstanceUid: '1.2.4.1',
    seriesInstanceUid: '1.2.4',
  },
  {
    sopClassUid: STORAGE_CLASS.presentationState,
    sopInstanceUid: '1.2.5.1',
    seriesInstanceUid: '1.2.5',
  },
  {
    sopClassUid: STORAGE_CLASS.presentationState,
    sopInstanceUid: '1.2.5.2',
    seriesInstanceUid: '1.2.5',
  },
  {
    sopClassUid: STORAGE_CLASS.encapsulatedPdf,
    sopInstanceUid: '1.2.6.1',
    seriesInstanceUid: '1.2.6',
  },
];
const WITHDRAWAL = {
  at: '2026-11-30T06:00:00.000Z',
  by: 'Dr Ada Reader',
  reason: 'wrong-patient',
  text: 'The next patient was scanned under this order.',
} as const;

const note = (over: Partial<Parameters<typeof buildRejectionNote>[2]> = {}, destination = 'pacs') =>
  buildRejectionNote(
    RESULT,
    SUBJECT,
    { ...WITHDRAWAL, ...over },
    { destination, rejected: REJECTED },
  );

describe('the rejection note of a withdrawn result', () => {
  test.each([
    ['wrong-patient', '113037', 'Rejected for Patient Safety Reasons'],
    ['wrong-study', '113037', 'Rejected for Patient Safety Reasons'],
    ['wrong-measurement', '113037', 'Rejected for Patient Safety Reasons'],
    ['wrong-order', '113038', 'Incorrect Modality Worklist Entry'],
    ['quality', '113001', 'Rejected for Quality Reasons'],
  ] as const)('for %s is titled %s, %s', (reason, code, meaning) => {
    const { root } = decode(note({ reason }));
    expect(root.name).toEqual({ scheme: 'DCM', code, meaning });
  });

  test.skipIf(!installed('dciodvfy'))('has no error for dciodvfy', () => {
    for (const reason of WITHDRAWAL_REASON_CODES) {
      const { code, complaints } = dciodvfy(asFile(note({ reason }), 'dcm'));
      const errors = complaints.filter((line) => line.startsWith('Error'));
      expect({ code, errors }).toEqual({ code: 0, errors: [] });
    }
  });

  test.skipIf(!installed('dsrdump'))('is read by dsrdump with every object, who and why', () => {
    const { code, output } = run('dsrdump', ['+Pl', '+Pu', asFile(note(), 'dcm')]);
    expect(code).toBe(0);
    expect(output).not.toMatch(/^[EF]:/m);
    expect(output).toContain('Rejected for Patient Safety Reasons');
    expect(output).toContain('Wrong patient: The next patient was scanned under this order.');
    expect(output).toContain('Dr Ada Reader');
    for (const { sopInstanceUid } of REJECTED) expect(output).toContain(sopInstanceUid);
  });

  test('is the same object when it is sent again, and a different one for each PACS', () => {
    expect(note()).toEqual(note());
    const uid = (bytes: Buffer) => decode(bytes).header.SOPInstanceUID;
    expect(uid(note({}, 'archive'))).not.toBe(uid(note()));
  });

  test('is recognised as ours when a PACS sends it back', () => {
    const series = String(decode(note()).header.SeriesInstanceUID);
    expect(resultSeriesUids(SUBJECT.requestId)).toContain(series);
  });
});
