import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { datingMenstrualDate } from '../../../../../src/core/studies/order-observations.ts';
import { type Frame, FrameReader, framed } from '../../../../../src/doors/hl7v2/frames.ts';
import {
  effectiveAt,
  headerOf,
  instantOf,
  readMessage,
  requireAccepted,
} from '../../../../../src/doors/hl7v2/receive/header.ts';
import { ordersIn } from '../../../../../src/doors/hl7v2/receive/orders.ts';
import { mergesIn, updateIn } from '../../../../../src/doors/hl7v2/receive/patients.ts';
import { Hl7Refusal } from '../../../../../src/doors/hl7v2/receive/refusal.ts';
import { message, msh, ORDER, orm, pid } from './messages.ts';

const OWN = { assigningAuthority: 'HOSPITAL', patientIdTypes: ['MR', 'PI', 'PT'] };
const read = (text: string) => readMessage(Buffer.from(text), 'UNICODE UTF-8');
const orders = (text: string) => ordersIn(read(text), headerOf(Buffer.from(text)), OWN);

describe('an order', () => {
  test('states its numbers, patient, indication and last menstrual date', () => {
    expect(orders(orm())).toEqual([
      {
        placer: { number: 'PL-1', authority: 'HIS' },
        filler: { number: 'FI-1', authority: 'RIS' },
        withdrawn: false,
        isStatusChange: false,
        patient: { patientId: 'PAT-1', issuerOfPatientId: '', birthDate: '19900405', sex: 'F' },
        entries: [
          {
            accessionNumber: 'ACC-1',
            placerOrderNumber: 'PL-1',
            requestedProcedureId: 'RP-1',
            requestedProcedure: 'Growth scan',
            indication: 'Größe für das Alter?',
            referringPhysicianName: 'Überweiser^Zoë^^Dr.',
            sex: 'F',
            pregnancy: {
              menstrual: [{ date: '20260101', observedAt: Date.UTC(2026, 4, 21, 8) }],
              due: [],
            },
            pregnancyStatus: null,
            patientSizeMetres: null,
            patientWeightKilograms: 71,
            studyInstanceUid: '',
          },
        ],
      },
    ]);
  });

  test('in an OMI has the accession number and study of each IPC', () => {
    const ipcs = ['IPC|ACC-1|RP-1|1.2.3|SPS-1', 'IPC|ACC-2|RP-2|1.2.4|SPS-2'];
    const text = message(msh({ type: 'OMI^O23' }), pid(), ...ORDER, ...ipcs);
    const found = orders(text)[0]?.entries.map((entry) => [
      entry.accessionNumber,
      entry.requestedProcedureId,
      entry.studyInstanceUid,
    ]);
    expect(found).toEqual([
      ['ACC-1', 'RP-1', '1.2.3'],
      ['ACC-2', 'RP-2', '1.2.4'],
    ]);
  });

  test.each([
    ['by the due date where it has no last menstrual date', ['due 20261008'], '20260101'],
    [
      'by the due date, which is new where a pregnancy was dated again',
      ['due 20261008', 'menstrual 20251220'],
      '20260101',
    ],
    [
      'not by the due date of an earlier pregnancy',
      ['due 20260820 20260110', 'menstrual 20260401 20260501'],
      '20260401',
    ],
    [
      'by the last menstrual date where the due date is not plausible',
      ['due 20270801', 'menstrual 20260101'],
      '20260101',
    ],
  ])('dates a study %s', (_how, stated, date) => {
    const lines = stated.map((one) => {
      const [what, value = '', observed = ''] = one.split(' ');
      const code = what === 'due' ? '11778-8^EDD^LN' : '8665-2^LMP^LN';
      return `OBX|1|DT|${code}||${value}||||||F|||${observed}`;
    });
    const [order] = orders(orm({}, ['ORC|NW|PL-1', 'OBR|1|PL-1', ...lines]));
    const pregnancy = order?.entries[0]?.pregnancy ?? { menstrual: [], due: [] };
    expect(datingMenstrualDate(pregnancy, '20260521')).toBe(date);
  });

  test.each([
    [
      ['20260501', '70'],
      ['20260520', '72'],
    ],
    [
      ['20260520', '72'],
      ['20260501', '70'],
    ],
    [
      ['', '70'],
      ['20260520', '72'],
    ],
    [
      ['20260520', '72'],
      ['', '70'],
    ],
    // The later one in the message, if both are of the same time.
    [
      ['20260520', '70'],
      ['20260520', '72'],
    ],
    [
      ['202605200800+0200', '70'],
      ['202605200600+0000', '72'],
    ],
    [
      ['', '70'],
      ['', '72'],
    ],
    [
      ['202605200900+0200', '70'],
      ['202605200800+0000', '72'],
    ],
    [
      ['20260520', '70'],
      ['20260501', '71'],
      ['20260520', '72'],
    ],
  ])('has the newest weight of %j and %j', (...weights) => {
    const obxs = weights.map(
      ([at, kg], i) => `OBX|${i + 1}|NM|29463-7^Weight^LN||${kg}|kg|||||F|||${at}`,
    );
    const [order] = orders(orm({}, [...ORDER.slice(0, 3), ...obxs]));
    expect(order?.entries[0]?.patientWeightKilograms).toBe(72);
  });

  test('has its own weight before one stated for the whole message at the same time', () => {
    const weight = (kg: number) => `OBX|1|NM|29463-7^Weight^LN||${kg}|kg|||||F|||20260520`;
    const [pv1 = '', orc = '', obr = ''] = ORDER;
    const [order] = orders(orm({}, [pv1, weight(70), orc, obr, weight(72)]));
    expect(order?.entries[0]?.patientWeightKilograms).toBe(72);
  });

  test('is dated by the later of two due dates without a time', () => {
    const due = (date: string) => `OBX|1|DT|11778-8^EDD^LN||${date}||||||F`;
    const [order] = orders(orm({}, [...ORDER.slice(0, 3), due('20261001'), due('20261008')]));
    const pregnancy = order?.entries[0]?.pregnancy ?? { menstrual: [], due: [] };
    expect(datingMenstrualDate(pregnancy, '20260521')).toBe('20260101');
  });

  test('needs an ORC', () => {
    expect(() => orders(message(msh({ type: 'ORM^O01' }), pid()))).toThrow(
      expect.objectContaining({ code: 100, place: expect.objectContaining({ segment: 'ORC' }) }),
    );
  });

  test.each(['CA', 'DC', 'OC', 'RP'])('is withdrawn by %s', (control) => {
    const [order] = orders(orm({}, [`ORC|${control}|PL-1^HIS`]));
    expect(order).toMatchObject({ withdrawn: true, entries: [] });
  });

  test.each([
    ['ORC|ZZ|PL-1', 103, 1],
    ['ORC|NW', 101, 2],
    [`ORC|NW|${'1'.repeat(200)}`, 102, undefined],
  ])('%s is refused', (orc, code, field) => {
    const place = expect.objectContaining({ segment: 'ORC', ...(field && { field }) });
    expect(() => orders(orm({}, [orc, 'OBR|1']))).toThrow(
      expect.objectContaining({ acknowledgment: 'AE', code, place }),
    );
  });
});

