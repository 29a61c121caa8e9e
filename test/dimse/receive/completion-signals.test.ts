import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AssociationPeer, ObjectSink } from '../../../dimse/network/service-ports.ts';
import { noteReceptions } from '../../../dimse/receive/completion-signals.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { completeNow } from '../../../src/core/studies/commands.ts';
import { completeDueStudies } from '../../../src/core/studies/completion.ts';
import { deleteSilentReceptions, forgetReceptions } from '../../../src/core/studies/receptions.ts';
import { claimCompleteStudies, findStudy } from '../../../src/core/studies/study-store.ts';
import { dataSet, dicomFile } from '../dicom-file.ts';
import { sendBuffer } from '../send.ts';
import { openSite, type Site } from '../site.ts';

const CINE = '1.2.840.10008.5.1.4.1.1.3.1';
/** The quiet time, in seconds. The tests advance a clock that the study assembly does not use. */
const QUIET_SECONDS = 100;

let site: Site;
let study = '';
let count = 0;
/** The time at which the study's still image arrived. */
let received = 0;
let at = new Date();

beforeAll(async () => {
  site = await openSite({
    completion: { signal: 'quiet-time', quietSeconds: QUIET_SECONDS, afterReleaseSeconds: 5 },
  });
});
afterAll(() => site?.close());
beforeEach(async () => {
  count += 1;
  study = `1.2.840.90.${count}`;
  await sendBuffer(
    site.node,
    dicomFile({ sopInstanceUid: `${study}.1.1`, studyInstanceUid: study }),
  );
  received = (await row())?.last_received_at.getTime() ?? 0;
});

const row = () => findStudy(site.database, study);
/** Sets the clock to a time after the arrival of the still image. */
const turn = (seconds: number) => {
  at = new Date(received + seconds * 1000);
};
const isComplete = async () => {
  await completeDueStudies(site.database, at);
  return (await row())?.state === 'complete';
};

/**
 * Starts receiving a cine, of which the first half has arrived; `rest` is the other half.
 * @param inside study to which the cine belongs.
 */
async function cineUnderWay(
  over: Partial<AssociationPeer> = {},
  inside = study,
): Promise<ObjectSink & { rest: Buffer }> {
  const { door } = site.gateway;
  if (!door) throw new Error('the site has no door');
  const { sources } = site.config;
  const storage = noteReceptions(door.unmeasured, {
    sources,
    database: site.database,
    now: () => at,
  });
  const sopInstanceUid = `${study}.1.2`;
  const sink = await storage.open(
    { sopClassUid: CINE, sopInstanceUid, transferSyntax: EXPLICIT_VR_LITTLE_ENDIAN },
    {
      id: study,
      callingAeTitle: 'CART',
      calledAeTitle: 'SONOGATE',
      address: '127.0.0.1',
      source: 'this-machine',
      ...over,
    },
  );
  const bytes = dataSet({
    sopClassUid: CINE,
    sopInstanceUid,
    studyInstanceUid: inside,
    pixels: Buffer.alloc(4096),
  });
  await sink.write(bytes.subarray(0, 1000));
  return { ...sink, rest: bytes.subarray(1000) };
}
/** Delivers the next byte of the cine at a time after the arrival of the still image. */
async function move(cine: { rest: Buffer; write: ObjectSink['write'] }, seconds: number) {
  turn(seconds);
  await cine.write(cine.rest.subarray(0, 1));
  cine.rest = cine.rest.subarray(1);
}

