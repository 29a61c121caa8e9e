import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hl7v2Schema } from '../../../../../config/hl7v2.ts';
import { deidentificationSchema } from '../../../../../config/peers.ts';
import { createDeidentifiedDeliverer } from '../../../../../dimse/send/deliver-deidentified.ts';
import type { DicomIdentity } from '../../../../../pipelines/dicom/subject.ts';
import type { AuditEntry } from '../../../../../src/core/audit/audit.ts';
import { objectsOnDisk } from '../../../../../src/core/files/received-objects.ts';
import {
  applyMerges,
  listMerges,
  separatePatients,
} from '../../../../../src/core/patients/merges.ts';
import { receivedOrders } from '../../../../../src/core/studies/received-orders.ts';
import { recordArrivals } from '../../../../../src/core/studies/record-arrival.ts';
import { findStudy } from '../../../../../src/core/studies/study-store.ts';
import { subjectOfRequest } from '../../../../../src/core/studies/subject.ts';
import { framed } from '../../../../../src/doors/hl7v2/frames.ts';
import { answerTo } from '../../../../../src/doors/hl7v2/receive/answer.ts';
import { listenForMessages } from '../../../../../src/doors/hl7v2/receive/listener.ts';
import type { PooledDatabase } from '../../../../../src/platform/database/pooled.ts';
import { silentLogger } from '../../../../../src/platform/logging/logger.ts';
import { instanceHeader } from '../../../../dimse/instance-header.ts';
import { makeAuthority, OPENSSL_INSTALLED } from '../../../../peers/certificates.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../../peers/database.ts';
import { message, msh, ORDER, orm, pid } from './messages.ts';

const NOW = new Date('2026-05-21T09:00:00Z');
const SIGNAL = new AbortController().signal;
let fresh: OpenDatabase;
let dataDir: string;
let database: PooledDatabase;
const audited: AuditEntry[] = [];

beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database, dataDir } = fresh);
});
afterAll(async () => {
  await fresh.close();
});

const settings = hl7v2Schema.parse({
  host: '127.0.0.1',
  port: 0,
  senders: [{ name: 'his', addresses: ['127.0.0.1'] }],
  assigningAuthority: 'HOSPITAL',
});
const parts = () => ({
  settings,
  database,
  writeAudit: async (entry: AuditEntry) => void audited.push(entry),
  logger: silentLogger,
  now: () => NOW,
});
const PEER = { sender: 'his', address: '127.0.0.1', applications: ['HIS'] };
const answers = async (text: string, over: object = {}) =>
  (await answerTo(Buffer.from(text), PEER, { ...parts(), ...over })).map(String);
/** Returns the acknowledgment code, and the error if there is one. */
const codeOf = async (text: string, over: object = {}) => {
  const [answer = ''] = await answers(text, over);
  const field = (name: string, at: number) =>
    answer
      .split('\r')
      .find((line) => line.startsWith(name))
      ?.split('|')[at];
  return [field('MSA', 1), field('ERR', 3)?.split('^')[0]].filter(Boolean).join(' ');
};
const ordersOf = (accessionNumber: string) =>
  receivedOrders(database).orders({ accessionNumber, studyDate: '20260521' }, SIGNAL);

let studies = 0;
/** Adds a study as if a cart had sent it. */
async function received(identity: Partial<DicomIdentity>) {
  studies += 1;
  const studyInstanceUid = `1.2.840.77.${studies}`;
  const header = instanceHeader({
    studyInstanceUid,
    sopInstanceUid: `${studyInstanceUid}.1`,
    identity: { StudyInstanceUID: studyInstanceUid, ...identity },
  });
  await database.transaction((tx) =>
    recordArrivals(tx, [
      {
        path: `intake/${studyInstanceUid}`,
        bytes: 1,
        fileSha256: studyInstanceUid,
        dataSetSha256: studyInstanceUid,
        contentSha256: null,
        transferSyntax: '1.2.840.10008.1.2.1',
        header,
        source: 'cart',
        callingAeTitle: 'CART',
        calledAeTitle: 'SONOGATE',
        receivedAt: NOW,
        completeAfter: NOW,
        rerunAlways: false,
      },
    ]),
  );
  const row = async () => {
    const study = await findStudy(database, studyInstanceUid);
    if (!study) throw new Error('no row');
    return study;
  };
  const nameAndId = async () => {
    const { PatientID, PatientName, PatientBirthDate } = (await row()).identity;
    return [PatientID, PatientName, PatientBirthDate];
  };
  return { row, nameAndId };
}

