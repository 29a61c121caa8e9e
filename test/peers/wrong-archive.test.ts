import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Archive } from '../../dimse/archive/archive.ts';
import { checkMove } from '../../dimse/archive/check-archive.ts';
import { dimseArchive } from '../../dimse/archive/open-archives.ts';
import { findRetrieval, requestRetrieval } from '../../dimse/archive/retrievals.ts';
import type { StorageService } from '../../dimse/network/service-ports.ts';
import { findStudy } from '../../src/core/studies/study-store.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { dicomFile, type SmallObject } from '../dimse/dicom-file.ts';
import { sendBuffer } from '../dimse/send.ts';
import { openSite, type Site } from '../dimse/site.ts';
import { freePort } from './free-port.ts';
import { PYNETDICOM_INSTALLED, type PynetdicomPeer, startPynetdicom } from './pynetdicom.ts';

const STUDY = '1.2.840.66.1';
const EARLIER = '1.2.840.66.2';

let peer: PynetdicomPeer;
let site: Site;
let archive: Archive;
let impatient: Archive;
let patient = 0;

describe.skipIf(!PYNETDICOM_INSTALLED)('an archive that', () => {
  beforeAll(async () => {
    const port = await freePort();
    peer = await startPynetdicom('archive');
    await peer.ask({ action: 'listen', port, title: 'WRONG' });
    const settings = { host: '127.0.0.1', port, aeTitle: 'WRONG', timeoutSeconds: 30 };
    const waiting = (timeoutSeconds: number) =>
      dimseArchive(
        {
          name: 'wrong',
          node: { ...settings, timeoutSeconds, callingAeTitle: 'SONOGATE' },
          retrieve: 'c-get',
          moveTo: 'SONOGATE',
        },
        silentLogger,
      );
    archive = waiting(30);
    impatient = waiting(2);
    site = await openSite({
      completion: { signal: 'association-release', quietSeconds: 60, afterReleaseSeconds: 5 },
      archives: [{ type: 'dicom', name: 'wrong', ...settings }],
      rules: [
        {
          name: 'priors',
          run: { endpoint: 'us/obstetric/interpret' },
          priors: { from: ['wrong'], objects: 'all', waitSeconds: 60 },
        },
      ],
    });
  });
  afterAll(async () => {
    // The peer is stopped first; otherwise closing the site would wait for a query that the peer is
    // still processing.
    await peer?.stop();
    await site?.close();
  });
  beforeEach(async () => {
    patient += 1;
    await hold([object(1), object(2), object(3)]);
    await tell({});
  });

  const object = (number: number, over: Partial<SmallObject> = {}) =>
    dicomFile({
      sopInstanceUid: `${STUDY}.${patient}.${number}`,
      studyInstanceUid: `${STUDY}.${patient}`,
      studyDate: '20260521',
      patientId: `P${patient}`,
      birthDate: '19900405',
      sex: 'F',
      ...over,
    });
  const hold = (files: readonly Buffer[]) =>
    peer.ask({ action: 'hold', files: files.map((file) => file.toString('hex')) });
  const tell = (told: Record<string, unknown>, say: Record<string, string> = {}) =>
    peer.ask({ action: 'tell', told, say });
  const asked = () => peer.ask<{ asked: string[]; canceled: boolean }>({ action: 'asked' });
  const taken: string[] = [];
  let onTaken = () => {};
  const into: StorageService = {
    open: async ({ sopInstanceUid }) => ({
      write: async () => {},
      commit: async () => {
        taken.push(sopInstanceUid);
        onTaken();
      },
      discard: async () => {},
    }),
    ended: async () => {},
  };
  const retrieve = async (signal?: AbortSignal) => {
    const studyInstanceUid = `${STUDY}.${patient}`;
    const objects = await archive.objects(studyInstanceUid);
    const wanted = { studyInstanceUid, objects, whole: true, source: 'wrong', into };
    return archive.retrieve(wanted, { signal });
  };
  const find = (limit = 10, from = archive) => from.studies({ patientId: 'P' }, { limit });

  describe('is queried and', () => {
    test.each([
      ['A700', 'peer_out_of_resources'],
      ['A900', 'archive_refused_query'],
      ['C001', 'archive_refused_query'],
    ])('answers %sH: the error states the status and its comment', async (status, code) => {
      await tell({ findStatus: Number.parseInt(status, 16), comment: 'index rebuilding' });
      await expect(find()).rejects.toMatchObject({
        code,
        detail: expect.stringContaining('index rebuilding'),
      });
    });

    test('does not respond within its time limit: it counts as unreachable', async () => {
      await tell({ delay: 3 });
      await expect(find(10, impatient)).rejects.toMatchObject({ code: 'peer_unreachable' });
    });

    test('never stops: we send C-CANCEL at the limit', async () => {
      await tell({ endless: true });
      expect(await find(5)).toHaveLength(5);
      expect(await asked()).toMatchObject({ canceled: true });
    });

    test('never stops and ignores C-CANCEL: the association is ended, and the matches are kept', async () => {
      await tell({ endless: true, deaf: true });
      expect(await find(5, impatient)).toHaveLength(5);
    }, 15_000);
  });

  describe('is asked for objects and', () => {
    test('provides all of them', async () => {
      expect(await retrieve()).toMatchObject({ completed: 3, failed: 0 });
    });

    test('does not know our AE title as a move destination: the error states what to enter there', async () => {
      const { port, host } = site.config.archives[0] as { port: number; host: string };
      const node = { host, port, aeTitle: 'WRONG', callingAeTitle: 'SONOGATE', timeoutSeconds: 3 };
      const moving = dimseArchive(
        { name: 'wrong', node, retrieve: 'c-move', moveTo: 'NOBODY' },
        silentLogger,
      );
      const studyInstanceUid = `${STUDY}.${patient}`;
      const wanted = { studyInstanceUid, objects: [], whole: true, source: 'wrong', into };
      await expect(moving.retrieve(wanted)).rejects.toMatchObject({
        code: 'move_destination_unknown',
      });
      expect(await checkMove(node, 'NOBODY')).toBe(
        'does not know "NOBODY" as a C-MOVE destination',
      );
    });

    test('is canceled by us: it receives C-CANCEL and stops', async () => {
      await tell({ delay: 1 });
      const stop = new AbortController();
      onTaken = () => stop.abort();
      await expect(retrieve(stop.signal)).rejects.toThrow('canceled');
      expect(await asked()).toMatchObject({ canceled: true });
    });

    test('aborts midway: what arrived is kept, the rest is missing for now', async () => {
      await tell({ aborts: true });
      await expect(retrieve()).rejects.toMatchObject({ code: 'peer_unreachable' });
    });

    test('provides fewer than it listed but reports success: it is not believed', async () => {
      await tell({ gives: 2 });
      const wanted = {
        archive: 'wrong',
        studyInstanceUid: `${STUDY}.${patient}`,
        purpose: 'study',
      } as const;
      const id = await requestRetrieval(site.database, wanted, new Date());
      await expect.poll(async () => (await findRetrieval(site.database, id))?.state).toBe('failed');
      expect(await findRetrieval(site.database, id)).toMatchObject({
        wanted: 3,
        here: 2,
        detail: 'wrong gave 2 of 3 objects',
      });
    });
  });

  describe('has earlier examinations and', () => {
    const submitted = async () => {
      const study = `${STUDY}.${patient}`;
      await sendBuffer(site.node, object(1));
      site.pass(6);
      const requests = () =>
        site.submitted.filter(({ studyInstanceUid }) => studyInstanceUid === study);
      return { requests, row: () => findStudy(site.database, study) };
    };
    const earlier = (over: Partial<SmallObject> = {}) =>
      object(7, {
        studyInstanceUid: `${EARLIER}.${patient}`,
        sopInstanceUid: `${EARLIER}.${patient}.1`,
        studyDate: '20260301',
        ...over,
      });

    test('lists them under the patient, but their objects belong to another: they are not used', async () => {
      await hold([earlier({ birthDate: '19851212' })]);
      await tell({}, { PatientBirthDate: '19900405' });
      const { requests } = await submitted();
      await expect.poll(() => requests().length).toBe(1);
      expect(requests()[0]?.priorFiles).toEqual([]);
      expect(requests()[0]?.metadata).toHaveProperty(
        'priors',
        'No earlier examination in wrong; 1 not used: another birth date.',
      );
    });

    test('is slow: the study waits as long as configured, then continues without them and states this', async () => {
      await hold([earlier()]);
      await tell({ delay: 20 });
      const { requests, row } = await submitted();
      await expect
        .poll(async () => (await row())?.reason)
        .toBe('Searching for earlier examinations of the patient.');
      // The clock of the site also runs by itself, so neither step comes close to the minute.
      site.pass(45);
      expect(requests()).toEqual([]);
      site.pass(20);
      await expect.poll(() => requests().length).toBe(1);
      expect(requests()[0]?.metadata).toHaveProperty(
        'priors',
        'Not available: no response in time.',
      );
    });
  });
});
