import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Config } from '../../../config/schema.ts';
import { createStoreInstances } from '../../../dimse/dicomweb/store-instances.ts';
import { createStorageScp } from '../../../dimse/receive/storage-scp.ts';
import { objectsOnDisk } from '../../../src/core/files/received-objects.ts';
import type { StoreInstances } from '../../../src/core/studies/store-port.ts';
import { statusOf, storeResponse } from '../../../src/doors/http/dicomweb/store.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { dicomFile, type SmallObject } from '../dicom-file.ts';
import { sendBuffer } from '../send.ts';
import { openSite, type Site } from '../site.ts';

const TYPE = 'multipart/related; type="application/dicom"; boundary=b';
let site: Site;
let config: Config;
let store: StoreInstances;
let count = 0;
let study = '';

beforeAll(async () => {
  site = await openSite({
    completion: { signal: 'association-release', quietSeconds: 1000, afterReleaseSeconds: 5 },
  });
  const [source] = site.config.sources;
  if (!site.gateway.door || !source) throw new Error('the site has no door');
  config = { ...site.config, sources: [{ ...source, apiKeys: ['cart'] }] };
  store = createStoreInstances({
    door: site.gateway.door,
    config,
    logger: silentLogger,
  });
});
afterAll(() => site?.close());
beforeEach(() => {
  count += 1;
  study = `1.2.840.113.${count}`;
});

const file = (number: number, over: Partial<SmallObject> = {}) =>
  dicomFile({ sopInstanceUid: `${study}.1.${number}`, studyInstanceUid: study, ...over });

function body(parts: readonly Buffer[], type = 'application/dicom'): Readable {
  const head = Buffer.from(`\r\n--b\r\nContent-Type: ${type}\r\n\r\n`);
  return Readable.from([...parts.flatMap((part) => [head, part]), Buffer.from('\r\n--b--\r\n')]);
}

const transaction = () => ({
  id: `call-${count}`,
  keyName: 'cart',
  address: '127.0.0.1',
  study: null,
  contentType: TYPE,
});
const call = (content: Readable, over: Partial<Parameters<StoreInstances>[0]> = {}) =>
  store({ ...transaction(), body: content, ...over });
const rows = async () => {
  const { rows } = await site.database.query<{ uid: string; source: string; state: string }>(
    `SELECT sop_instance_uid AS uid, source, state FROM instances
       JOIN studies ON studies.id = study_id WHERE study_instance_uid = $1 ORDER BY ordinal`,
    [study],
  );
  return rows;
};

describe('a site without free space', () => {
  test.each([
    ['the own disk', 'ENOSPC'],
    ["the database's disk", '53100'],
  ])('%s is full: the object is refused temporarily (A700), not for good', async (_, code) => {
    const open = async () => {
      throw Object.assign(new Error('no space left on device'), { code });
    };
    const { door } = site.gateway;
    if (!door) throw new Error('the site has no door');
    const full = createStoreInstances({
      door: { ...door, storage: { ...door.storage, open } },
      config,
      logger: silentLogger,
    });
    const outcome = await full({ ...transaction(), body: body([file(1)]) });
    const [failed] = outcome.failed;
    expect(outcome.stored).toEqual([]);
    expect(failed).toMatchObject({ reason: 0xa700, transient: true });
    expect(() => statusOf(outcome)).toThrow('at the moment');
  });
});