const a08 = (control: string, at: string, over: Parameters<typeof pid>[0]) =>
  message(msh({ type: 'ADT^A08', control, at }), `EVN||${at}`, pid(over));
const a40 = (control: string, at: string, id: string, prior: string, birthDate = '19900405') =>
  message(msh({ type: 'ADT^A40', control, at }), pid({ id, birthDate }), `MRG|${prior}`);

describe('an order by HL7', () => {
  test('is kept before it is acknowledged, and found by its accession number', async () => {
    expect(await codeOf(orm())).toBe('AA');
    expect(await ordersOf('ACC-1')).toEqual([
      expect.objectContaining({
        indication: 'Größe für das Alter?',
        lastMenstrualDate: '20260101',
      }),
    ]);
  });

  test('without an accession number is found by its filler order number', async () => {
    const order = ['ORC|NW|PL-9|FI-9', 'OBR|1|PL-9|FI-9|US1^Growth'];
    expect(await codeOf(orm({ control: 'M9' }, order))).toBe('AA');
    expect(await ordersOf('FI-9')).toEqual([expect.objectContaining({ accessionNumber: 'FI-9' })]);
  });

  test('that is sent again receives the same response and is stored once', async () => {
    const text = orm({ control: 'M2' });
    const [first] = await answers(text);
    expect(await answers(text, { now: () => new Date('2026-05-22T09:00:00Z') })).toEqual([first]);
    expect(await ordersOf('ACC-1')).toHaveLength(1);
  });

  test('is withdrawn, and an older message does not restore it', async () => {
    const later = { control: 'M3', at: '20260521100000+0000' };
    expect(await codeOf(orm(later, ['ORC|CA|PL-1^HIS|FI-1^RIS']))).toBe('AA');
    expect(await ordersOf('ACC-1')).toEqual([]);
    expect(await codeOf(orm({ control: 'M4' }))).toBe('AA');
    expect(await ordersOf('ACC-1')).toEqual([]);
    expect(await codeOf(orm({ control: 'M5', at: '20260521110000+0000' }))).toBe('AA');
    expect(await ordersOf('ACC-1')).toHaveLength(1);
  });

  test('keeps its details when only its status changes, until the status is canceled', async () => {
    const order = ORDER.map((one) => one.replaceAll('-1', '-6'));
    await codeOf(orm({ control: 'S1' }, order));
    const details = { indication: 'Größe für das Alter?', lastMenstrualDate: '20260101' };
    const changes = [
      ['ORC|SC|PL-6^HIS|FI-6^RIS||IP'],
      ['ORC|SC|PL-6^HIS|FI-6^RIS||IP', 'OBR|1|PL-6^HIS|FI-6^RIS|US1^Growth scan^L'],
    ];
    for (const [index, change] of changes.entries()) {
      expect(await codeOf(orm({ control: `S2${index}` }, change))).toBe('AA');
      expect(await ordersOf('ACC-6')).toEqual([expect.objectContaining(details)]);
    }
    await codeOf(orm({ control: 'S3' }, ['ORC|SC|PL-6^HIS|FI-6^RIS||CA']));
    expect(await ordersOf('ACC-6')).toEqual([]);
    await codeOf(orm({ control: 'S4' }, changes[1]));
    expect(await ordersOf('ACC-6')).toEqual([]);
  });

  test("for one procedure does not replace another procedure's order with the same placer order number", async () => {
    const group = (control: string, number: number) => [
      `ORC|${control}|PL-20`,
      `OBR|1|PL-20||US1^Growth||||||||||||||ACC-2${number}`,
    ];
    const found = () =>
      Promise.all([1, 2, 3].map(async (number) => (await ordersOf(`ACC-2${number}`)).length));
    await codeOf(orm({ control: 'P1' }, [...group('NW', 1), ...group('NW', 2)]));
    await codeOf(orm({ control: 'P2' }, group('NW', 3)));
    expect(await found()).toEqual([1, 1, 1]);
    await codeOf(orm({ control: 'P3' }, group('CA', 2)));
    await codeOf(orm({ control: 'P4' }, group('XO', 3)));
    expect(await found()).toEqual([1, 0, 1]);
    await codeOf(orm({ control: 'P5' }, ['ORC|CA|PL-20']));
    expect(await found()).toEqual([0, 0, 0]);
  });

  test('stored by an earlier version is found, and does not date the study', async () => {
    const order = ORDER.map((one) => one.replaceAll('-1', '-7'));
    expect(await codeOf(orm({ control: 'M12' }, order))).toBe('AA');
    await database.query(
      `UPDATE received_orders SET entries = jsonb_build_array(
         entries -> 0 #- '{pregnancy}' || '{"lastMenstrualDate": "20260101"}')
       WHERE placer = 'PL-7'`,
    );
    expect(await ordersOf('ACC-7')).toEqual([
      expect.objectContaining({ indication: 'Größe für das Alter?', lastMenstrualDate: '' }),
    ]);
  });

  test('is stored completely or not at all', async () => {
    const half = [...ORDER.map((one) => one.replaceAll('-1', '-5')), 'ORC|ZZ|PL-6', 'OBR|1'];
    expect(await codeOf(orm({ control: 'M6' }, half))).toBe('AE 103');
    expect(await ordersOf('ACC-5')).toEqual([]);
  });
});

