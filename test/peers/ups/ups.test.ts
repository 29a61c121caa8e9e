import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../../src/app/main.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { explain, openSite, type Site, waitUntil } from '../../gateway/site.ts';
import { freePort } from '../free-port.ts';
import { heldStudy, sendStudy } from '../held-study.ts';

const PROGRAM = fileURLToPath(new URL('./client.py', import.meta.url));
/** Folder into which `.ci/run` installs dicomweb-client and websockets. */
const MODULES = fileURLToPath(new URL('../../../.ci/dicomweb', import.meta.url));
const env = { ...process.env, PYTHONPATH: MODULES };
const INSTALLED =
  spawnSync('python3', ['-c', 'import pydicom, requests, websockets'], { env }).status === 0;

const STUDY = heldStudy('1.2.826.3.1');

describe.skipIf(!INSTALLED)('a task manager in Python', () => {
  let site: Site;
  let folder = '';
  let url = '';
  let key = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-ups-'));
    const port = await freePort();
    site = await openSite({
      http: { host: '127.0.0.1', port, workitems: true },
      routing: { rules: [{ name: 'keep', ignore: true }] },
    });
    url = `http://127.0.0.1:${port}/dicomweb`;
    const scopes = ['retrieve', 'run'] as const;
    ({ key } = await site.gateway.run('keys.create', {
      name: 'task-manager',
      test: true,
      scopes: [...scopes],
    }));
    await sendStudy(STUDY, folder, site.dicomPort);
    await waitUntil('the study', () => explain(site.gateway, STUDY.study));
  }, 180_000);
  afterAll(async () => {
    await site?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the client. With `kill`, it is ended as soon as it has created its workitem. */
  async function client({ subscribe, kill = false }: { subscribe: boolean; kill?: boolean }) {
    const child = spawn('python3', [PROGRAM], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end(
      JSON.stringify({
        url,
        key,
        subscribe,
        study: STUDY.study,
        series: `${STUDY.study}.2`,
        object: STUDY.still,
        sopClass: '1.2.840.10008.5.1.4.1.1.6.1',
      }),
    );
    const errors = text(child.stderr);
    let last = '';
    for await (const line of createInterface(child.stdout)) {
      last = line;
      if (kill) child.kill('SIGKILL');
    }
    if (kill) return { uid: last.replace('created ', '') };
    if (!last.startsWith('{')) throw new Error(await errors);
    return JSON.parse(last);
  }

  const COMPLETED = {
    location: true,
    state: 'COMPLETED',
    label: 'Read the anomaly scan',
    priority: 'HIGH',
    progress: 100,
    ended: true,
    input: STUDY.study,
    listed: true,
    unknown: [],
  };

  it('schedules a step, follows it to completion, and continues after both sides were killed', async () => {
    const { reports, ...step } = await client({ subscribe: true });
    expect(step).toEqual(COMPLETED);
    const states = (all: [boolean, number, string][]) =>
      all.filter(([own, kind]) => own && kind === 1).map(([, , state]) => state);
    const way = ['SCHEDULED', 'IN PROGRESS', 'COMPLETED'];
    expect(states(reports)).toEqual(way);

    // The client dies with its channel open, but its step is still performed.
    const { uid } = await client({ subscribe: false, kill: true });
    expect(uid).toMatch(/^[\d.]+$/);
    const headers = { Authorization: `Bearer ${key}` };
    await waitUntil('the step of the killed client', async () => {
      const answer = await fetch(`${url}/workitems/${uid}`, { headers });
      return (await answer.text()).includes('"COMPLETED"') ? true : null;
    });

    await site.gateway.close();
    site.gateway = await startGateway(site.config, silentLogger);
    const again = await client({ subscribe: false });
    expect(again.reports[0]).toEqual([false, 4, 'RESTARTED']);
    expect(states(again.reports)).toEqual(way);
  }, 300_000);
});