describe('a study whose quiet time is over', () => {
  test('waits for the cine that its machine has begun to send, and then includes it', async () => {
    turn(QUIET_SECONDS - 10);
    const cine = await cineUnderWay();
    await move(cine, QUIET_SECONDS - 9);
    turn(QUIET_SECONDS + 60);
    expect(await isComplete()).toBe(false);
    await cine.write(cine.rest);
    await cine.commit();
    const both = { state: 'receiving', revision: 1, instance_count: 2 };
    await expect.poll(row).toMatchObject(both);
    at = (await row())?.complete_after ?? at;
    expect(await isComplete()).toBe(true);
  });

  test('continues when that cine is broken off', async () => {
    turn(QUIET_SECONDS - 10);
    const cine = await cineUnderWay();
    await move(cine, QUIET_SECONDS - 9);
    turn(QUIET_SECONDS);
    expect(await isComplete()).toBe(false);
    await cine.discard();
    expect(await isComplete()).toBe(true);
  });

  test('waits while bytes arrive, and after the last byte no longer than its source may be silent', async () => {
    const [source] = site.config.sources;
    const idle = source?.idleTimeoutSeconds ?? 0;
    turn(QUIET_SECONDS - 10);
    const cine = await cineUnderWay();
    await move(cine, QUIET_SECONDS - 9);
    await move(cine, QUIET_SECONDS + idle - 20);
    turn(QUIET_SECONDS + 2 * idle - 15.001);
    expect(await isComplete()).toBe(false);
    turn(QUIET_SECONDS + 2 * idle - 15);
    expect(await isComplete()).toBe(true);
    await cine.discard();
  });

  test('waits at most 15 minutes for one object, however slowly it arrives', async () => {
    turn(QUIET_SECONDS - 10);
    const cine = await cineUnderWay();
    for (let seconds = 1; seconds < 900; seconds += 100)
      await move(cine, QUIET_SECONDS - 10 + seconds);
    turn(QUIET_SECONDS - 10 + 899);
    expect(await isComplete()).toBe(false);
    turn(QUIET_SECONDS - 10 + 900);
    expect(await isComplete()).toBe(true);
    await cine.discard();
  });

  test('does not wait for an object of a process that died, once the next process has started', async () => {
    turn(QUIET_SECONDS - 10);
    const cine = await cineUnderWay();
    await move(cine, QUIET_SECONDS - 9);
    turn(QUIET_SECONDS);
    expect(await isComplete()).toBe(false);
    await forgetReceptions(site.database);
    expect(await isComplete()).toBe(true);
    await cine.discard();
  });

  test('does not wait for an object that began after the quiet time', async () => {
    turn(QUIET_SECONDS + 0.001);
    const cine = await cineUnderWay();
    await move(cine, QUIET_SECONDS + 2);
    expect(await isComplete()).toBe(true);
    await cine.discard();
  });

  test.each([
    ['machine', { callingAeTitle: 'OTHER' }],
    ['source', { source: 'another' }],
  ])('does not wait for an object of another %s', async (_what, over) => {
    turn(QUIET_SECONDS - 10);
    const cine = await cineUnderWay(over);
    await move(cine, QUIET_SECONDS - 9);
    turn(QUIET_SECONDS);
    expect(await isComplete()).toBe(true);
    await cine.discard();
  });

  test('does not wait if a person has ended the wait', async () => {
    turn(1);
    const cine = await cineUnderWay();
    await move(cine, 3);
    await completeNow(site.database, study, at);
    expect((await claimCompleteStudies(site.database, at, 100)).map(({ id }) => id)).toContain(
      (await row())?.id,
    );
    await cine.discard();
  });
});

test('an object that arrives within a second needs no database statement', async () => {
  turn(1);
  const cine = await cineUnderWay();
  await move(cine, 1.999);
  const noted = async () => (await site.database.query('SELECT 1 FROM receptions_under_way')).rows;
  expect(await noted()).toEqual([]);
  await move(cine, 2);
  expect(await noted()).toHaveLength(1);
  await cine.discard();
  expect(await noted()).toEqual([]);
});

test('an object that is refused at its end is no longer considered under way', async () => {
  turn(1);
  const cine = await cineUnderWay({}, '');
  await move(cine, 3);
  await expect(cine.commit()).rejects.toThrow();
  const { rows } = await site.database.query('SELECT 1 FROM receptions_under_way');
  expect(rows).toEqual([]);
});

test('what a process left behind when it was killed during an object is forgotten', async () => {
  turn(1);
  const cine = await cineUnderWay();
  await move(cine, 2);
  const left = async () => (await site.database.query('SELECT 1 FROM receptions_under_way')).rows;
  await deleteSilentReceptions(site.database, at);
  expect(await left()).toHaveLength(1);
  turn(308);
  await deleteSilentReceptions(site.database, at);
  expect(await left()).toEqual([]);
  await cine.discard();
});