describe('a message that is refused', () => {
  test.each([
    ['of another application', orm({ application: 'X' }), 'AR 103'],
    ['of another type', message(msh({ type: 'SIU^S12' })), 'AR 200'],
    ['without a patient', message(msh({ type: 'ORM^O01' }), ...ORDER), 'AE 100'],
    ['that is no message', 'GET / HTTP/1.1', 'AR 103'],
  ])('%s', async (_what, text, code) => {
    expect(await codeOf(text)).toBe(code);
  });

  test('is audited with its control ID and without its patient', async () => {
    audited.length = 0;
    await codeOf(message(msh({ type: 'ADT^A01', control: 'M<8>' }), pid()));
    expect(audited).toEqual([
      expect.objectContaining({
        action: 'hl7v2.refused',
        actor: 'node:his',
        outcome: 'refused',
        detail: expect.objectContaining({ control: 'M8', type: 'ADT-A01', code: 201 }),
      }),
    ]);
    expect(JSON.stringify(audited)).not.toMatch(/PAT-1|Müller|1990/);
  });

  test('has the error location in ERR-1 for versions before 2.5', async () => {
    const [answer] = await answers(orm({ version: '2.3.1', control: 'M7' }, ['ORC|ZZ|PL-1']));
    expect(answer).toContain('\rERR|ORC^1^1^103&Table value not found&HL70357\r');
  });

  test('because the database is unavailable can be sent again later', async () => {
    const away = { transaction: () => Promise.reject(new Error('away')) };
    expect(await codeOf(orm({ control: 'M10' }), { database: { ...database, ...away } })).toBe(
      'AR 207',
    );
    expect(await codeOf(orm({ control: 'M10' }))).toBe('AA');
  });

  test('is acknowledged in enhanced mode as it requests', async () => {
    const mode = (accept: string, application: string, type: string) =>
      message(msh({ type, control: 'M11', accept, applicationAnswer: application }), pid());
    const codes = async (text: string) =>
      (await answers(text)).map((one) => /\rMSA\|(\w\w)/.exec(one)?.[1]);
    expect(await codes(mode('AL', 'NE', 'ADT^A01'))).toEqual(['CR']);
    expect(await codes(mode('AL', 'AL', 'ADT^A08'))).toEqual(['CA', 'AA']);
    expect(await codes(mode('ER', 'SU', 'ADT^A08'))).toEqual(['AA']);
    expect(await codes(mode('NE', 'NE', 'ADT^A08'))).toEqual([]);
  });
});

describe('a patient update', () => {
  test('corrects existing studies; an older one that arrives late changes nothing', async () => {
    const mine = await received({
      PatientID: 'P8',
      PatientName: 'Typo',
      PatientBirthDate: '19900405',
    });
    const other = await received({
      PatientID: 'P8',
      IssuerOfPatientID: 'ELSEWHERE',
      PatientName: 'Typo',
    });
    const id = 'P8^^^HOSPITAL^MR';
    await codeOf(a08('U1', '20260521120000+0000', { id, name: 'Right^Name', birthDate: '' }));
    await codeOf(
      a08('U2', '20260521110000+0000', { id, name: 'Wrong^Name', birthDate: '19900406' }),
    );
    expect(await mine.nameAndId()).toEqual(['P8', 'Right^Name', '19900406']);
    expect((await mine.row()).received_identity?.PatientName).toBe('Typo');
    expect((await other.row()).identity.PatientName).toBe('Typo');
  });
});

