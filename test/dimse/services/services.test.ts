import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sendDueReports } from '../../../dimse/services/commitment-scp.ts';
import { findStudy, instancesOf } from '../../../src/core/studies/study-store.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { freePort } from '../../peers/free-port.ts';
import {
  PYNETDICOM_INSTALLED,
  type PynetdicomPeer,
  startPynetdicom,
} from '../../peers/pynetdicom.ts';
import { dicomFile } from '../dicom-file.ts';
import { sendBuffer } from '../send.ts';
import { openSite, type Site } from '../site.ts';

const CLASS = '1.2.840.10008.5.1.4.1.1.6.1';
const OTHER_CLASS = '1.2.840.10008.5.1.4.1.1.3.1';

let site: Site;
let cart: PynetdicomPeer;
let study = '';
let count = 0;

beforeAll(async () => {
  if (!PYNETDICOM_INSTALLED) return;
  [site, cart] = await Promise.all([
    openSite({ completion: { signal: 'quiet-time', quietSeconds: 3600, afterReleaseSeconds: 1 } }),
    startPynetdicom(),
  ]);
});
afterAll(async () => {
  await cart?.stop();
  await site?.close();
});
beforeEach(() => {
  count += 1;
  study = `1.2.840.96.${count}`;
});

const uid = (number: number) => `${study}.1.${number}`;
const send = (number: number) =>
  sendBuffer(site.node, dicomFile({ sopInstanceUid: uid(number), studyInstanceUid: study }));
const row = () => findStudy(site.database, study);
const completes = () => expect.poll(async () => (await row())?.state).not.toBe('receiving');
/**
 * Waits until the assembly has run twice: the first run brings the deadline forward, and the second
 * completes the study. A run has taken place once another study is complete.
 */
async function assemblyHasLooked() {
  for (const turn of [1, 2]) {
    site.pass(5);
    const other = `${study}.7.${turn}`;
    const file = dicomFile({ sopInstanceUid: `${other}.1`, studyInstanceUid: other });
    await sendBuffer(site.node, file);
    await site.database.query(
      `UPDATE studies SET complete_after = '2000-01-01' WHERE study_instance_uid = $1`,
      [other],
    );
    const state = async () => (await findStudy(site.database, other))?.state;
    await expect.poll(state).not.toBe('receiving');
  }
}
const ask = <Answer>(order: Record<string, unknown>) =>
  cart.ask<Answer>({ port: site.gateway.port, class: CLASS, ...order });

describe.skipIf(!PYNETDICOM_INSTALLED)('a performed procedure step', () => {
  const begin = (status = 'IN PROGRESS') =>
    ask<{ status: number }>({ action: 'mpps-create', study, step: `${study}.9`, status });
  const end = (objects: string[], status = 'COMPLETED') =>
    ask<{ status: number }>({ action: 'mpps-set', step: `${study}.9`, status, objects });

  test('that ends completes its study if all its objects have arrived', async () => {
    expect(await begin()).toEqual({ status: 0 });
    await send(1);
    await send(2);
    expect((await row())?.state).toBe('receiving');
    expect(await end([uid(1), uid(2)])).toEqual({ status: 0 });
    await completes();
    expect(await row()).toMatchObject({ complete_because: 'performed-procedure' });
  });

  test('that ends before its last object has arrived waits for it', async () => {
    await begin();
    await send(1);
    await end([uid(1), uid(2)]);
    await assemblyHasLooked();
    expect((await row())?.state).toBe('receiving');
    await send(2);
    await completes();
  });

  test('counts only once: a late object waits for its own completion sign', async () => {
    await begin();
    await send(1);
    await end([uid(1)]);
    await completes();
    await send(2);
    await assemblyHasLooked();
    expect(await row()).toMatchObject({ state: 'receiving', complete_because: 'quiet-time' });
  });

  test('that is discontinued completes its study with the objects that were made', async () => {
    await begin();
    await send(1);
    await end([uid(1)], 'DISCONTINUED');
    await completes();
  });

  test('that was never begun is unknown', async () => {
    expect(await end([uid(1)])).toEqual({ status: 0x0112 });
  });

  test('that begins twice is a duplicate', async () => {
    await begin();
    expect(await begin()).toEqual({ status: 0x0111 });
  });

  test('that has ended can no longer be changed', async () => {
    await begin();
    await end([]);
    expect(await end([])).toEqual({ status: 0x0110, errorId: 0xa710 });
  });

  test.each(['COMPLETED', 'DISCONTINUED'])(
    'that begins as %s is refused, and leaves no step',
    async (status) => {
      expect(await begin(status)).toEqual({ status: 0x0106 });
      expect(await end([uid(1)])).toEqual({ status: 0x0112 });
    },
  );

  test('with an unknown status is refused', async () => {
    await begin();
    expect(await end([], 'DONE')).toEqual({ status: 0x0106 });
  });
});

