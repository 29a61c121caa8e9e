import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { echo } from '../../dimse/send/verification.ts';
import { dataSet, dicomFile } from '../dimse/dicom-file.ts';
import { type Session, session } from './association-sessions.ts';
import type { Attack } from './attack.ts';
import type { AttackedGateway } from './attacked-gateway.ts';

/**
 * A peer stays silent for this long (longer than the idle timeout of an association), then
 * disconnects.
 */
const SILENT_MS = 2_000;

/**
 * Attacks the listener with generated sessions. `stored` collects the digests of the objects that a
 * good peer stores in between.
 */
export function associationAttack(stored: string[] = []): Attack<Session> {
  return {
    cases: session,
    run: (gateway, one) => connection(gateway.dicomPort, one),
    async probe(gateway) {
      const object = { sopInstanceUid: uidOf(randomUUID()), studyInstanceUid: '1.2.840.7.1' };
      await storeWell(gateway, dicomFile(object));
      stored.push(createHash('sha256').update(dataSet(object)).digest('hex'));
    },
  };
}

async function connection(port: number, { steps, pieceBytes }: Session): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  socket.resume();
  for (const step of steps) {
    if (socket.destroyed) break;
    if (step.do === 'pause') await delay(step.milliseconds);
    else if (step.do === 'reset') socket.resetAndDestroy();
    else if (step.do === 'finish') socket.end();
    else {
      for (let start = 0; start < step.bytes.length && socket.writable; start += pieceBytes) {
        socket.write(step.bytes.subarray(start, start + pieceBytes));
        if (pieceBytes < 50 && start % (pieceBytes * 64) === 0) await delay(0);
      }
    }
  }
  const over = new AbortController();
  await Promise.race([closed, delay(SILENT_MS, null, { signal: over.signal })]);
  over.abort();
  socket.destroy();
}

async function storeWell({ dicomPort }: AttackedGateway, file: Buffer): Promise<void> {
  const node = {
    host: '127.0.0.1',
    port: dicomPort,
    aeTitle: 'SONOGATE',
    callingAeTitle: 'CART',
    timeoutSeconds: 20,
  };
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-probe-'));
  try {
    const path = join(folder, 'probe.dcm');
    await writeFile(path, file);
    await echo(node);
    const [result] = await sendFiles(node, [path]);
    if (result?.outcome !== 'stored') throw new Error(`not stored: ${JSON.stringify(result)}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** UIDs derived from UUIDs are decimal (PS3.5 B.2). */
function uidOf(uuid: string): string {
  return `2.25.${BigInt(`0x${uuid.replaceAll('-', '')}`)}`;
}