describe('a patient update of another person', () => {
  const birthDate = '19900405';
  const study = { PatientID: 'P9', PatientName: 'Doe^Joan', PatientBirthDate: birthDate };
  const update = (control: string, over: Parameters<typeof pid>[0]) =>
    codeOf(a08(control, '20260521120000+0000', { id: 'P9^^^HOSPITAL^MR', birthDate, ...over }));

  test('with the same ID changes nothing, and the audit records this', async () => {
    const mine = await received(study);
    expect(await update('V1', { name: 'Roe^Jane', birthDate: '19710101' })).toBe('AA');
    expect(await mine.nameAndId()).toEqual(['P9', 'Doe^Joan', birthDate]);
    const { rows } = await database.query(
      'SELECT action, outcome, detail FROM audit WHERE study_id = $1',
      [(await mine.row()).id],
    );
    expect(rows).toEqual([
      { action: 'patient.unlike', outcome: 'refused', detail: { control: 'V1' } },
    ]);
    await update('V2', { name: 'Roe^Joan', birthDate: '19710101' });
    await update('V3', { name: 'Smith^Jane', birthDate: '19710101' });
    expect(await mine.nameAndId()).toEqual(['P9', 'Smith^Jane', '19710101']);
  });
});

describe('documents', () => {
  test('contain the corrected patient, unless they were signed before', async () => {
    const study = await received({ PatientID: 'P7', PatientName: 'Typo' });
    const { id } = await study.row();
    for (const request of ['req_draft', 'req_signed']) {
      await database.query(
        `INSERT INTO requests (id, model, endpoint, version, status, stage, priority, test, files,
           prior_files, metadata, source, cost, deliver_to, created_at)
         VALUES ($1, 'us/echo', 'us/echo/interpret', '1', 'succeeded', '{}', 'normal', false, '[]',
           '[]', '{}', '{"kind":"api"}', '{}', '[]', $2)`,
        [request, NOW],
      );
      await database.query(
        `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
         VALUES ($1, 1, $2, $2, $3)`,
        [id, request, NOW],
      );
    }
    await database.query(
      `INSERT INTO reviews (request_id, state, revision, signed_revision)
       VALUES ('req_signed', 'signed', 1, 1)`,
    );
    await database.query(
      `INSERT INTO review_signatures (request_id, signed_revision, position, at, observer_id, observer,
         organization) VALUES ('req_signed', 1, 1, $1, 'key:1', 'Roe', 'Sonogate')`,
      [new Date(NOW.getTime() - 1000)],
    );
    await codeOf(a08('U3', '20260521120000+0000', { id: 'P7', name: 'Right' }));
    const nameIn = async (request: string) =>
      (await subjectOfRequest(database, request))?.identity?.PatientName;
    expect([await nameIn('req_draft'), await nameIn('req_signed')]).toEqual(['Right', 'Typo']);
  });
});

