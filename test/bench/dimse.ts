/**
 * Reception of one 209 MB multi-frame object: `node test/bench/dimse.ts`. Sonogate (with fsync and
 * database row), DCMTK `storescp +B` and Orthanc take turns in one run, with the same sender.
 * Prints a table and writes nothing else. Memory is the proportional set size of the process tree,
 * minus its idle value. C-ECHO is timed on a separate association while the object arrives.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { encodeCommandSet } from '../../dimse/network/message.ts';
import { encodeData } from '../../dimse/network/pdu.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { associateRequest, RawPeer, VERIFICATION_CONTEXT } from '../dimse/network/raw-peer.ts';
import { dcmtk, startStorescp } from '../peers/dcmtk.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { startOrthanc } from '../peers/orthanc.ts';

const FRAMES = 145;
const FRAME_BYTES = 600 * 800 * 3;
const ROUNDS = 3;
const SAMPLE_MILLISECONDS = 25;
const ECHO_PAUSE_MILLISECONDS = 10;
const SETTLE_AT_MOST_MILLISECONDS = 20_000;
const STEADY_MILLISECONDS = 2000;
const STEADY_MEGABYTES = 5;

interface Receiver {
  name: string;
  aeTitle: string;
  port: number;
  pid: number;
  stop(): Promise<void>;
}

interface Round {
  seconds: number;
  growthMegabytes: number;
  echoes: number[];
}

const folder = await mkdtemp(join(tmpdir(), 'sonogate-bench-'));
try {
  const objects: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) objects.push(await writeObject(round));
  const rows: { name: string; rounds: Round[] }[] = [];
  for (const start of [startOurs, startDcmtk, startOrthancReceiver]) {
    const receiver = await start();
    if (!receiver) continue;
    await settle(receiver.pid);
    const rounds: Round[] = [];
    for (const object of objects) rounds.push(await measure(receiver, object));
    await receiver.stop();
    rows.push({ name: receiver.name, rounds });
  }
  print(rows);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function writeObject(round: number): Promise<string> {
  const path = join(folder, `object-${round}.dcm`);
  const bytes = FRAMES * FRAME_BYTES;
  const head = dicomFile({
    sopInstanceUid: `1.2.840.7.${round}`,
    sopClassUid: '1.2.840.10008.5.1.4.1.1.3.1',
    pixels: Buffer.alloc(0),
  });
  head.writeUInt32LE(bytes, head.length - 4);
  const file = await open(path, 'w');
  await file.writeFile(head);
  const frame = Buffer.alloc(FRAME_BYTES, 0x5a ^ round);
  for (let index = 0; index < FRAMES; index += 1) await file.writeFile(frame);
  await file.close();
  return path;
}

async function startOurs(): Promise<Receiver> {
  const dataDir = await freshDataDir();
  const script = new URL('../dimse/dimse-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  return {
    name: 'Sonogate (fsync, database row)',
    aeTitle: 'SONOGATE',
    port: Number(line.split(' ')[1]),
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function startDcmtk(): Promise<Receiver> {
  const program = await startStorescp(folder, ['--fork']);
  return { name: 'DCMTK storescp +B', aeTitle: 'STORESCP', ...program };
}

async function startOrthancReceiver(): Promise<Receiver | null> {
  const orthanc = await startOrthanc();
  return (
    orthanc && {
      name: 'Orthanc',
      aeTitle: orthanc.aeTitle,
      port: orthanc.dicomPort,
      // Receivers run one after the other, so this is the only child.
      pid: (await childrenOf(process.pid))[0] ?? 0,
      stop: () => orthanc.stop(),
    }
  );
}

async function measure({ aeTitle, port, pid }: Receiver, object: string): Promise<Round> {
  const peer = new RawPeer(port);
  await peer.associate(associateRequest({ calledAeTitle: aeTitle }));
  const idle = await treeMegabytes(pid);
  let peak = idle;
  let running = true;
  const echoes: number[] = [];
  const sampler = (async () => {
    while (running) {
      peak = Math.max(peak, await treeMegabytes(pid));
      await pause(SAMPLE_MILLISECONDS);
    }
  })();
  const echoer = (async () => {
    while (running) {
      const start = performance.now();
      if (!(await echoOnce(peer))) throw new Error('the C-ECHO was not answered');
      echoes.push(performance.now() - start);
      await pause(ECHO_PAUSE_MILLISECONDS);
    }
  })();
  const start = performance.now();
  const args = ['-R', '-xe', '-pdu', '131072', '-aec', aeTitle, '127.0.0.1', String(port), object];
  const { exitCode, output } = await dcmtk('storescu', args);
  const seconds = (performance.now() - start) / 1000;
  running = false;
  await Promise.all([sampler, echoer]);
  peer.socket.destroy();
  if (exitCode !== 0) throw new Error(`storescu to ${aeTitle}: ${output}`);
  return { seconds, growthMegabytes: peak - idle, echoes };
}

/**
 * Waits until startup is over: compiling the database's WebAssembly occupies memory for several
 * seconds.
 */
