import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { decodeFileMeta } from '../../pipelines/dicom/part10.ts';
import { openDatabase } from '../../src/platform/database/open.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { TEST_FLAGS } from '../gateway/serve.ts';
import { freshDataDir } from '../peers/embedded.ts';

const STUDIES = 4;
/** `SONOGATE_KILLS=100` kills more often, and sends proportionally more objects. */
const KILLS = Number(process.env.SONOGATE_KILLS ?? 6);
const OBJECTS_PER_STUDY = 5 * KILLS;
/** Longer than the quiet time, so that the last run of the process finds every study complete. */
const CLOCK_OFFSET_SECONDS = 700;

let dataDir = '';
let folder = '';
const paths: string[] = [];

beforeAll(async () => {
  dataDir = await freshDataDir();
  folder = await mkdtemp(join(tmpdir(), 'sonogate-kill-'));
  for (let index = 0; index < STUDIES * OBJECTS_PER_STUDY; index += 1) {
    const studyInstanceUid = `1.2.840.1.${1 + (index % STUDIES)}`;
    const sopInstanceUid = `${studyInstanceUid}.1.${index}`;
    const pixels = Buffer.alloc(20_000, index);
    const path = join(folder, `${sopInstanceUid}.dcm`);
    await writeFile(path, dicomFile({ sopInstanceUid, studyInstanceUid, pixels }));
    paths.push(path);
  }
});
afterAll(async () => {
  await rm(dataDir, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
});

interface Run {
  child: ChildProcess;
  port: number;
  submitted: string[];
}

async function start(offsetSeconds: number): Promise<Run> {
  const script = new URL('../dimse/dimse-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [...TEST_FLAGS, script, dataDir, String(offsetSeconds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const submitted: string[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [word, value = ''] = line.split(' ');
      if (word === 'listening') resolve(Number(value));
      if (word === 'submitted') submitted.push(value);
    });
  });
  return { child, port, submitted };
}

async function stop({ child }: Run, signal: NodeJS.Signals): Promise<void> {
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

const nodeAt = (port: number) => ({
  host: '127.0.0.1',
  port,
  aeTitle: 'SONOGATE',
  callingAeTitle: 'CART',
  timeoutSeconds: 30,
});

test('kill -9 at many moments of a transfer neither loses nor duplicates an object answered with 0000H', {
  timeout: 30_000 * KILLS,
}, async () => {
  const acknowledged = new Set<string>();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const run = await start(0);
    const answersBeforeKill = randomInt(1, 19);
    let answers = 0;
    let killed: Promise<void> | null = null;
    await sendFiles(
      nodeAt(run.port),
      paths.filter((path) => !acknowledged.has(path)),
      {
        onResult(path, { outcome }) {
          if (outcome === 'stored') acknowledged.add(path);
          answers += 1;
          // Kills a few milliseconds into the next object, wherever its processing has got to by
          // then.
          if (answers === answersBeforeKill) {
            killed = new Promise((resolve) => setTimeout(resolve, randomInt(0, 12))).then(() =>
              stop(run, 'SIGKILL'),
            );
          }
        },
      },
    );
    expect(killed, `kill ${kill} came while objects were sent`).not.toBeNull();
    await killed;
  }
  expect(acknowledged.size).toBeLessThan(paths.length);

  const last = await start(0);
  const rest = paths.filter((path) => !acknowledged.has(path));
  const results = await sendFiles(nodeAt(last.port), rest);
  expect(results.every(({ outcome }) => outcome === 'stored')).toBe(true);
  await stop(last, 'SIGTERM');

  const afterwards = await start(CLOCK_OFFSET_SECONDS);
  await expect.poll(() => afterwards.submitted.length, { timeout: 30_000 }).toBe(STUDIES);
  await stop(afterwards, 'SIGTERM');
  await expectEveryStudy(afterwards.submitted);
});

async function expectEveryStudy(submitted: readonly string[]): Promise<void> {
  const database = await openDatabase({ dataDir, logger: silentLogger });
  try {
    const { rows: studies } = await database.query<{ key: string }>(
      "SELECT 'dicom:' || id || ':1' AS key FROM studies",
    );
    expect(submitted.toSorted()).toEqual(studies.map(({ key }) => key).sort());
    const { rows } = await database.query<{ sop_instance_uid: string; path: string }>(
      'SELECT sop_instance_uid, path FROM instances',
    );
    expect(rows).toHaveLength(paths.length);
    const stored = await readdir(join(dataDir, 'intake'), { recursive: true });
    expect(stored.filter((name) => /\.(dcm|part)$/.test(name))).toHaveLength(paths.length);
    const byUid = new Map(rows.map((row) => [row.sop_instance_uid, row.path]));
    for (const path of paths) {
      const sent = await readFile(path);
      const stored = await readFile(
        join(dataDir, byUid.get(decodeFileMeta(sent).meta.sopInstanceUid) ?? ''),
      );
      expect(dataSetOf(stored).equals(dataSetOf(sent))).toBe(true);
    }
  } finally {
    await database.close();
  }
}

function dataSetOf(file: Buffer): Buffer {
  return file.subarray(decodeFileMeta(file).dataSetOffset);
}
