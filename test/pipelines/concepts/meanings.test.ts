import { describe, expect, it } from 'vitest';
import { CONCEPTS, FINDING_CONCEPTS, METHODS } from '../../../pipelines/concepts/concepts.ts';
import { isFromReport, MACHINE_METHODS } from '../../../pipelines/result/envelope.ts';

/** Maximum length of a Code Meaning (0008,0104), a long string (PS3.5 6.2). */
const LONG_STRING = 64;

describe('the meaning of a private code', () => {
  it('is the label of its quantity, so that SR and FHIR use the same name', () => {
    const others = Object.values(CONCEPTS).flatMap(({ label, codings: [first] }) =>
      first.scheme === '99USINT' && first.meaning !== label ? [first.meaning] : [],
    );
    expect(others).toEqual([]);
    expect(CONCEPTS['tapse-to-spap'].codings[0].meaning).toBe('TAPSE over sPAP');
  });

  it('fits into a DICOM code meaning', () => {
    const codings = [
      ...Object.values(CONCEPTS).flatMap(({ codings }) => [...codings]),
      ...Object.values(FINDING_CONCEPTS),
    ];
    const long = codings.filter(({ meaning }) => meaning.length > LONG_STRING || meaning === '');
    expect(long).toEqual([]);
  });
});

it('every method of the machine is in the table of methods, and its text says whose value it is', () => {
  for (const method of MACHINE_METHODS) {
    expect(METHODS[method].text).toContain('of the ultrasound machine');
  }
  const others = Object.entries(METHODS).filter(([key]) => !isFromReport({ method: key }));
  expect(others.filter(([, { text }]) => text.includes('of the ultrasound machine'))).toEqual([]);
});