async function settle(pid: number): Promise<void> {
  let steadySince = performance.now();
  let last = await treeMegabytes(pid);
  const deadline = performance.now() + SETTLE_AT_MOST_MILLISECONDS;
  while (performance.now() < deadline && performance.now() - steadySince < STEADY_MILLISECONDS) {
    await pause(SAMPLE_MILLISECONDS);
    const now = await treeMegabytes(pid);
    if (Math.abs(now - last) > STEADY_MEGABYTES) {
      steadySince = performance.now();
      last = now;
    }
  }
}

async function echoOnce(peer: RawPeer): Promise<boolean> {
  const echo = encodeCommandSet({
    commandField: 0x0030,
    hasDataSet: false,
    messageId: 1,
    affectedSopClassUid: '1.2.840.10008.1.1',
  });
  peer.send(...encodeData(VERIFICATION_CONTEXT, echo, { command: true, last: true }));
  return (await peer.next())?.[0] === 0x04;
}

/** Returns the proportional set size of a process and its children; 0 if it has ended. */
async function treeMegabytes(pid: number): Promise<number> {
  const own = /^Pss:\s+(\d+) kB/m.exec(await proc(`${pid}/smaps_rollup`));
  const below = await Promise.all((await childrenOf(pid)).map(treeMegabytes));
  return below.reduce((sum, megabytes) => sum + megabytes, Number(own?.[1] ?? 0) / 1024);
}

async function childrenOf(pid: number): Promise<number[]> {
  const pids = await proc(`${pid}/task/${pid}/children`);
  return pids.split(' ').filter(Boolean).map(Number);
}

function proc(path: string): Promise<string> {
  return readFile(`/proc/${path}`, 'utf8').catch(() => '');
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function print(rows: readonly { name: string; rounds: Round[] }[]): void {
  const best = rows.map(({ rounds }) => Math.min(...rounds.map(({ seconds }) => seconds)));
  const reference = best[rows.findIndex(({ name }) => name.startsWith('DCMTK'))] ?? Number.NaN;
  const lines = rows.map(({ name, rounds }, at) => {
    const seconds = best[at] ?? Number.NaN;
    const echoes = rounds.flatMap((round) => round.echoes);
    const growth = Math.max(...rounds.map(({ growthMegabytes }) => growthMegabytes));
    return [
      name,
      seconds.toFixed(2),
      median(rounds.map((round) => round.seconds)).toFixed(2),
      (seconds / reference).toFixed(1),
      growth.toFixed(0),
      median(echoes).toFixed(1),
      Math.max(...echoes).toFixed(1),
    ];
  });
  const head = [
    'receiver',
    'best s',
    'median s',
    'times storescp',
    'memory growth MB',
    'C-ECHO median ms',
    'C-ECHO longest ms',
  ];
  const table = [head, head.map(() => '---'), ...lines];
  process.stdout.write(`${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
}
