import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import type { Fault as EhrFault } from '../peers/fhir-server.ts';
import type { CartNetwork } from './cart-network.ts';
import { cartStudies } from './cart-studies.ts';
import type { PacsMood } from './counting-pacs.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { networkCut } from './network-cut.ts';
import { OUTAGES } from './outages.ts';
import { randomKills } from './random-kills.ts';
import { pipelinesOf, type SiteOptions, type SiteUnderFault } from './site-under-fault.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';
import { soak } from './soak.ts';
import type { Amount } from './traffic.ts';

/** What a fault needs from its machine; set up before the site starts. */
export interface Surroundings {
  site: SiteOptions;
  disk?: SmallDisk;
  clock?: FakeClock;
  network?: CartNetwork;
  remove(): Promise<void>;
}

export interface Fault {
  name: string;
  done: string;
  /**
   * Maximum traffic for this fault; it ends when the strikes end. If omitted, the campaign's
   * traffic is used.
   */
  traffic?: Amount;
  /** Sets up the machine, or returns why that is impossible here. */
  prepare?(): Promise<Surroundings | { impossible: string }>;
  /**
   * Strikes while traffic flows, and repairs what does not recover by itself.
   * @returns what was observed of the fault, as evidence that it happened.
   * @throws Error if the fault did not strike.
   */
  strike(site: SiteUnderFault, surroundings: Surroundings): Promise<string>;
}

/** How long a peer stays in a mood. */
const MOOD_MS = 8_000;
const DOWN_MS = 5_000;
const REPLAY_MS = 150_000;

const counted = (count: number, one: string, several = `${one}s`): string =>
  `${count} ${count === 1 ? one : several}`;

const kill = (role: 'dimse' | 'api' | 'worker' | 'delivery'): Fault => ({
  name: `kill -9 of the ${role} process`,
  done: 'three times under traffic, started again each time',
  async strike(site) {
    const pids: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      pids.push(site.process(role).pid);
      await site.kill(role);
      await delay(1500);
    }
    return `${counted(new Set(pids).size, 'process', 'processes')} killed`;
  },
});

/** How both archives behave in each mood. */
const MOOD_IN_WORDS: Readonly<Record<Exclude<PacsMood, 'well'>, string>> = {
  dead: 'do not listen',
  slow: 'answer each object late',
  rejecting: 'reject every association',
  'out of room': 'answer every object with A700H',
  'no contexts': 'accept no presentation context',
  lying: 'take every object and then do not commit to keep it',
};

const pacs = (mood: Exclude<PacsMood, 'well'>): Fault => ({
  name: `PACS ${mood}`,
  done: `the PACS and the archive ${MOOD_IN_WORDS[mood]} for the first ${MOOD_MS / 1000} s of the traffic`,
  async strike(site) {
    const both = [site.pacs, site.archive];
    for (const each of both) await each.be(mood);
    await delay(MOOD_MS);
    const waiting = await troubled(site, ['pacs', 'archive']);
    for (const each of both) await each.be('well');
    if (mood === 'lying' || mood === 'no contexts') return replayDead(site);
    const refusals = both.reduce((sum, each) => sum + each.refusals, 0);
    if (waiting.length === 0 && refusals === 0 && mood !== 'slow') throw new Error('nothing sent');
    return `${counted(refusals, 'refusal')}; waiting: ${waiting.join(', ') || 'nothing failed yet'}`;
  },
});

/**
 * Replays dead deliveries, as a person would, until every object has arrived and is committed. A
 * delivery is dead if the PACS refused the object for good, or accepted it but did not commit to
 * keep it.
 */
