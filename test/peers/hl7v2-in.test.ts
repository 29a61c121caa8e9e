import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { correctionNotes } from '../../src/core/patients/corrections.ts';
import { findStudy } from '../../src/core/studies/study-store.ts';
import { subjectOfStudy } from '../../src/core/studies/subject.ts';
import { listenForMessages, type MllpListener } from '../../src/doors/hl7v2/receive/listener.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { sendBuffer } from '../dimse/send.ts';
import { openSite, type Site } from '../dimse/site.ts';
import { msh, ORDER, pid } from '../src/doors/hl7v2/receive/messages.ts';
import { BRIEF_JVM } from './jvm.ts';

/** HAPI for HL7 version 2, which needs JDK 17; `.ci/run` shows how to install it. */
const JARS = fileURLToPath(new URL('../../.ci/hapi-hl7v2', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./hapi-hl7v2/Sender.java', import.meta.url));
const INSTALLED = existsSync(JARS) && spawnSync('javac', ['-version']).status === 0;

const STUDY = '1.2.840.55.1';

describe.skipIf(!INSTALLED)(
  'a hospital that sends with HAPI, the HL7 version 2 library for Java',
  () => {
    let site: Site;
    let listener: MllpListener;
    let sender: ChildProcess;
    let answers: AsyncIterator<string>;

    beforeAll(async () => {
      site = await openSite({
        completion: { signal: 'association-release', quietSeconds: 60, afterReleaseSeconds: 5 },
        rules: [{ name: 'obstetric', run: { endpoint: 'us/obstetric/interpret' } }],
        hl7v2: {
          host: '127.0.0.1',
          port: 0,
          senders: [{ name: 'his', addresses: ['127.0.0.1'], applications: ['HIS'] }],
          assigningAuthority: 'HOSPITAL',
        },
      });
      const { database, config } = site;
      if (!config.hl7v2) throw new Error('the site has no listener');
      listener = await listenForMessages({
        settings: config.hl7v2,
        database,
        writeAudit: async () => {},
        refusals: { refused() {} },
        logger: silentLogger,
        now: () => new Date(),
      });
      const options = [...BRIEF_JVM, '-cp', `${JARS}/*`, PROGRAM, String(listener.port)];
      sender = spawn('java', options, { stdio: ['pipe', 'pipe', 'ignore'] });
      if (!sender.stdout) throw new Error('the sender has no output');
      answers = createInterface({ input: sender.stdout })[Symbol.asyncIterator]();
    });
    afterAll(async () => {
      sender?.kill('SIGKILL');
      await listener?.close(1);
      await site?.close();
    });

    const send = async (...segments: string[]) => {
      sender.stdin?.write(`${segments.join('~~')}\n`);
      return (await answers.next()).value?.trim();
    };
    const rowOf = async () => {
      const row = await findStudy(site.database, STUDY);
      if (!row) throw new Error('the study has no row');
      return row;
    };
    const subject = async () => {
      const { id, revision } = await rowOf();
      return subjectOfStudy(site.database, { requestId: 'req_1', study: id, revision });
    };

    test('gives a study its order, then corrects and merges its patient', async () => {
      expect(await send(msh({ type: 'ORM^O01', control: 'H1' }), pid(), ...ORDER)).toBe('AA H1');
      await sendBuffer(
        site.node,
        dicomFile({
          sopInstanceUid: `${STUDY}.1.1`,
          studyInstanceUid: STUDY,
          studyDate: '20260521',
          accessionNumber: 'ACC-1',
          patientId: 'PAT-1',
          birthDate: '19900405',
          sex: 'F',
        }),
      );
      site.pass(6);
      await expect.poll(() => site.submitted.length, { timeout: 60_000 }).toBe(1);
      expect(site.submitted[0]?.input.options).toEqual({ dating: { ga_days: 140, basis: 'lmp' } });
      expect(await subject()).toMatchObject({ indication: 'Größe für das Alter?' });

      const at = '20260522080000+0000';
      const corrected = pid({ name: 'Schmidt^Änne', birthDate: '19900406' });
      const a08 = msh({ type: 'ADT^A08', control: 'H2', at });
      expect(await send(a08, `EVN||${at}`, corrected)).toBe('AA H2');
      expect((await subject())?.identity).toMatchObject({
        PatientID: 'PAT-1',
        PatientName: 'Schmidt^Änne',
        PatientBirthDate: '19900406',
      });

      const a40 = msh({ type: 'ADT^A40^ADT_A39', control: 'H3', at });
      const survivor = pid({
        id: 'PAT-2^^^HOSPITAL^MR',
        name: 'Schmidt^Änne',
        birthDate: '19900406',
      });
      expect(await send(a40, `EVN||${at}`, survivor, 'MRG|PAT-1^^^HOSPITAL^MR')).toBe('AA H3');
      expect((await rowOf()).identity.PatientID).toBe('PAT-2');
      expect((await subject())?.identity?.PatientID).toBe('PAT-2');
      const notes = await correctionNotes(site.database, (await rowOf()).id);
      expect(notes.map(({ sender: by, controlId, changed }) => [by, controlId, changed])).toEqual([
        ['his', 'H2', 'name, birth date, sex'],
        ['his', 'H3', 'patient ID, name, birth date, sex'],
      ]);
    });

    test('reads why a message is refused', async () => {
      expect(await send(msh({ type: 'ADT^A01', control: 'H4' }), pid())).toBe('AR H4 201');
      const elsewhere = 'MRG|PAT-1^^^ELSEWHERE^MR';
      const a40 = msh({ type: 'ADT^A40^ADT_A39', control: 'H5' });
      expect(await send(a40, 'EVN||20260522', pid(), elsewhere)).toBe('AE H5 204');
    });
  },
);