describe('a merge', () => {
  test('gives existing and later studies the surviving ID, until it is revoked', async () => {
    const before = await received({
      PatientID: 'OLD',
      PatientName: 'Maiden',
      PatientBirthDate: '19900405',
    });
    const merge = a40('G1', '20260521080000+0000', 'NEW^^^HOSPITAL', 'OLD^^^HOSPITAL');
    expect(await codeOf(merge)).toBe('AA');
    expect(await before.nameAndId()).toEqual(['NEW', 'Müller^Änne', '19900405']);
    const after = await received({ PatientID: 'OLD', PatientName: 'Maiden' });
    await applyMerges(database, (await after.row()).id, NOW);
    expect((await after.row()).identity.PatientID).toBe('NEW');
    const [made] = await listMerges(database);
    expect(made).toMatchObject({ sender: 'his', controlId: 'G1', studies: 2 });
    await database.transaction((tx) => separatePatients(tx, made?.id ?? '', NOW));
    expect(await before.nameAndId()).toEqual(['OLD', 'Maiden', '19900405']);
    expect(await listMerges(database)).toEqual([]);
  });

  test.each([
    ['is followed by an earlier one', '20260521100000+0000', '20260521090000+0000'],
    ['arrives before one that follows it', '20260521110000+0000', '20260521120000+0000'],
    ['arrives before one that was made earlier', '20260521120000+0000', '20260521110000+0000'],
  ])('that %s leads to the last patient ID', async (how, at, later) => {
    const [a, b, c] = ['A', 'B', 'C'].map((letter) => `${letter}${how.length}`) as [
      string,
      string,
      string,
    ];
    const study = await received({ PatientID: a });
    const merges = [a40(`H1${how.length}`, at, b, a), a40(`H2${how.length}`, later, c, b)];
    for (const one of how.startsWith('is') ? merges.toReversed() : merges) await codeOf(one);
    const { id, identity } = await study.row();
    expect(identity.PatientID).toBe(c);
    expect(await applyMerges(database, id, NOW)).toBe('none');
  });

  test('is not applied to a new study with another birth date before a person confirms it', async () => {
    await codeOf(a40('G5', '20260521080000+0000', 'NEW5', 'OLD5'));
    const study = await received({ PatientID: 'OLD5', PatientBirthDate: '19710101' });
    const { id } = await study.row();
    expect(await applyMerges(database, id, NOW)).toBe('doubtful');
    expect(await study.nameAndId()).toEqual(['OLD5', '', '19710101']);
    expect(await applyMerges(database, id, NOW, 'surviving-id')).toBe('applied');
    expect(await study.nameAndId()).toEqual(['NEW5', '', '19710101']);
  });

  test('of an ID that was issued again leaves the first patient where she is', async () => {
    const first = await received({ PatientID: 'R1', PatientBirthDate: '19800101' });
    await codeOf(a40('R1', '20260521080000+0000', 'R2', 'R1', '19800101'));
    const second = await received({ PatientID: 'R1', PatientBirthDate: '19900405' });
    const stranger = await received({ PatientID: 'R1', PatientBirthDate: '19710101' });
    await codeOf(a40('R2', '20260521090000+0000', 'R2', 'R1', '19800101'));
    const ids = async () =>
      Promise.all([first, second, stranger].map(async (one) => (await one.nameAndId())[0]));
    expect(await ids()).toEqual(['R2', 'R1', 'R1']);
    await codeOf(a40('R3', '20260521100000+0000', 'R3', 'R1'));
    expect(await ids()).toEqual(['R2', 'R3', 'R1']);
    const listed = (await listMerges(database)).filter(({ controlId }) => /^R/.test(controlId));
    expect(listed.map(({ controlId, studies }) => [controlId, studies]).sort()).toEqual([
      ['R2', 1],
      ['R3', 1],
    ]);
  });

  test('that was revoked and is sent again leaves out a study that a person kept apart', async () => {
    const merge = (control: string, at: string) => codeOf(a40(control, at, 'S2', 'S1', '19800101'));
    await merge('S1', '20260521080000+0000');
    const study = await received({ PatientID: 'S1', PatientBirthDate: '19710101' });
    const { id } = await study.row();
    await applyMerges(database, id, NOW, 'own-id');
    const made = (await listMerges(database)).find(({ controlId }) => controlId === 'S1');
    await database.transaction((tx) => separatePatients(tx, made?.id ?? '', NOW));
    await merge('S2', '20260521090000+0000');
    expect(await study.nameAndId()).toEqual(['S1', '', '19710101']);
    expect(await applyMerges(database, id, NOW)).toBe('doubtful');
  });

  test('between two sends of de-identified copies changes no pseudonym', async () => {
    const study = await received({ PatientID: 'D1' });
    const { rows } = await database.query<{ id: string }>(
      'SELECT id FROM instances WHERE study_id = $1',
      [(await study.row()).id],
    );
    const patients: string[] = [];
    const deliverer = createDeidentifiedDeliverer({
      destinations: [{ name: 'research', deidentification: deidentificationSchema.parse({}) }],
      transports: new Map([['research', { send: async () => [], commits: false }]]),
      database,
      objects: { ...objectsOnDisk(dataDir), locate: async () => 'object.dcm' },
      deidentify: async ({ patient }) => {
        patients.push(patient);
        return { outcome: 'held', reason: 'seen' };
      },
    });
    const delivery = {
      id: 'd1',
      requestId: null,
      kind: 'deidentified',
      destination: 'research',
    } as const;
    const object = rows[0]?.id ?? '';
    const send = () => deliverer.send({ ...delivery, object, attempt: 1 }, SIGNAL);
    await send();
    await codeOf(a40('G6', '20260521080000+0000', 'D2', 'D1'));
    await send();
    expect((await study.row()).identity.PatientID).toBe('D2');
    expect(patients).toEqual([patients[0], patients[0]]);
  });

  test('in a cycle ends with the newest ID, in whatever order the messages arrive', async () => {
    const study = await received({ PatientID: 'C1' });
    await codeOf(a40('G3', '20260521120000+0000', 'C2', 'C1'));
    await codeOf(a40('G2', '20260521110000+0000', 'C1', 'C2'));
    expect((await study.row()).identity.PatientID).toBe('C2');
    await codeOf(a40('G4', '20260521130000+0000', 'C1', 'C2'));
    expect((await study.row()).identity.PatientID).toBe('C1');
  });
});