describe('a patient', () => {
  test('has a name in each representation, and only what the message states', () => {
    const name = 'Yamada&&^Tarou^^Jr.^Dr.^^L^A~山田^太郎^^^^^L^I';
    const text = message(msh({ type: 'ADT^A08' }), pid({ name, birthDate: '1990', sex: 'U' }));
    expect(updateIn(read(text), OWN)).toEqual({
      patients: [{ id: 'PAT-1', authority: 'HOSPITAL', unissued: true }],
      stated: { PatientName: 'Yamada^Tarou^^Dr.^Jr.=山田^太郎' },
    });
  });

  test.each([
    ['Roe^Jane^^^^^L~Doe^Jane^^^^^M', 'Roe^Jane'],
    ['Doe^Jane^^^^^M~Roe^Jane^^^^^L', 'Roe^Jane'],
    ['Doe^Jane^^^^^M', 'Doe^Jane'],
  ])('of %s is %s: a legal name comes first', (name, expected) => {
    const text = message(msh({ type: 'ADT^A08' }), pid({ name }));
    expect(updateIn(read(text), OWN).stated.PatientName).toBe(expected);
  });

  test('has a name of at most 64 characters', () => {
    const named = (length: number) => () =>
      updateIn(read(message(msh({ type: 'ADT^A08' }), pid({ name: 'R'.repeat(length) }))), OWN);
    expect(named(64)().stated.PatientName).toHaveLength(64);
    expect(named(65)).toThrow(expect.objectContaining({ code: 102 }));
  });

  test('loses a value that the message removes', () => {
    const text = message(msh({ type: 'ADT^A08' }), pid({ birthDate: '""', name: '' }));
    expect(updateIn(read(text), OWN).stated).toEqual({ PatientBirthDate: '', PatientSex: 'F' });
  });

  test('of one authority is never merged into a patient of another', () => {
    const text = message(msh({ type: 'ADT^A40' }), pid(), 'MRG|OLD^^^ELSEWHERE^MR');
    expect(() => mergesIn(read(text), OWN)).toThrow(expect.objectContaining({ code: 204 }));
  });

  test('is merged under each authority that both state', () => {
    const id = 'PAT-1^^^HOSPITAL^MR~E7^^^ELSEWHERE^PI';
    const text = message(msh({ type: 'ADT^A40' }), pid({ id }), 'MRG|E6^^^ELSEWHERE^PI~PAT-0');
    expect(
      mergesIn(read(text), OWN).map(({ prior, survivorId }) => [
        prior.authority,
        prior.id,
        survivorId,
      ]),
    ).toEqual([
      ['ELSEWHERE', 'E6', 'E7'],
      ['HOSPITAL', 'PAT-0', 'PAT-1'],
    ]);
  });
});

