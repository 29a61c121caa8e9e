import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { modalityWorklist } from '../../dimse/worklist/modality-worklist.ts';
import { foundOrder, orderSearch } from '../../src/core/studies/order.ts';
import { findStudy } from '../../src/core/studies/study-store.ts';
import { subjectOfStudy } from '../../src/core/studies/subject.ts';
import { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { dicomFile, type SmallObject } from '../dimse/dicom-file.ts';
import { sendBuffer } from '../dimse/send.ts';
import { openSite, type Site } from '../dimse/site.ts';
import { DCMTK_INSTALLED, dcmtk, type Program, startWlmscpfs } from './dcmtk.ts';
import { freePort } from './free-port.ts';
import { PYNETDICOM_INSTALLED, type PynetdicomPeer, startPynetdicom } from './pynetdicom.ts';

const AE_TITLE = 'RIS';
const COMPLETION = {
  signal: 'association-release',
  quietSeconds: 60,
  afterReleaseSeconds: 5,
} as const;
const RULES = [{ name: 'obstetric', run: { endpoint: 'us/obstetric/interpret' } }];

interface Entry {
  accession: string;
  patientId: string;
  birthDate?: string;
  studyUid?: string;
  reason?: string;
  lastMenstrualDate?: string;
  pregnancyStatus?: number;
}

const entryDump = (entry: Entry) =>
  [
    '(0008,0005) CS [ISO_IR 192]',
    `(0008,0050) SH [${entry.accession}]`,
    '(0008,0090) PN [Überweiser^Zoë]',
    '(0010,0010) PN [Test^Order]',
    `(0010,0020) LO [${entry.patientId}]`,
    `(0010,0030) DA [${entry.birthDate ?? '19900405'}]`,
    '(0010,0040) CS [F]',
    '(0010,1020) DS [1.68]',
    '(0010,1030) DS [71]',
    `(0010,21c0) US ${entry.pregnancyStatus ?? 3}`,
    `(0010,21d0) DA [${entry.lastMenstrualDate ?? '20260101'}]`,
    `(0020,000d) UI [${entry.studyUid ?? '1.2.840.99.9'}]`,
    '(0032,1060) LO [Growth scan]',
    '(0040,0100) SQ',
    '(fffe,e000) -',
    '(0008,0060) CS [US]',
    '(0040,0001) AE [CART]',
    '(0040,0002) DA [20260521]',
    '(0040,0003) TM [090000]',
    '(0040,0009) SH [STEP1]',
    '(fffe,e00d) -',
    '(fffe,e0dd) -',
    '(0040,1001) SH [RP1]',
    `(0040,1002) LO [${entry.reason ?? 'Größe für das Alter?'}]`,
  ].join('\n');

describe.skipIf(!DCMTK_INSTALLED)("a study's order, from DCMTK's worklist provider", () => {
  let folder: string;
  let provider: Program;
  let silent: Server;
  let site: Site;
  let count = 0;

  const worklist = (name: string, port: number, timeoutSeconds = 20) => ({
    type: 'dicom',
    name,
    host: '127.0.0.1',
    port,
    aeTitle: AE_TITLE,
    timeoutSeconds,
  });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-worklist-'));
    await mkdir(join(folder, AE_TITLE));
    await writeFile(join(folder, AE_TITLE, 'lockfile'), '');
    provider = await startWlmscpfs(folder);
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    site = await openSite({
      completion: COMPLETION,
      worklists: [worklist('ris', provider.port)],
      rules: RULES,
    });
  });
  afterAll(async () => {
    await site?.close();
    await provider?.stop();
    silent?.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    count += 1;
  });

  const studyUid = () => `1.2.840.99.${count}`;
  const accession = () => `ACC${count}`;
  const ordered = async (over: Partial<Entry> = {}) => {
    const name = join(folder, AE_TITLE, `entry-${count}-${Object.keys(over).length}`);
    const entry = { accession: accession(), patientId: `PAT-${count}`, ...over };
    await writeFile(`${name}.dump`, entryDump(entry));
    expect(await dcmtk('dump2dcm', [`${name}.dump`, `${name}.wl`])).toMatchObject({
      exitCode: 0,
    });
  };
  const object = (over: Partial<SmallObject>) =>
    dicomFile({
      sopInstanceUid: `${studyUid()}.1.1`,
      studyInstanceUid: studyUid(),
      studyDate: '20260521',
      accessionNumber: accession(),
      patientId: `PAT-${count}`,
      birthDate: '19900405',
      sex: 'F',
      ...over,
    });
  const requestOf = (at: Site) =>
    at.submitted.find(({ studyInstanceUid }) => studyInstanceUid === studyUid());
  /** Lets the study arrive and complete, and returns the request made for it. */
  const submitted = async (over: Partial<SmallObject> = {}, at = site) => {
    await sendBuffer(at.node, object(over));
    at.pass(6);
    await expect.poll(() => requestOf(at)).toBeDefined();
    return requestOf(at);
  };
  const rowOf = async (at = site) => {
    const row = await findStudy(at.database, studyUid());
    if (!row) throw new Error('the study has no row');
    return row;
  };
  const subjectOf = async (at = site) => {
    const { id, revision } = await rowOf(at);
    return subjectOfStudy(at.database, { requestId: 'req_1', study: id, revision });
  };

  test('dates a pregnancy and supplies an indication and referrer that the images lack', async () => {
    await ordered();
    const command = await submitted();
    expect(command?.input.options).toEqual({ dating: { ga_days: 140, basis: 'lmp' } });
    expect(command?.metadata).toEqual({
      order:
        'Order found in ris. From the order: referring physician, requested procedure, indication, last menstrual date, height, weight.',
    });
    expect(await subjectOf()).toMatchObject({
      identity: { ReferringPhysicianName: '', AccessionNumber: accession() },
      indication: 'Größe für das Alter?',
      dating: { gaDays: 140, basis: 'lmp' },
      order: {
        referringPhysicianName: 'Überweiser^Zoë',
        requestedProcedure: 'Growth scan',
        requestedProcedureId: 'RP1',
        joined: expect.arrayContaining(['dating', 'indication', 'referringPhysicianName']),
      },
    });
  });

  test('is found by patient and study if the images have no accession number', async () => {
    await ordered({ studyUid: studyUid() });
    await ordered({ studyUid: '1.2.840.99.8', accession: 'OTHER', reason: 'another visit' });
    await submitted({ accessionNumber: '' });
    expect(await subjectOf()).toMatchObject({
      indication: 'Größe für das Alter?',
      order: {
        accessionNumber: accession(),
        joined: expect.arrayContaining(['accessionNumber']),
      },
    });
  });

  test('for another patient is not used, and the request states this', async () => {
    await ordered({ birthDate: '19910405' });
    const command = await submitted();
    expect(command?.input.options).toEqual({});
    expect(command?.metadata).toEqual({
      order:
        'Not used: the order in ris is for another patient, or has no patient to compare (another birth date).',
    });
    expect(await subjectOf()).toMatchObject({ indication: null, order: null });
  });

  test('does not replace what the images state', async () => {
    await ordered();
    await submitted({ lastMenstrualDate: '20260108', reason: 'bleeding' });
    expect(await subjectOf()).toMatchObject({ indication: 'bleeding', dating: { gaDays: 133 } });
  });

  test('is not queried if nothing is missing', async () => {
    await ordered();
    const command = await submitted({
      lastMenstrualDate: '20260108',
      reason: 'bleeding',
      referringPhysician: 'Roe^Jane',
    });
    expect(command?.metadata).toEqual({});
    expect(await orderSearch(site.database, await rowOf())).toBeNull();
  });

  test('that is on no worklist is reported as missing', async () => {
    expect((await submitted())?.metadata).toEqual({ order: 'No order in ris.' });
  });

  test('whose number contains a wildcard is not queried', async () => {
    await ordered();
    const command = await submitted({ accessionNumber: 'ACC*' });
    expect(command?.metadata).toEqual({
      order: 'Not searched for: its accession number or patient ID contains a wildcard.',
    });
  });

  test("does not delay a study if nothing listens at the worklist's address", async () => {
    const port = await freePort();
    const at = await openSite({
      completion: COMPLETION,
      worklists: [worklist('gone', port), worklist('ris', provider.port)],
      rules: RULES,
    });
    try {
      expect((await submitted({}, at))?.metadata).toEqual({
        order: 'Not available: gone could not be queried (The peer cannot be reached).',
      });
    } finally {
      await at.close();
    }
  });

  test('does not delay a study if the worklist never responds', async () => {
    const { port } = silent.address() as { port: number };
    const at = await openSite({
      completion: COMPLETION,
      worklists: [worklist('silent', port, 300)],
      orderSeconds: 300,
      rules: RULES,
    });
    try {
      await sendBuffer(at.node, object({}));
      at.pass(6);
      await expect.poll(async () => (await rowOf(at)).reason).toMatch('Searching for the order');
      expect(requestOf(at)).toBeUndefined();
      at.pass(300);
      await expect
        .poll(() => requestOf(at)?.metadata)
        .toEqual({
          order: 'Not available: no response in time.',
        });
      expect(await foundOrder(at.database, await rowOf(at))).toBeNull();
    } finally {
      await at.close();
    }
  });
});

