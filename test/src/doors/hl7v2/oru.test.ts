import { describe, expect, test } from 'vitest';
import { CONCEPTS, type ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import type { Measurement, Result } from '../../../../pipelines/result/envelope.ts';
import { encodeMessage } from '../../../../src/doors/hl7v2/message.ts';
import {
  controlIdOf,
  dicomTimestamp,
  type OruInput,
  oruR01,
  personNames,
  type WithdrawalInput,
  withdrawalR01,
} from '../../../../src/doors/hl7v2/oru.ts';
import { sampleMeasurement, sampleResult, sampleSubject } from '../../../fhir/sample.ts';

const subject = (change: Parameters<typeof sampleSubject>[1] = {}): OruInput['subject'] => {
  const { identity, ...rest } = sampleSubject(undefined, change);
  if (!identity) throw new Error('the sample has an identity');
  return { ...rest, identity };
};

const DESTINATION: OruInput['destination'] = {
  sendingApplication: 'SONOGATE',
  receivingApplication: 'HIS',
  processingId: 'P',
};

const lines = (change: Partial<OruInput> = {}): string[] =>
  encodeMessage(
    oruR01({
      result: sampleResult(),
      fillerOrderNumber: 'req_1',
      former: [],
      subject: subject(),
      pdf: null,
      destination: DESTINATION,
      controlId: 'C1',
      characterSet: 'UNICODE UTF-8',
      ...change,
    }),
  )
    .split('\r')
    .filter(Boolean);
const of = (name: string, message: readonly string[]) =>
  message.filter((line) => line.startsWith(`${name}|`)).map((line) => line.split('|'));
const obx = (id: string, message = lines()) =>
  of('OBX', message).find((fields) => fields[4] === id);

/** Returns the notes below the observation with this sub-ID. */
const notesOf = (id: string, message = lines()): (string | undefined)[] => {
  const fields = message.map((line) => line.split('|'));
  const after = fields.slice(
    fields.findIndex(([name, , , , of]) => name === 'OBX' && of === id) + 1,
  );
  const end = after.findIndex(([name]) => name !== 'NTE');
  return after.slice(0, end < 0 ? undefined : end).map(([, , , note]) => note);
};

const signed = (
  revision: number,
  change: Partial<Result> = {},
  replaces?: { request: string; revision: number },
) =>
  sampleResult({
    draft: false,
    verification: {
      kind: 'verified',
      revision,
      replaces,
      signatures: [
        {
          observer: 'Dr A. Reader',
          organization: 'Example Hospital',
          at: '2026-03-05T08:00:00.000Z',
          statement: null,
        },
      ],
    },
    ...change,
  });

describe('an ORU^R01', () => {
  test('begins with message type, control ID, version and character set', () => {
    expect(lines()[0]).toBe(
      'MSH|^~\\&|SONOGATE||HIS||20260304101112+0000||ORU^R01^ORU_R01|C1|P|2.5.1||||||UNICODE UTF-8',
    );
  });

  test('is marked as training while the interface is tested (MSH-11, table 0103)', () => {
    const [header = ''] = lines({ destination: { ...DESTINATION, processingId: 'T' } });
    expect(header.split('|')[10]).toBe('T');
  });

  test('identifies the patient with the issuer of the ID', () => {
    expect(lines()[1]).toBe('PID|1||0012345^^^HOSPITAL^MR||Müller^Ana^^^^^L^A||19900402|F');
    const without = subject({ IssuerOfPatientID: '' });
    const destination = { ...DESTINATION, assigningAuthority: 'HERE' };
    expect(lines({ subject: without, destination })[1]).toContain('|0012345^^^HERE^MR|');
  });

  test('contains report code, accession number and the order from the worklist', () => {
    const order = {
      accessionNumber: 'OTHER',
      placerOrderNumber: 'PL1',
      requestedProcedureId: 'RP1',
      requestedProcedure: 'Growth scan',
      referringPhysicianName: 'Roe^Jane^^Dr',
      joined: ['referringPhysicianName'],
    };
    const [obr] = of('OBR', lines({ subject: { ...subject(), order } }));
    expect(obr?.[2]).toBe('PL1');
    expect(obr?.[4]).toBe('11525-3^US for pregnancy^LN');
    expect(obr?.[7]).toBe('20260304101112+0100');
    expect(obr?.slice(16, 20)).toEqual(['^Roe^Jane^^^Dr^^^^L^^^^^A', '', 'ACC-00042', 'RP1']);
    expect(obr?.slice(24, 26)).toEqual(['OUS', 'P']);
  });

  test('contains the referrer in each writing system as a repetition of OBR-16', () => {
    const known = subject({ ReferringPhysicianName: 'Suzuki^Ichiro=鈴木^一郎=すずき^いちろう' });
    const [obr] = of('OBR', lines({ subject: known }));
    expect(obr?.[16]?.split('~')).toEqual([
      '^Suzuki^Ichiro^^^^^^^L^^^^^A',
      '^鈴木^一郎^^^^^^^L^^^^^I',
      '^すずき^いちろう^^^^^^^L^^^^^P',
    ]);
  });

  test('contains a measurement with LOINC, UCUM, limits and flag', () => {
    expect(obx('hc')?.slice(2, 12)).toEqual([
      'NM',
      '11984-2^Head Circumference^LN',
      'hc',
      '280.1',
      'mm^mm^UCUM',
      '262-301',
      'N',
      '',
      '',
      'P',
    ]);
  });

  test('writes a withheld value as one that cannot be obtained, with the reason, without the number', () => {
    const fields = obx('fl');
    expect(fields?.[5]).toBe('');
    expect(fields?.[11]).toBe('X');
    expect(notesOf('fl')).toEqual(['Withheld (confidence too low): One frame only.']);
  });

  describe('says in notes what the report says of a value', () => {
    const notes = (key: ConceptKey, change: Partial<Measurement> = {}) => {
      const one = sampleMeasurement(key, 1.2, 'ratio', {
        unit: CONCEPTS[key].unit,
        uncertainty: null,
        ...change,
      });
      const message = lines({ result: sampleResult({ measurements: [one] }) });
      return notesOf(of('OBX', message).find(([, , type]) => type === 'NM')?.[4] ?? '', message);
    };
    const charted = (centile: number) => ({
      reference: { low: null, high: null, centile, z_score: null, chart: 'intergrowth-2020-efw' },
    });

    test.each([
      [42.4, '42'],
      [9.96, '9.96'],
      [99.99997, '>99'],
      [0.2, '<1'],
    ])('centile %d as %s, as obstetric 0.3 displays it', (centile, shown) => {
      expect(notes('efw', charted(centile))).toEqual([
        expect.stringMatching(new RegExp(`^Centile ${shown} of INTERGROWTH-21st`)),
      ]);
    });

    test('the interval, in the unit of the value', () => {
      expect(notes('tapse', { value: 20.8, uncertainty: 2 })).toEqual(['95 % interval ± 0.2 cm.']);
      expect(notes('ga-by-crl', { value: 58.9, uncertainty: 10.4 })).toContain(
        '95 % interval ± 10 days.',
      );
    });

    test('an interval that would be rounded to nothing keeps a digit', () => {
      expect(notes('av-mean-gradient', { value: 3.4, uncertainty: 0.41 })).toEqual([
        '95 % interval ± 0.4 mmHg.',
      ]);
    });

    test('the vessel, which the code of a Doppler index does not name', () => {
      expect(notes('middle-cerebral-artery-pi', { label: 'Middle cerebral artery PI' })).toEqual([
        'Middle cerebral artery PI.',
      ]);
    });

    test('the side and the fetus', () => {
      expect(
        notes('uterine-artery-ri', { label: 'Uterine artery RI', laterality: 'left' }),
      ).toEqual(['Uterine artery RI (left).']);
      expect(notes('hc', { label: 'Head circumference', fetus: 'B' })).toEqual([
        'Head circumference (fetus B).',
      ]);
    });

    test('once that a value is the reader’s, and how it was made', () => {
      const source = {
        ...sampleMeasurement('hc', 1, 'hc-ellipse').source,
        provenance: 'person',
      } as const;
      const note = 'entered by the reader';
      const remarks = [{ code: 'review.by-person', params: { typed: true } }] as const;
      const typed = { source, origin: 'person', confirmed: 'entered', note } as const;
      expect(notes('hc', { ...typed, remarks: [...remarks] })).toEqual([note]);
    });

    test('the side and the fetus of a withheld value too', () => {
      const withheld = { label: 'Uterine artery RI', laterality: 'right', quality: 'low' } as const;
      expect(notes('uterine-artery-ri', withheld)).toEqual([
        'Uterine artery RI (right).',
        'Withheld: confidence too low.',
      ]);
    });
  });

  test('omits values that a person must confirm, and counts them in the conclusion', () => {
    const result = sampleResult({
      measurements: [sampleMeasurement('hc', 280, 'hc-ellipse', { quality: 'review' })],
    });
    const message = lines({ result });
    expect(obx('hc', message)).toBeUndefined();
    expect(message.join()).toContain('to be reviewed: 1');
  });

  test('states that it is a draft, and what was not assessed', () => {
    const [study, conclusion] = of('OBX', lines());
    expect([study?.[3], study?.[11]]).toEqual(['113014^DICOM Study^DCM', 'O']);
    expect(conclusion?.slice(2, 5)).toEqual([
      'TX',
      '19005-8^Radiology Imaging study [Impression]^LN',
      '',
    ]);
    expect(conclusion?.[11]).toBe('P');
    expect(conclusion?.[5]).toMatch(/^AI draft, not reviewed\.~/);
    expect(conclusion?.[5]).toContain('~Fetal heart: No four-chamber view was among the images.');
  });

  test.each([
    ['P', sampleResult()],
    ['F', signed(1)],
    ['C', signed(2)],
    ['C', signed(1, {}, { request: 'req_0', revision: 1 })],
  ])('has the status %s in OBX-11 and OBR-25', (status, result) => {
    const message = lines({ result });
    expect(of('OBR', message)[0]?.[25]).toBe(status);
    expect(obx('hc', message)?.[11]).toBe(status);
  });

  test('of a signed result contains who signed, and when', () => {
    const message = lines({ result: signed(1) });
    const [obr] = of('OBR', message);
    expect(obr?.[32]).toBe('&Dr A. Reader');
    // The conclusion and each number.
    const verified = of('OBX', message).filter((fields) => fields[16] === '^Dr A. Reader');
    expect(new Set(verified.map((fields) => fields[2]))).toEqual(new Set(['TX', 'NM']));
    expect(obx('hc', lines())?.[16]).toBeFalsy();
    expect(obr?.[22]).toBe('20260305080000+0000');
  });

  test.each([
    ['D', sampleResult(), signed(1)],
    ['W', signed(1), signed(2)],
  ])('withdraws with %s what was sent before and no longer exists', (status, former, latter) => {
    const measurements = latter.measurements.filter(({ id }) => id !== 'ac');
    const message = lines({ result: { ...latter, measurements }, former: [former] });
    expect(obx('ac', message)?.slice(5)).toEqual(['', '', '', '', '', '', status].slice(0, 7));
    expect(obx('hc', message)?.[5]).toBe('280.1');
  });

  test('distinguishes the values of twins within the 20 characters of OBX-4', () => {
    const of = (fetus: string) =>
      sampleMeasurement('transcerebellar-diameter', 42, 'hc-ellipse', { fetus });
    const message = lines({ result: sampleResult({ measurements: [of('1'), of('2')] }) });
    const ids = message.filter((line) => line.startsWith('OBX|') && line.includes('|NM|'));
    const subIds = ids.map((line) => line.split('|')[4] ?? '');
    expect(new Set(subIds).size).toBe(2);
    for (const id of subIds) expect(id).toMatch(/^transcerebe-[0-9a-f]{8}$/);
  });

  test('contains the report as an encapsulated PDF', () => {
    const fields = obx('pdf', lines({ pdf: Buffer.from('%PDF-1.7') }));
    expect(fields?.[2]).toBe('ED');
    expect(fields?.[5]).toBe('^application^pdf^Base64^JVBERi0xLjc=');
  });

  test('is the same on a retry', () => {
    expect(lines()).toEqual(lines());
    expect(controlIdOf('d1')).toBe(controlIdOf('d1'));
    expect(controlIdOf('d1')).toMatch(/^[0-9A-F]{20}$/);
    expect(controlIdOf('d1')).not.toBe(controlIdOf('d2'));
  });
});

test('a name has the suffix before the prefix, and a repetition for each representation', () => {
  expect(personNames('Yamada^Tarou^^Dr^Jr=山田^太郎=やまだ^たろう')).toEqual([
    ['Yamada', 'Tarou', '', 'Jr', 'Dr', '', 'L', 'A'],
    ['山田', '太郎', '', '', '', '', 'L', 'I'],
    ['やまだ', 'たろう', '', '', '', '', 'L', 'P'],
  ]);
});

test.each([
  ['20260304', '101112.5', '+0100', '20260304101112+0100'],
  ['2026.03.04', '10:11', '', '202603041011'],
  ['20260304', '10', '+0100', '202603041000+0100'],
  ['20260304', '', '+0100', '20260304'],
  ['', '101112', '', ''],
])('date %j and time %j with offset %j are %j', (date, time, offset, expected) => {
  expect(dicomTimestamp(date, time, offset)).toBe(expected);
});

describe('the message that withdraws a result', () => {
  const withdrawal = {
    at: '2026-11-30T06:00:00.000Z',
    by: 'Dr A. Reader',
    reason: 'wrong-patient',
    text: 'Images of the next patient',
  } as const;
  const withdrawn = (change: Partial<WithdrawalInput> = {}): string[] =>
    encodeMessage(
      withdrawalR01({
        result: sampleResult(),
        sent: [sampleResult()],
        withdrawal,
        fillerOrderNumber: 'req_1',
        subject: subject(),
        destination: { ...DESTINATION, pdf: true },
        controlId: 'C1',
        characterSet: 'UNICODE UTF-8',
        ...change,
      }),
    )
      .split('\r')
      .filter(Boolean);

  test('has every observation of the result, each without a value and posted as wrong', () => {
    const pdf = Buffer.from('%PDF-1.7');
    const keyOf = (fields: readonly string[]) => fields.slice(2, 5).join('|');
    expect(of('OBX', withdrawn()).map(keyOf).toSorted()).toEqual(
      of('OBX', lines({ pdf })).map(keyOf).toSorted(),
    );
    for (const fields of of('OBX', withdrawn())) {
      expect([fields[5], fields[11]]).toEqual(['', 'W']);
    }
  });

  test('has the same order and patient, and the time of the withdrawal', () => {
    const [obr] = of('OBR', withdrawn());
    const [original] = of('OBR', lines());
    expect(obr?.slice(1, 20)).toEqual(original?.slice(1, 20));
    expect([obr?.[22], obr?.[25]]).toEqual(['20261130060000+0000', 'C']);
    expect(of('PID', withdrawn())).toEqual(of('PID', lines()));
    expect(of('MSH', withdrawn())[0]?.[6]).toBe('20261130060000+0000');
  });

  test('states who withdrew the result and why', () => {
    expect(of('NTE', withdrawn()).map((fields) => fields[3])).toEqual([
      'Withdrawn by Dr A. Reader. Wrong patient: Images of the next patient',
    ]);
  });

  test('has the values of every revision that the receiver may have', () => {
    const more = sampleResult({
      measurements: [sampleMeasurement('bpd', 74.2, 'bpd-outer-outer')],
    });
    const ids = of('OBX', withdrawn({ sent: [sampleResult(), more] })).map((fields) => fields[4]);
    expect(ids).toEqual(expect.arrayContaining(['hc', 'ac', 'bpd']));
  });
});
