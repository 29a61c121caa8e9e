import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dicomFile } from '../dimse/dicom-file.ts';
import { sendBuffer } from '../dimse/send.ts';
import { openSite, type Site } from './site.ts';

const DISK_MEGABYTES = 300;
const MEGABYTE = 1_048_576;

/** Mounts a small disk in memory. Returns null if this user is not allowed to mount. */
function mountDisk(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'sonogate-disk-'));
  try {
    const size = `size=${DISK_MEGABYTES}m`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    console.warn('skipped: a disk in memory could not be mounted (it takes root)');
    return null;
  }
}

const disk = mountDisk();

describe.skipIf(disk === null)('a disk that is nearly full', () => {
  let site: Site;
  let key = '';
  const filler = join(disk ?? '', 'filler');

  beforeAll(async () => {
    site = await openSite({
      dataDir: join(disk ?? '', 'data'),
      dicom: { host: '127.0.0.1', port: 0, minFreeBytes: 100 * MEGABYTE },
      routing: { rules: [] },
      roles: ['api', 'dimse'],
    });
    const made = await site.gateway.run('keys.create', { name: 'client', test: true });
    key = made.key;
  });
  afterAll(async () => {
    await site?.close();
    if (disk === null) return;
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  });

  let sent = 0;
  const store = () => {
    sent += 1;
    const object = dicomFile({ sopInstanceUid: `1.2.3.${sent}`, studyInstanceUid: '1.2.3' });
    const node = { host: '127.0.0.1', port: site.dicomPort, aeTitle: 'SONOGATE' };
    return sendBuffer({ ...node, callingAeTitle: 'CART', timeoutSeconds: 20 }, object);
  };
  const upload = () =>
    fetch(`${site.gateway.http?.url}/v1/uploads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ filename: 'a.dcm', bytes: 10, media_type: 'application/dicom' }),
    });

  async function ready(): Promise<{ status: number; checks: unknown }> {
    const answer = await fetch(`${site.gateway.http?.url}/health/ready`);
    const { checks } = (await answer.json()) as { checks: unknown };
    return { status: answer.status, checks };
  }

  /** Fills the disk until the given number of megabytes is free. */
  async function fillUpTo(megabytes: number): Promise<void> {
    const line = execFileSync('df', ['-B1', '--output=avail', disk ?? ''], { encoding: 'utf8' });
    const free = Number(line.trim().split('\n').at(-1));
    const file = await open(filler, 'a');
    await file.writeFile(Buffer.alloc(Math.max(0, free - megabytes * MEGABYTE)));
    await file.close();
  }

  test('accepts objects and uploads while there is space', async () => {
    expect(await store()).toMatchObject({ outcome: 'stored' });
    expect((await upload()).status).toBe(201);
  });

  test('refuses both temporarily before harm is done: A700H, and 503 with the time to wait', async () => {
    await fillUpTo(90);
    const refused = await store();
    expect(refused).toMatchObject({ outcome: 'failed', code: 'peer_out_of_resources' });
    expect(refused.detail).toContain('A700');
    const answer = await upload();
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ code: 'overloaded' });
    expect(await ready()).toMatchObject({
      status: 503,
      checks: { disk: 'failing', database: 'ok' },
    });
  });

  test('accepts them again when there is space', async () => {
    await rm(filler);
    // The free space is checked four times a second.
    await expect.poll(store).toMatchObject({ outcome: 'stored' });
    expect((await upload()).status).toBe(201);
    expect(await ready()).toMatchObject({ status: 200, checks: { disk: 'ok' } });
  });
});
