/**
 * Effect of requests made with test keys on a live study: `node test/bench/mock-lane.ts [--calls
 * 1000] [--rounds 1]`. A whole gateway on its embedded database, with the roles `api` and `worker`,
 * reads the same live study (three biometry planes, uploaded with a live key) alternately alone and
 * while all requests made with a test key are queued or running. Prints both times with their
 * ratio, the time of one mock result by itself, and how many mock requests finished in the
 * meantime. Writes nothing else.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import { simulateObstetricStudy } from '../../models/phantom/study.ts';
import { commandsOfGateway } from '../../src/operations/socket.ts';
import { type Served, serve, siteFile } from '../gateway/serve.ts';
import { siteSettings } from '../gateway/site.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { printTable } from './receivers.ts';

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '1' },
  },
});
const CALLS = Number(options.calls);
const ROUNDS = Number(options.rounds);
const ALONE = 20;
const SHOTS = (['transthalamic', 'abdominal', 'femur'] as const).map((of) => ({
  of,
  frames: 1,
  encoding: { compression: 'jpeg', colour: 'grey' } as const,
}));
const UPLOADED_AT_ONCE = 8;

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);

/** Returns the milliseconds from the call of `submit` until its request has ended. */
async function timed(client: Sonogate, submit: () => Promise<{ id: string }>): Promise<number> {
  const begin = performance.now();
  const { id } = await submit();
  for await (const _ of client.follow(id)) {
    // Only the end of the stream matters.
  }
  const elapsed = performance.now() - begin;
  const { status } = await client.calls.getRequest({ id });
  if (status !== 'succeeded') throw new Error(`the request ended as ${status}`);
  return elapsed;
}

/** Submits all requests of the test key. Resolves to their ids as soon as they are accepted. */
async function flood(client: Sonogate, file: string): Promise<string[]> {
  const ids: string[] = [];
  const waiting = Array.from({ length: CALLS }).keys();
  const work = async () => {
    for (const _ of waiting) {
      ids.push((await client.submit('us/obstetric', { files: [file] })).id);
    }
  };
  await Promise.all(Array.from({ length: UPLOADED_AT_ONCE }, work));
  return ids;
}

async function endedOf(client: Sonogate, ids: readonly string[]): Promise<number> {
  let ended = 0;
  for (const id of ids)
    if ((await client.calls.getRequest({ id })).status === 'succeeded') ended += 1;
  return ended;
}

const cancelAll = async (client: Sonogate, ids: readonly string[]) => {
  for (const id of ids) await client.cancel(id).catch(() => {});
};

const dataDir = await freshDataDir();
const folder = await mkdtemp(join(tmpdir(), 'sonogate-mock-lane-'));
let served: Served | undefined;
try {
  const paths: string[] = [];
  const { files } = await simulateObstetricStudy({ seed: 1, gaDays: 200, shots: SHOTS });
  for (const { name, bytes } of files) {
    paths.push(join(folder, name));
    await writeFile(paths.at(-1) ?? '', bytes);
  }
  const settings = siteSettings(
    { dataDir },
    {
      roles: ['api', 'worker'],
      http: { host: '127.0.0.1', port: 0, callsPerMinute: 1_000_000 },
    },
  );
  served = await serve(await siteFile(settings), { SONOGATE_LOG_LEVEL: 'info' });
  const { url } = served;
  const run = commandsOfGateway(dataDir);
  const clientOf = async (test: boolean) =>
    new Sonogate({ url, key: (await run('keys.create', { name: 'bench', test })).key });
  const [live, test] = [await clientOf(false), await clientOf(true)];
  const study = await live.upload(paths);
  const [scan = ''] = await test.upload(paths.slice(0, 1));
  const readStudy = () => timed(live, () => live.submit('us/obstetric', { files: study }));
  const mock = () => timed(test, () => test.submit('us/obstetric', { files: [scan] }));

  // The first live run and the first mock run open the models and warm up the code.
  await readStudy();
  await mock();
  const mocks: number[] = [];
  for (let call = 0; call < ALONE; call++) mocks.push(await mock());
  const rows: string[][] = [];
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await readStudy();
    const calls = await flood(test, scan);
    const before = await endedOf(test, calls);
    const begin = performance.now();
    const beside = await readStudy();
    const during = performance.now() - begin;
    const ended = (await endedOf(test, calls)) - before;
    // After the last round the gateway is killed, so nothing needs to be canceled.
    if (round + 1 < ROUNDS) await cancelAll(test, calls);
    ratios.push(beside / alone);
    rows.push([
      seconds(alone),
      seconds(beside),
      (beside / alone).toFixed(2),
      `${ended} of ${calls.length - before} in ${seconds(during)} s`,
      (loadavg()[0] ?? 0).toFixed(1),
    ]);
  }
  printTable(['live alone, s', 'beside mocks, s', 'ratio', 'mock calls that ended', 'load'], rows);
  process.stdout.write(
    `median ratio ${median(ratios).toFixed(2)}; one mock result: median ${seconds(median(mocks))} s, longest ${seconds(Math.max(...mocks))} s of ${ALONE}\n`,
  );
} finally {
  await served?.stop('SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}