describe('an identifier of another kind', () => {
  const HERE = { authority: 'HOSPITAL', unissued: true };
  const updated = (id: string) =>
    updateIn(read(message(msh({ type: 'ADT^A08' }), pid({ id }))), OWN).patients;
  const merged = (id: string, prior: string) =>
    mergesIn(read(message(msh({ type: 'ADT^A40' }), pid({ id }), `MRG|${prior}`)), OWN).map(
      (one) => [one.prior.id, one.survivorId],
    );

  test.each([
    ['an account', '777^^^HOSPITAL^AN~1001^^^HOSPITAL^MR'],
    ['a visit and an SSN', '1001^^^HOSPITAL^MR~777^^^HOSPITAL^VN~778^^^USSSA^SS'],
    ['without authorities', '1001~777'],
    ['of the same authority', '777^^^HOSPITAL^PI~1001^^^HOSPITAL^MR'],
    ['an empty one', '^^^HOSPITAL^MR~""^^^HOSPITAL^MR~1001^^^HOSPITAL^MR'],
    ['one that is too long', `${'7'.repeat(65)}^^^HOSPITAL^MR~1001^^^HOSPITAL^MR`],
  ])('is not the ID of a patient: %s', (_what, id) => {
    expect(updated(id)).toEqual([{ ...HERE, id: '1001' }]);
    const [order] = orders(message(msh({ type: 'ORM^O01' }), pid({ id }), ...ORDER));
    expect(order?.patient.patientId).toBe('1001');
  });

  test('alone does not identify a patient', () => {
    expect(() => updated('777^^^HOSPITAL^AN')).toThrow(expect.objectContaining({ code: 101 }));
  });

  test('merges nobody', () => {
    expect(merged('2002^^^HOSPITAL^MR', '1001^^^HOSPITAL^MR~777^^^HOSPITAL^AN')).toEqual([
      ['1001', '2002'],
    ]);
    expect(() => merged('2002^^^HOSPITAL^MR', '8^^^HOSPITAL^PI')).toThrow(
      expect.objectContaining({ code: 204 }),
    );
  });

  test.each([
    ['that both have', '2002^^^HOSPITAL^MR~N1^^^NAT^PI', '1001^^^HOSPITAL^MR~N1^^^NAT^PI'],
    ['of an authority of one', '2002^^^HOSPITAL^MR', '1001^^^HOSPITAL^MR~E1^^^ELSEWHERE^MR'],
    ['that has no type', '2002^^^HOSPITAL^MR', '1001^^^HOSPITAL'],
  ])('does not prevent a merge: %s', (_what, id, prior) => {
    expect(merged(id, prior)).toEqual([['1001', '2002']]);
  });

  test.each([
    ['every ID of one type', 'M9^^^H^MR', 'M1^^^H^MR~M2^^^H^MR', ['M1', 'M9'], ['M2', 'M9']],
    ['the IDs that differ', '100^^^H^MR~300^^^H^PI', '100^^^H^MR~200^^^H^PI', ['200', '300']],
    ['no ID that both have', 'M9^^^H^MR~M2^^^H^MR', 'M1^^^H^MR~M2^^^H^MR', ['M1', 'M9']],
  ])('is merged: %s', (_what, id, prior, ...merges) => {
    expect(merged(id, prior)).toEqual(merges);
  });

  test('of one type is corrected each', () => {
    expect(updated('M1^^^H^MR~M2^^^H^MR~P1^^^H^PI').map(({ id }) => id)).toEqual(['M1', 'M2']);
  });

  test('that both patients have does not cause a merge', () => {
    expect(() => merged('1001^^^HOSPITAL^MR', '1001^^^HOSPITAL^MR')).toThrow(
      expect.objectContaining({ code: 204 }),
    );
  });
});

