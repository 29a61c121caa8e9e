import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { type AttackedGateway, startAttackedGateway } from './attacked-gateway.ts';
import type { LoopDelay } from './gateway-process.ts';
import { type HostileObject, hostileObjects } from './hostile-objects.ts';

/**
 * An object may block the event loop for at most this share of its arrival time at a stretch. Read
 * without limits on the gateway's thread, these objects would block it nearly all of the time.
 */
const MOST_OF_ARRIVAL = 0.5;
/**
 * The event loop may work for at most this long at a stretch: processor time in ms, 99th
 * percentile.
 */
const WORK_MS = 50;
/** A shorter stall can be due to other load on the machine or to garbage collection. */
const STALL_MS = 500;

/** Heading of the table in docs/security.md, in ms. */
const HEADING =
  '| by | object | work p99 | work longest | delay p99 | delay longest | idle delay p99 |';

let gateway: AttackedGateway;
let folder = '';
const rows: string[] = [];

beforeAll(async () => {
  gateway = await startAttackedGateway();
  folder = await mkdtemp(join(tmpdir(), 'sonogate-hostile-'));
  // The first large header starts the thread that reads large headers.
  await byAssociation({ name: 'ordinary', ...ordinary() });
}, 300_000);
afterAll(async () => {
  console.info(`${HEADING}\n${rows.join('\n')}`);
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

function ordinary(): { bytes: Buffer; refused: boolean } {
  const one = hostileObjects('1.2.840.100').find(({ refused }) => !refused);
  if (!one) throw new Error('there is no object that is taken');
  return one;
}

async function byAssociation({ bytes, refused }: HostileObject): Promise<void> {
  const path = join(folder, 'hostile.dcm');
  await writeFile(path, bytes);
  const node = {
    host: '127.0.0.1',
    port: gateway.dicomPort,
    aeTitle: 'SONOGATE',
    callingAeTitle: 'CART',
    timeoutSeconds: 50,
  };
  const [result] = await sendFiles(node, [path]);
  expect(result).toMatchObject(refused ? { status: 0xc000 } : { outcome: 'stored' });
}

async function byStow({ bytes, refused }: HostileObject): Promise<void> {
  const boundary = 'hostile';
  const answer = await fetch(`${gateway.url}/dicomweb/studies`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${gateway.key}`,
      'Content-Type': `multipart/related; type="application/dicom"; boundary=${boundary}`,
    },
    body: Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Type: application/dicom\r\n\r\n`),
      bytes,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(refused ? 409 : 200);
  // The value is Failure Reason C000H.
  if (refused) expect(text).toContain('"00081197":{"vr":"US","Value":[49152]}');
}

async function loopDelayDuring(work: () => Promise<void>): Promise<LoopDelay> {
  await gateway.loopDelay();
  await work();
  await delay(50);
  return gateway.loopDelay();
}

describe.each([
  ['C-STORE', byAssociation, '1.2.840.101'],
  ['STOW-RS', byStow, '1.2.840.102'],
] as const)(
  'sent by %s, the gateway serves others while an object arrives',
  (door, send, study) => {
    test.each(hostileObjects(study))('with $name', async (object) => {
      const idle = await loopDelayDuring(() => delay(500));
      const began = performance.now();
      const { p99, longest, work } = await loopDelayDuring(() => send(object));
      const arrival = performance.now() - began;
      const times = [work.p99, work.longest, p99, longest, idle.p99].map((ms) => ms.toFixed(0));
      rows.push(`| ${[door, object.name, ...times].join(' | ')} |`);
      expect(work.p99).toBeLessThan(WORK_MS);
      expect(longest).toBeLessThan(Math.max(STALL_MS, MOST_OF_ARRIVAL * arrival));
      expect(gateway.ended()).toBeNull();
    });
  },
);