describe.skipIf(!PYNETDICOM_INSTALLED)('a worklist provider on pynetdicom that', () => {
  let peer: PynetdicomPeer;
  let port = 0;
  beforeAll(async () => {
    port = await freePort();
    peer = await startPynetdicom('archive');
    await peer.ask({ action: 'listen', port, title: AE_TITLE });
  });
  afterAll(() => peer?.stop());

  const asked = async (told: Record<string, unknown>, signal = AbortSignal.timeout(60_000)) => {
    await peer.ask({ action: 'tell', told });
    const settings = { host: '127.0.0.1', port, aeTitle: AE_TITLE, timeoutSeconds: 60 };
    const worklist = modalityWorklist(
      { type: 'dicom', name: 'ris', ...settings },
      { aeTitle: 'SONOGATE' },
      new ClientCertificates(),
    );
    return worklist.orders({ accessionNumber: 'A1' }, signal);
  };
  const meaning = (text: string) => ({
    vr: 'SQ',
    Value: [{ '00080104': { vr: 'LO', Value: [text] } }],
  });

  test('codes procedure and reason gives their meanings', async () => {
    const entry = {
      '00080050': { vr: 'SH', Value: ['A1'] },
      '00321064': meaning('Growth scan'),
      '0040100A': meaning('Reduced fetal movements'),
      '00100030': { vr: 'DA', Value: ['1990.04.05'] },
      '001021D0': { vr: 'DA', Value: [] },
    };
    expect(await asked({ entries: [entry] })).toMatchObject([
      {
        accessionNumber: 'A1',
        requestedProcedure: 'Growth scan',
        indication: 'Reduced fetal movements',
        lastMenstrualDate: '',
        patient: { birthDate: '19900405' },
      },
    ]);
    expect(await peer.ask({ action: 'asked' })).toMatchObject({ asked: ['A1'] });
  });

  test('responds endlessly is canceled after 200 entries', async () => {
    const entry = { '00080050': { vr: 'SH', Value: ['A1'] } };
    expect(await asked({ entries: [entry], endless: true })).toHaveLength(200);
    await expect
      .poll(() => peer.ask({ action: 'asked' }), { timeout: 10_000 })
      .toMatchObject({ canceled: true });
  });

  test('refuses the query is reported with its status', async () => {
    await expect(asked({ findStatus: 0xa700 })).rejects.toMatchObject({
      code: 'peer_out_of_resources',
    });
  });

  test('takes too long is abandoned at the deadline', async () => {
    const late = asked({ entries: [], delay: 30 }, AbortSignal.timeout(200));
    await expect(late).rejects.toMatchObject({ name: 'SonogateError' });
  });
});