describe('a message', () => {
  test.each(['PAT\\X00\\1^^^HOSPITAL^MR', 'PAT\0', '1^^^A&\\X4100\\'])(
    'with U+0000, which cannot be stored, is refused for good: %j',
    (id) => {
      expect(() => read(message(msh({ type: 'ADT^A08' }), pid({ id })))).toThrow(
        expect.objectContaining({ acknowledgment: 'AE', code: 102, place: { segment: 'PID' } }),
      );
    },
  );

  const accepted = (over: Parameters<typeof msh>[0]) => () =>
    requireAccepted(headerOf(Buffer.from(msh(over))), { processingIds: ['P'] });
  test.each([
    [{ type: 'ORU^R01' }, 'AR', 200],
    [{ type: 'ADT^A01' }, 'AR', 201],
    [{ type: 'ADT^A08', processing: 'T' }, 'AR', 202],
    [{ type: 'ADT^A08', version: '3.0' }, 'AR', 203],
    [{ type: 'ADT^A08', control: '' }, 'AE', 101],
    [{ type: 'ADT^A08', control: '1'.repeat(200) }, 'AE', 101],
    [{ type: 'constructor^A08' }, 'AR', 200],
  ])('%o is answered with %s %i', (over, acknowledgment, code) => {
    expect(accepted(over)).toThrow(expect.objectContaining({ acknowledgment, code }));
  });

  test('of the longest control ID is accepted', () => {
    expect(accepted({ type: 'ADT^A08', control: '1'.repeat(199) })).not.toThrow();
  });

  test('in a character set other than it states is refused', () => {
    const text = orm({ set: 'UNICODE UTF-8' });
    expect(() => readMessage(Buffer.from(text, 'latin1'), 'ASCII')).toThrow(
      expect.objectContaining({ code: 102 }),
    );
    expect(() => read(orm({ set: 'ISO IR87' }))).toThrow(expect.objectContaining({ code: 103 }));
    expect(() => readMessage(Buffer.from(orm({ set: '' })), 'ASCII')).toThrow(
      expect.objectContaining({ code: 102 }),
    );
  });

  test('in ISO 8859-1 keeps its letters', () => {
    const segments = readMessage(Buffer.from(orm({ set: '8859/1' }), 'latin1'), 'ASCII');
    const [order] = ordersIn(segments, headerOf(Buffer.from(orm())), OWN);
    expect(order?.entries[0]?.indication).toBe('Größe für das Alter?');
  });

  test('has the time in EVN-2, otherwise that in MSH-7', () => {
    const header = msh({ type: 'ADT^A08' });
    expect(effectiveAt(read(message(header)))).toEqual(new Date('2026-05-21T08:00:00Z'));
    expect(effectiveAt(read(message(header, 'EVN||20260520101500+0200')))).toEqual(
      new Date('2026-05-20T08:15:00Z'),
    );
    expect(instantOf('2026-05-20')).toBeNull();
    expect(instantOf('20261320')).toBeNull();
  });

  test('of arbitrary content is either read or refused', () => {
    const part = fc.oneof(
      fc.constantFrom('PID', 'ORC', 'OBR', 'OBX', 'IPC', 'MRG', 'EVN', 'ZDS', 'DG1', 'PV1'),
      fc.constantFrom('|', '^', '~', '\\', '&', '\r', '""', 'NW', 'CA', '8665-2^^LN', '\\X0D\\'),
      fc.string(),
    );
    const known = fc.constantFrom('ORM^O01', 'OMI^O23', 'ADT^A08', 'ADT^A40');
    fc.assert(
      fc.property(known, fc.array(part, { maxLength: 60 }), (type, parts) => {
        const bytes = Buffer.from(`${msh({ type })}\r${parts.join('')}`);
        try {
          const segments = readMessage(bytes, 'UNICODE UTF-8');
          if (!type.startsWith('ADT')) ordersIn(segments, headerOf(bytes), OWN);
          else if (type.endsWith('A08')) updateIn(segments, OWN);
          else mergesIn(segments, OWN);
        } catch (error) {
          expect(error).toBeInstanceOf(Hl7Refusal);
        }
      }),
    );
  });
});