describe('the listener', () => {
  const listening = async (over: object = {}) => {
    const refused: unknown[] = [];
    const listener = await listenForMessages({
      ...parts(),
      settings: { ...settings, ...over },
      refusals: { refused: (one) => void refused.push(one) },
    });
    return { listener, refused };
  };
  /** Sends bytes. Returns the responses received until the connection ends. */
  const talk = (port: number, ...bytes: Buffer[]) =>
    new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => {
        for (const one of bytes) socket.write(one);
        socket.end();
      });
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(text));
    });

  test('answers every message on a connection, even after a broken frame', async () => {
    const { listener } = await listening();
    const text = await talk(
      listener.port,
      Buffer.from('\x0bMSH|^~\\&|cut'),
      framed(Buffer.from(orm({ control: 'L1' }))),
      framed(Buffer.from(orm({ control: 'L2', application: 'HIS' }))),
    );
    expect(text.match(/MSA\|AA\|L\d/g)).toEqual(['MSA|AA|L1', 'MSA|AA|L2']);
    await listener.close(1);
  });

  test('reads no more of a message than it accepts', async () => {
    const { listener } = await listening({ maxMessageBytes: 4096 });
    const start = Buffer.from(`\x0b${msh({ type: 'ORM^O01', control: 'BIG' })}\r`);
    const endless = Buffer.alloc(64 * 1024 * 1024, 'x');
    expect(await talk(listener.port, start, endless)).toMatch(/^(.*MSA\|AE\|BIG.*)?$/s);
    await listener.close(1);
  });

  test.skipIf(!OPENSSL_INSTALLED)(
    'requires a certificate from its authority over TLS',
    async () => {
      const authority = makeAuthority(dataDir);
      const { certFile, keyFile } = authority.issue('his');
      const [cert, key, ca] = [certFile, keyFile, authority.caFile].map((file) =>
        readFileSync(file),
      );
      const tls = { certFile, keyFile, caFile: authority.caFile };
      const { listener, refused } = await listening({ tls: { ...tls, minVersion: '1.2' } });
      const answerOver = (own: object) =>
        new Promise<string>((resolve) => {
          let text = '';
          const name = { host: '127.0.0.1', servername: 'his.hospital.example' };
          const socket = connectTls({ ...name, port: listener.port, ca, ...own }, () =>
            socket.end(framed(Buffer.from(orm({ control: 'T1' })))),
          );
          socket.on('data', (chunk) => {
            text += chunk;
          });
          socket.on('error', () => {});
          socket.on('close', () => resolve(text));
        });
      expect(await answerOver({ cert, key })).toContain('MSA|AA|T1');
      expect(await answerOver({})).toBe('');
      expect(refused).toHaveLength(1);
      await listener.close(1);
    },
  );

  test('closes connections from unknown addresses, and those that are too many or too slow', async () => {
    const unknown = await listening({
      senders: [{ name: 'his', addresses: ['192.0.2.1'], applications: [] }],
    });
    expect(await talk(unknown.listener.port, framed(Buffer.from(orm())))).toBe('');
    expect(unknown.refused).toEqual([expect.objectContaining({ action: 'hl7v2.sender-refused' })]);
    await unknown.listener.close(1);

    const { listener, refused } = await listening({ maxConnections: 1, messageSeconds: 0.2 });
    const slow = connect(listener.port, '127.0.0.1');
    const ended = new Promise((resolve) => slow.on('close', resolve));
    slow.on('error', () => {});
    await new Promise<void>((resolve) => slow.write('\x0bMSH|', () => resolve()));
    await talk(listener.port, framed(Buffer.from(orm())));
    expect(refused).toEqual([
      expect.objectContaining({ detail: { reason: 'too many connections' } }),
    ]);
    await ended;
    await listener.close(1);
  });
});