describe.skipIf(!PYNETDICOM_INSTALLED)('a notification of instance availability', () => {
  test('completes a study if all its objects have arrived', async () => {
    await send(1);
    const objects = [uid(1)];
    expect(await ask({ action: 'ian', study, note: `${study}.8`, objects })).toEqual({ status: 0 });
    await completes();
    expect(await row()).toMatchObject({ complete_because: 'instance-availability' });
  });

  test('that arrives before the objects waits for them', async () => {
    await ask({ action: 'ian', study, note: `${study}.8`, objects: [uid(1), uid(2)] });
    await send(1);
    site.pass(5);
    expect((await row())?.state).toBe('receiving');
    await send(2);
    await completes();
  });
});

interface Reports {
  reports: {
    event: number;
    transaction: string;
    committed: string[];
    failed: [string, number][];
  }[];
}

describe.skipIf(!PYNETDICOM_INSTALLED)('storage commitment', () => {
  const commit = (objects: string[], over: Record<string, unknown> = {}) =>
    ask<{ status: number }>({
      action: 'commit',
      transaction: `${study}.7`,
      objects,
      stay: true,
      ...over,
    });
  const report = async () => {
    const { reports } = await cart.ask<Reports>({ action: 'reports' });
    return reports.find(({ transaction }) => transaction === `${study}.7`);
  };

  test('is confirmed for objects on the disk, over the association that requested it', async () => {
    await send(1);
    await send(2);
    expect(await commit([uid(1), uid(2)])).toEqual({ status: 0 });
    await expect.poll(report).toMatchObject({ event: 1, committed: [uid(1), uid(2)], failed: [] });
  });

  test('is refused for an object that never arrived, and confirmed for the others', async () => {
    await send(1);
    await commit([uid(1), uid(2)]);
    await expect
      .poll(report)
      .toMatchObject({ event: 2, committed: [uid(1)], failed: [[uid(2), 0x0112]] });
  });

  test('is refused for an object whose file is gone', async () => {
    await send(1);
    const found = await row();
    const [instance] = found ? await instancesOf(site.database, found) : [];
    await unlink(join(site.config.dataDir, instance?.path ?? ''));
    await commit([uid(1)]);
    await expect.poll(report).toMatchObject({ event: 2, failed: [[uid(1), 0x0112]] });
  });

  test('is refused for an object of another class', async () => {
    await send(1);
    await commit([uid(1)], { class: OTHER_CLASS });
    await expect.poll(report).toMatchObject({ event: 2, failed: [[uid(1), 0x0119]] });
  });

  test('is reported over a new association to a machine that did not wait', async () => {
    await send(1);
    const port = await freePort();
    await cart.ask({ action: 'listen', port, title: 'CART' });
    await commit([uid(1)], { stay: false });
    const [source] = site.config.sources;
    if (!source) throw new Error('the site has no source');
    const node = { host: '127.0.0.1', port, aeTitle: 'CART' };
    site.pass(60);
    const now = () => new Date(Date.now() + 3_600_000);
    const parts = { database: site.database, aeTitle: 'SONOGATE', logger: silentLogger, now };
    await sendDueReports({ ...parts, sources: [{ ...source, node }] });
    expect(await report()).toMatchObject({ event: 1, committed: [uid(1)] });
    const { rows } = await site.database.query<{ told_at: Date | null }>(
      'SELECT told_at FROM commitment_reports WHERE transaction_uid = $1',
      [`${study}.7`],
    );
    expect(rows[0]?.told_at).not.toBeNull();
  });
});
