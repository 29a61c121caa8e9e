import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeAbort, encodeReleaseRequest } from '../../../../dimse/network/pdu.ts';
import { decodeFileMeta } from '../../../../pipelines/dicom/part10.ts';
import { objectsOnDisk } from '../../../../src/core/files/received-objects.ts';
import { explainStudy } from '../../../../src/core/studies/explain.ts';
import { findStudy, instancesOf } from '../../../../src/core/studies/study-store.ts';
import { subjectOfRequest } from '../../../../src/core/studies/subject.ts';
import { SonogateError } from '../../../../src/platform/errors/catalogue.ts';
import { dicomFile, type SmallObject } from '../../../dimse/dicom-file.ts';
import {
  associateRequest,
  dataPdu,
  RawPeer,
  statusOf,
  storeCommand,
} from '../../../dimse/network/raw-peer.ts';
import { sendBuffer } from '../../../dimse/send.ts';
import { openSite, type Site } from '../../../dimse/site.ts';

let site: Site;
let study = '';
let count = 0;

beforeAll(async () => {
  site = await openSite({
    completion: { signal: 'association-release', quietSeconds: 60, afterReleaseSeconds: 5 },
    rules: [
      {
        name: 'obstetric',
        when: { modality: 'US', studyDescription: { matches: '^OB' } },
        run: { endpoint: 'us/obstetric/interpret', options: { previews: true } },
      },
    ],
  });
});
afterAll(() => site.close());
beforeEach(() => {
  count += 1;
  study = `1.2.840.99.${count}`;
  site.onSubmit = () => {};
});

const object = (number: number, over: Partial<SmallObject> = {}): Buffer =>
  dicomFile({
    sopInstanceUid: `${study}.1.${number}`,
    studyInstanceUid: study,
    studyDescription: 'OB growth',
    studyDate: '20260521',
    lastMenstrualDate: '20260101',
    patientName: Buffer.from('DOE^JANE'),
    ...over,
  });
const send = (file: Buffer) => sendBuffer(site.node, file);
const requests = () => site.submitted.filter(({ studyInstanceUid }) => studyInstanceUid === study);
const row = async () => findStudy(site.database, study);
const stateReached = (state: string) => expect.poll(async () => (await row())?.state).toBe(state);

describe('a study', () => {
  test('becomes one request after the association is released', async () => {
    expect(await send(object(1))).toMatchObject({ outcome: 'stored' });
    expect((await row())?.state).toBe('receiving');
    site.pass(6);
    await stateReached('submitted');
    expect(requests()).toHaveLength(1);
    expect(requests()[0]).toMatchObject({
      endpoint: 'us/obstetric/interpret',
      uniqueKey: `dicom:${(await row())?.id}:1`,
      input: { options: { previews: true, dating: { ga_days: 140, basis: 'lmp' } } },
      source: { kind: 'dicom', revision: 1, rule: 'obstetric' },
    });
  });

  test('passes its files to the request, but no name, identifier or date', async () => {
    const sent = object(1);
    await send(sent);
    site.pass(6);
    await stateReached('submitted');
    const command = requests()[0];
    const file = command?.files[0];
    expect(command?.input.files).toEqual([file?.name]);
    const stored = await readFile(file && 'path' in file ? file.path : '');
    expect(stored.subarray(-300).equals(sent.subarray(-300))).toBe(true);
    const told = JSON.stringify({ ...command?.input, metadata: command?.metadata });
    expect(told).not.toMatch(/DOE|2026/);
  });

  test('gets its identity back under the file names of the request', async () => {
    await send(object(1));
    await send(object(2));
    site.pass(6);
    await stateReached('submitted');
    const subject = await subjectOfRequest(site.database, `req_dicom:${(await row())?.id}:1`);
    expect(subject?.identity?.PatientName).toBe('DOE^JANE');
    expect(subject?.instances.map(({ file }) => file)).toEqual(requests()[0]?.input.files);
  });

  test('has one row even if eight associations send its first objects simultaneously', async () => {
    const numbers = Array.from({ length: 8 }, (_, index) => index + 1);
    const results = await Promise.all(numbers.map((number) => send(object(number))));
    expect(results.map(({ outcome }) => outcome)).toEqual(numbers.map(() => 'stored'));
    expect(await row()).toMatchObject({ revision: 1, instance_count: 8 });
    site.pass(6);
    await stateReached('submitted');
    expect(requests().map(({ files }) => files.length)).toEqual([8]);
  });

  test('keeps one copy of an object that arrives twice', async () => {
    await send(object(1));
    expect(await send(object(1))).toMatchObject({ outcome: 'stored' });
    expect(await row()).toMatchObject({ instance_count: 1 });
  });

  test('keeps both objects if the same UID arrives with different content; the request uses the newer', async () => {
    await send(object(1));
    await send(object(1, { pixels: Buffer.from('other pixels....') }));
    const found = await row();
    expect(found?.instance_count).toBe(2);
    const instances = found ? await instancesOf(site.database, found) : [];
    expect(instances).toMatchObject([{ ordinal: 2, conflict: true }]);
  });

  test('is submitted again, as a whole, when an object arrives late', async () => {
    await send(object(1));
    site.pass(6);
    await stateReached('submitted');
    await send(object(2));
    expect(await row()).toMatchObject({ state: 'receiving', revision: 2 });
    site.pass(6);
    await stateReached('submitted');
    const id = (await row())?.id;
    expect(requests().map(({ uniqueKey, files }) => [uniqueKey, files.length])).toEqual([
      [`dicom:${id}:1`, 1],
      [`dicom:${id}:2`, 2],
    ]);
    const first = await subjectOfRequest(site.database, `req_dicom:${id}:1`);
    expect(first?.instances).toHaveLength(1);
  });

  test('is not reopened by a late copy of an object that it has', async () => {
    await send(object(1));
    site.pass(6);
    await stateReached('submitted');
    await send(object(1));
    expect(await row()).toMatchObject({ state: 'submitted', revision: 1 });
  });

  test('that no rule matches is kept, with the reason', async () => {
    await send(object(1, { studyDescription: 'Thyroid' }));
    site.pass(6);
    await stateReached('unrouted');
    const explained = await explainStudy(site.database, study, {
      routing: site.config.routing,
      objects: objectsOnDisk(site.config.dataDir),
      at: new Date(),
    });
    expect(explained?.reason).toContain(
      'Study description is "Thyroid", expected text that matches /^OB/i',
    );
    expect(explained?.rules[0]).toMatchObject({ rule: 'obstetric', matches: false });
    expect(requests()).toEqual([]);
  });

  test('that the core refuses for good states this and is not retried', async () => {
    site.onSubmit = () => {
      throw new SonogateError('unknown_endpoint');
    };
    await send(object(1));
    site.pass(6);
    await stateReached('refused');
    expect((await row())?.reason).toContain('unknown_endpoint');
  });

  test('waits while the core cannot accept it, and continues then', async () => {
    site.onSubmit = () => {
      throw new SonogateError('overloaded');
    };
    await send(object(1));
    site.pass(6);
    await expect.poll(async () => (await row())?.reason).toContain('overloaded');
    expect((await row())?.state).toBe('complete');
    site.onSubmit = () => {};
    site.pass(11);
    await stateReached('submitted');
  });

  test('does not wait longer if the clock is set back by an hour', async () => {
    await send(object(1));
    const deadline = async () => (await row())?.complete_after.getTime() ?? 0;
    const before = await deadline();
    site.pass(-3600);
    await expect.poll(deadline).toBeLessThan(before - 3_500_000);
    site.pass(61);
    await stateReached('submitted');
    site.pass(3600);
  });

  test('completes after a restart that fell into its quiet time', async () => {
    await send(object(1));
    await site.restart();
    site.pass(61);
    await stateReached('submitted');
    expect(requests()).toHaveLength(1);
  });
});