async function replayDead(site: SiteUnderFault): Promise<string> {
  let replayed = 0;
  const codes = new Set<string>();
  const deadline = performance.now() + REPLAY_MS;
  for (let quiet = 0; quiet < 5; quiet += 1) {
    if (performance.now() > deadline) throw new Error('deliveries stay dead or uncommitted');
    const open = await site.query<{ id: string; state: string; code: string }>(
      `SELECT id, state, code FROM deliveries WHERE kind IN ('dicom', 'forward')
         AND (state = 'dead' OR (state = 'delivered' AND committed_at IS NULL))`,
    );
    const dead = open.filter(({ state }) => state === 'dead');
    for (const { id, code } of dead) {
      codes.add(code);
      await site.operate('deliveries.replay', { id });
    }
    replayed += dead.length;
    if (open.length > 0) quiet = 0;
    await delay(1000);
  }
  if (replayed === 0) throw new Error('no delivery died');
  return `${counted(replayed, 'delivery', 'deliveries')} dead (${[...codes].join(', ')}), sent again by a person`;
}

const ehr = (name: string, done: string, fault: EhrFault): Fault => ({
  name: `EHR ${name}`,
  done,
  async strike(site) {
    for (const call of ['POST /', 'GET /metadata', 'POST /Patient/_search', 'GET /Patient']) {
      site.ehr.fail(call, fault, 2);
    }
    const before = site.ehr.calls.length;
    await delay(MOOD_MS);
    for (let left = 120; site.ehr.calls.length === before && left > 0; left -= 1) await delay(500);
    if (site.ehr.calls.length === before) throw new Error('the EHR was not called');
    const waiting = await troubled(site, ['ehr']);
    return `${counted(site.ehr.calls.length - before, 'call')}; waiting: ${waiting.join(', ') || 'none'}`;
  },
});

/** Counts, by error code, the deliveries that failed but are still waiting. */
async function troubled(site: SiteUnderFault, destinations: string[]): Promise<string[]> {
  const rows = await site.query<{ code: string; count: number }>(
    `SELECT code, count(*)::int AS count FROM deliveries
     WHERE destination = ANY ($1::text[]) AND code IS NOT NULL AND state <> 'delivered' GROUP BY code`,
    [destinations],
  );
  return rows.map(({ code, count }) => `${count} × ${code}`);
}

/** Waits until a pipeline is working on a request, then kills its child processes. */
async function pipelineStruck(
  site: SiteUnderFault,
  strike: (pid: number) => void,
): Promise<number> {
  for (let left = 300; left > 0; left -= 1) {
    const [row] = await site.query<{ running: number }>(
      `SELECT count(*)::int AS running FROM requests WHERE status = 'running' AND NOT test`,
    );
    if ((row?.running ?? 0) > 0) {
      const children = await pipelinesOf(site.process('worker').pid);
      for (const child of children) strike(child);
      if (children.length > 0) return children.length;
    }
    await delay(100);
  }
  throw new Error('no pipeline ran');
}

const clockJump = (name: string, offset: string): Fault => ({
  name: `clock jumps ${name}`,
  done: `the wall clock of every process jumps by ${offset} s (libfaketime) under traffic`,
  async prepare() {
    const clock = await fakeClock();
    if (!clock) return { impossible: 'libfaketime is not installed' };
    return {
      site: { environment: clock.environment },
      clock,
      remove: clock.remove,
    };
  },
  async strike(_site, { clock }) {
    await clock?.jump(offset);
    await delay(DOWN_MS);
    return `jumped by ${offset} s`;
  },
});