describe('the frames on a connection', () => {
  const frames = (bytes: Buffer, size = bytes.length, most = 1000): Frame[] => {
    const reader = new FrameReader(most);
    const found: Frame[] = [];
    for (let at = 0; at < bytes.length; at += size)
      found.push(...reader.push(bytes.subarray(at, at + size)));
    return found;
  };
  const texts = (found: readonly Frame[]) =>
    found.map((frame) => ('message' in frame ? frame.message.toString() : Object.values(frame)[0]));

  test('yield the same messages however the bytes arrive', () => {
    const safe = fc.string().map((text) => text.replaceAll(/\p{Cc}/gu, '.'));
    fc.assert(
      fc.property(fc.array(safe), fc.integer({ min: 1, max: 50 }), (messages, size) => {
        const bytes = Buffer.concat(messages.map((text) => framed(Buffer.from(text))));
        expect(texts(frames(bytes, size, 100_000))).toEqual(messages);
      }),
    );
  });

  test('continue at the next start after a frame without an end', () => {
    expect(texts(frames(Buffer.from('\x0bhalf\x0bwhole\x1c\r')))).toEqual(['no-end', 'whole']);
    expect(texts(frames(Buffer.from('\x0bhalf\x1c!\x0bwhole\x1c\r'), 1))).toEqual([
      'no-end',
      'no-start',
      'whole',
    ]);
    expect(texts(frames(Buffer.from('garbage\r\n\x0bwhole\x1c\r\n'), 3))).toEqual([
      'no-start',
      'whole',
    ]);
  });

  test('end with a message that is too large, of which only the beginning is kept', () => {
    const found = frames(Buffer.from(`\x0b${'x'.repeat(5000)}\x1c\r\x0bnext\x1c\r`), 100);
    expect(found).toEqual([{ tooLarge: Buffer.from('x'.repeat(1000)) }]);
    const largest = frames(Buffer.from(`\x0b${'x'.repeat(1000)}\x1c\r`), 100);
    expect(largest).toEqual([{ message: Buffer.from('x'.repeat(1000)) }]);
  });

  test('of arbitrary bytes buffer no more than the largest message', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (chunks) => {
        const reader = new FrameReader(50);
        for (const chunk of chunks) {
          for (const frame of reader.push(Buffer.from(chunk))) {
            const held =
              'message' in frame ? frame.message : 'tooLarge' in frame ? frame.tooLarge : null;
            expect(held?.length ?? 0).toBeLessThanOrEqual(50);
          }
        }
      }),
    );
  });
});