test('a study is not complete while its own association sends a long cine', async () => {
  const peer = new RawPeer(site.gateway.port);
  await peer.associate(associateRequest({ callingAeTitle: 'CART3' }));
  const dataSetOf = (number: number) => {
    const file = object(number);
    return file.subarray(decodeFileMeta(file).dataSetOffset);
  };
  peer.send(storeCommand(`${study}.1.1`), dataPdu([dataSetOf(1)], true));
  expect(statusOf(await peer.next())).toBe(0);
  const cine = dataSetOf(2);
  peer.send(storeCommand(`${study}.1.2`), dataPdu([cine.subarray(0, 100)], false));
  const noted = async () => {
    const { rows } = await site.database.query('SELECT 1 FROM receptions_under_way');
    return rows.length;
  };
  await new Promise((resolve) => setTimeout(resolve, 200));
  site.pass(2);
  peer.send(dataPdu([cine.subarray(100, 102)], false));
  await expect.poll(noted).toBe(1);
  site.pass(61);
  const other = `${study}.7`;
  await send(dicomFile({ sopInstanceUid: `${other}.1`, studyInstanceUid: other }));
  site.pass(6);
  const states = async () => (await findStudy(site.database, other))?.state;
  await expect.poll(states).toBe('unrouted');
  expect((await row())?.state).toBe('receiving');
  peer.send(dataPdu([cine.subarray(102)], true));
  expect(statusOf(await peer.next())).toBe(0);
  peer.send(encodeReleaseRequest());
  site.pass(70);
  await stateReached('submitted');
  expect(requests().map(({ files }) => files.length)).toEqual([2]);
  expect(await noted()).toBe(0);
});

describe('the end of an association', () => {
  const secondsToCompletion = async () => {
    const found = await row();
    if (!found) return null;
    // The release may come up to a second after the object on a busy machine.
    return Math.floor((found.complete_after.getTime() - found.last_received_at.getTime()) / 1000);
  };

  /** Opens an association, sends one object over it, and leaves it open. */
  async function openAssociation(number: number): Promise<RawPeer> {
    const peer = new RawPeer(site.gateway.port);
    await peer.associate(associateRequest({ callingAeTitle: 'CART2' }));
    const sopInstanceUid = `${study}.1.${number}`;
    const file = object(number);
    const { dataSetOffset } = decodeFileMeta(file);
    peer.send(storeCommand(sopInstanceUid), dataPdu([file.subarray(dataSetOffset)], true));
    expect(statusOf(await peer.next())).toBe(0);
    return peer;
  }

  test('hastens completion if it is a release', async () => {
    const peer = await openAssociation(1);
    await expect.poll(secondsToCompletion).toBe(60);
    peer.send(encodeReleaseRequest());
    await expect.poll(secondsToCompletion).toBe(5);
  });

  test('keeps the quiet time if it is an abort', async () => {
    const peer = await openAssociation(1);
    peer.send(encodeAbort({ source: 0, reason: 0 }));
    expect(await peer.next()).toBeNull();
    await expect.poll(secondsToCompletion).toBe(60);
  });

  test('does not hasten completion while another association sends objects of the study', async () => {
    const peer = await openAssociation(1);
    await send(object(2));
    await expect.poll(secondsToCompletion).toBe(60);
    peer.send(encodeReleaseRequest());
    await expect.poll(secondsToCompletion).toBe(5);
  });
});