export const FAULTS: readonly Fault[] = [
  kill('dimse'),
  kill('api'),
  kill('worker'),
  kill('delivery'),
  pacs('dead'),
  pacs('slow'),
  pacs('rejecting'),
  pacs('out of room'),
  pacs('no contexts'),
  pacs('lying'),
  ehr('dead', 'connections are cut before an answer', { kind: 'cut-before' }),
  ehr('slow', 'each call is answered after 6 s', { kind: 'slow', milliseconds: 6000 }),
  ehr('refusing', '503 with Retry-After: 2', {
    kind: 'status',
    status: 503,
    headers: { 'Retry-After': '2' },
  }),
  ehr('lying', 'commits and cuts the connection before it says so', { kind: 'cut-after-commit' }),
  {
    name: 'PostgreSQL crashes',
    done: `server and sessions killed -9, back after ${DOWN_MS / 1000} s; twice`,
    async strike(site) {
      for (let time = 0; time < 2; time += 1) {
        await site.postgres.crash();
        await delay(DOWN_MS);
        await site.postgres.resume();
        await delay(DOWN_MS);
      }
      return 'two crash recoveries';
    },
  },
  {
    name: 'Redis crashes, without persistence',
    done: `killed -9, back empty after ${DOWN_MS / 1000} s; the reconciler makes the jobs anew`,
    async strike(site) {
      await site.redis.pause();
      await delay(DOWN_MS);
      await site.redis.resume();
      return 'came back empty';
    },
  },
  {
    name: 'Redis crashes, with persistence',
    done: `killed -9, back after ${DOWN_MS / 1000} s with its append-only file`,
    prepare: async () => ({ site: { persistentRedis: true }, remove: async () => {} }),
    async strike(site) {
      await site.redis.pause();
      await delay(DOWN_MS);
      await site.redis.resume();
      return 'came back with its jobs';
    },
  },
  {
    name: 'disk full',
    done: 'the data folder is a tmpfs that is filled to its last page at a random moment, with no watermark to warn; freed after 8 s',
    async prepare() {
      const disk = await smallDisk(256);
      if (!disk) return { impossible: 'mounting a tmpfs is not permitted' };
      const { folder } = disk;
      return { site: { disk: { folder, minFreeBytes: 0 } }, disk, remove: disk.remove };
    },
    async strike(site) {
      await delay(randomInt(MOOD_MS));
      // The regular traffic may be between two studies or already over, so one more cart makes sure
      // that an object meets the full disk. It is ready beforehand, because a running study may free
      // space again.
      const cart = await cartStudies('met the full disk', 1);
      const filler = join(site.dataDir, 'filler');
      const { bavail, bsize } = await statfs(site.dataDir);
      await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(() => {});
      const full = await statfs(site.dataDir);
      const late = {
        host: '127.0.0.1',
        port: site.dicomPort,
        aeTitle: 'SONOGATE',
        callingAeTitle: 'CART',
      };
      const paths = cart.studies.flat().map(({ path }) => path);
      await sendFiles({ ...late, timeoutSeconds: 15 }, paths, { onResult() {} }).catch(() => {});
      await delay(MOOD_MS);
      await cart.remove();
      await rm(filler, { force: true });
      const refused = site.process('dimse').log.filter((line) => line.includes('A700')).length;
      if (refused === 0) throw new Error('no object met the full disk');
      return `${(full.bavail * full.bsize) / 1024} KiB left; ${counted(refused, 'object')} refused with A700H`;
    },
  },
  networkCut,
  randomKills('PGlite'),
  randomKills('PostgreSQL'),
  randomKills('PostgreSQL and Redis'),
  soak,
  ...OUTAGES,
  clockJump('an hour ahead', '+3600'),
  clockJump('an hour back', '-3600'),
  {
    name: 'pipeline child killed',
    done: 'kill -9 of the child processes of the worker while they run',
    async strike(site) {
      const struck = await pipelineStruck(site, (pid) => process.kill(pid, 'SIGKILL'));
      return `${counted(struck, 'child', 'children')} killed`;
    },
  },
  {
    name: 'pipeline child hangs',
    done: 'SIGSTOP of the child processes while they run; the worker is stopped and started again',
    async strike(site) {
      const struck = await pipelineStruck(site, (pid) => process.kill(pid, 'SIGSTOP'));
      await delay(DOWN_MS);
      await site.stop('worker');
      await site.start('worker');
      return `${counted(struck, 'child', 'children')} stopped`;
    },
  },
  {
    name: 'pipeline child out of memory',
    done: 'the address space of the child processes is limited to what they have, while they run',
    async strike(site) {
      const struck = await pipelineStruck(site, (pid) => {
        execFileSync('prlimit', ['--pid', String(pid), '--as=1048576']);
      });
      return `${counted(struck, 'child', 'children')} limited`;
    },
  },
];