describe('a store transaction', () => {
  test('stores every object as C-STORE does, for the source of its key', async () => {
    const outcome = await call(body([file(1), file(2)]));
    expect(outcome).toMatchObject({
      stored: [
        { sopInstanceUid: `${study}.1.1`, within: { study } },
        { sopInstanceUid: `${study}.1.2`, within: { study } },
      ],
      failed: [],
    });
    expect(statusOf(outcome)).toBe(200);
    expect(await rows()).toMatchObject([
      { uid: `${study}.1.1`, source: 'this-machine' },
      { uid: `${study}.1.2`, source: 'this-machine' },
    ]);
  });

  test('counts as an association: its end signals that the study is complete', async () => {
    await call(body([file(1)]));
    const { rows: due } = await site.database.query<{ complete_because: string }>(
      'SELECT complete_because FROM studies WHERE study_instance_uid = $1',
      [study],
    );
    expect(due).toEqual([{ complete_because: 'association-release' }]);
  });

  test('recognizes an object that was received by C-STORE before', async () => {
    expect(await sendBuffer(site.node, file(1))).toMatchObject({ outcome: 'stored' });
    expect(statusOf(await call(body([file(1)])))).toBe(200);
    expect(await rows()).toHaveLength(1);
  });

  test('lists each refused object with the reason, and keeps the others', async () => {
    const outcome = await call(
      body([file(1), file(2, { sopClassUid: '1.2.840.10008.5.1.4.1.1.2' }), file(3)]),
    );
    expect(outcome.stored).toHaveLength(2);
    expect(outcome.failed).toEqual([
      {
        sopClassUid: '1.2.840.10008.5.1.4.1.1.2',
        sopInstanceUid: `${study}.1.2`,
        reason: 0x0122,
        transient: false,
      },
    ]);
    expect(statusOf(outcome)).toBe(202);
    expect(storeResponse(outcome, null)).toMatchObject({
      '00081190': { vr: 'UR' },
      '00081198': {
        Value: [
          {
            '00081155': { vr: 'UI', Value: [`${study}.1.2`] },
            '00081197': { vr: 'US', Value: [0x0122] },
          },
        ],
      },
      '00081199': { Value: [{}, { '00081155': { vr: 'UI', Value: [`${study}.1.3`] } }] },
    });
  });

  test('to another study stores nothing', async () => {
    const outcome = await call(body([file(1)]), { study: '1.2.3' });
    expect(outcome.failed).toMatchObject([{ reason: 0xa900, transient: false }]);
    expect(statusOf(outcome)).toBe(409);
    expect(await rows()).toEqual([]);
  });

  test.each([
    ['that is no DICOM file', 'application/dicom', Buffer.from('hello')],
    ['of another media type', 'text/plain', file(1)],
  ])('refuses a part %s', async (_, type, part) => {
    const outcome = await call(body([part], type));
    expect(outcome).toMatchObject({ stored: [], failed: [], unreadable: [0xc000] });
    expect(statusOf(outcome)).toBe(409);
    expect(storeResponse(outcome, null)).toMatchObject({
      '00081190': { vr: 'UR' },
      '0008119A': { Value: [{ '00081197': { Value: [0xc000] } }] },
    });
  });

  test('that breaks off keeps the complete objects, and does not complete the study', async () => {
    async function* breakingOff() {
      const head = Buffer.from('\r\n--b\r\nContent-Type: application/dicom\r\n\r\n');
      yield Buffer.concat([head, file(1), head]);
      await expect.poll(rows).toHaveLength(1);
      yield file(2).subarray(0, 300);
    }
    const broken = Readable.from(breakingOff());
    await expect(call(broken)).rejects.toMatchObject({ code: 'invalid_multipart' });
    expect(await rows()).toMatchObject([{ uid: `${study}.1.1`, state: 'receiving' }]);
    const { rows: due } = await site.database.query<{ complete_because: string }>(
      'SELECT complete_because FROM studies WHERE study_instance_uid = $1',
      [study],
    );
    expect(due).toEqual([{ complete_because: 'quiet-time' }]);
  });
});

describe('is refused', () => {
  test('a key that no source lists', async () => {
    await expect(call(body([file(1)]), { keyName: 'other' })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  test('console uploads without a source for them, even if a key is named console', async () => {
    const [source] = config.sources;
    if (!site.gateway.door || !source) throw new Error('the site has no door');
    const door = site.gateway.door;
    const of = (over: Partial<typeof source>) =>
      createStoreInstances({
        door,
        config: { ...config, sources: [{ ...source, ...over }] },
        logger: silentLogger,
      })({ ...transaction(), keyName: null, body: body([file(1)]) });
    await expect(of({ apiKeys: ['console', '*'] })).rejects.toMatchObject({ code: 'forbidden' });
    expect((await of({ apiKeys: [], consoleUploads: true })).stored).toHaveLength(1);
  });

  test('another media type', async () => {
    await expect(call(body([file(1)]), { contentType: 'application/dicom' })).rejects.toMatchObject(
      { code: 'unsupported_media_type' },
    );
  });

  test('every object of a transaction, temporarily, when the disk is nearly full', async () => {
    const full = createStoreInstances({
      door: createStorageScp({
        recovers: false,
        config: { ...site.config, dicom: { ...site.config.dicom, minFreeBytes: 1e18 } },
        database: site.database,
        objects: objectsOnDisk(site.config.dataDir),
        logger: silentLogger,
        now: () => new Date(),
      }),
      config,
      logger: silentLogger,
    });
    const outcome = await full({
      id: 'call',
      keyName: 'cart',
      address: '127.0.0.1',
      study: null,
      contentType: TYPE,
      body: body([file(1)]),
    });
    expect(outcome.failed).toMatchObject([{ reason: 0xa700, transient: true }]);
    expect(() => statusOf(outcome)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  });
});
