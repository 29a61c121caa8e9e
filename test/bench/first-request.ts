/**
 * The first request after a start: `node test/bench/first-request.ts [--requests 3]`. For each
 * endpoint, a new gateway (roles `api` and `worker`, embedded database, default settings) reads the
 * same study several times, the first time immediately after its start; another gateway does so
 * after it has opened its models. Prints the seconds of each request, and the difference between the
 * first and the fastest of the later ones. Writes nothing else.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import { echoStudy } from '../../models/phantom/echo/study.ts';
import { simulateObstetricStudy } from '../../models/phantom/study.ts';
import { commandsOfGateway } from '../../src/operations/socket.ts';
import { serve, siteFile } from '../gateway/serve.ts';
import { siteSettings } from '../gateway/site.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { printTable } from './receivers.ts';

const { values: options } = parseArgs({
  options: { requests: { type: 'string', default: '3' } },
});
const REQUESTS = Number(options.requests);
/** Seconds after a start in which the pipeline process opens its models on a busy machine. */
const OPENING_SECONDS = 20;
const SHOTS = (['transthalamic', 'abdominal', 'femur'] as const).map((of) => ({
  of,
  frames: 1,
  encoding: { compression: 'jpeg', colour: 'grey' } as const,
}));

interface File {
  name: string;
  bytes: Uint8Array;
}

const studies: { name: string; endpoint: string; files: readonly File[] }[] = [
  {
    name: 'obstetric, three images',
    endpoint: 'us/obstetric',
    files: (await simulateObstetricStudy({ seed: 1, gaDays: 200, shots: SHOTS })).files,
  },
  {
    name: 'echo, three clips',
    endpoint: 'us/echo',
    files: (await echoStudy({ seed: 11 })).files.slice(0, 3),
  },
];
const folder = await mkdtemp(join(tmpdir(), 'sonogate-first-request-'));
try {
  const rows: string[][] = [];
  for (const { name, endpoint, files } of studies) {
    const paths: string[] = [];
    for (const file of files) {
      paths.push(join(folder, file.name));
      await writeFile(paths.at(-1) ?? '', file.bytes);
    }
    for (const wait of [0, OPENING_SECONDS]) {
      const seconds = await readAfterStart(endpoint, paths, wait);
      const [first = Number.NaN, ...later] = seconds;
      rows.push([
        name,
        wait === 0 ? 'immediately' : `after ${wait} s`,
        ...seconds.map((each) => each.toFixed(1)),
        (first - Math.min(...later)).toFixed(1),
      ]);
    }
  }
  const heads = Array.from({ length: REQUESTS }, (_, n) => `request ${n + 1}, s`);
  printTable(['study', 'sent', ...heads, 'first minus fastest later, s'], rows);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Returns the seconds of each request of a new gateway. */
async function readAfterStart(
  endpoint: string,
  paths: readonly string[],
  wait: number,
): Promise<number[]> {
  const dataDir = await freshDataDir();
  const settings = siteSettings(
    { dataDir },
    {
      roles: ['api', 'worker'],
      http: { host: '127.0.0.1', port: 0 },
      worker: { openModelsAtStart: true },
    },
  );
  const { url, stop } = await serve(await siteFile(settings));
  try {
    const { key } = await commandsOfGateway(dataDir)('keys.create', { name: 'bench' });
    const client = new Sonogate({ url, key });
    const files = await client.upload(paths);
    await pause(wait * 1000);
    const seconds: number[] = [];
    for (let n = 0; n < REQUESTS; n += 1) {
      const begin = performance.now();
      const { id } = await client.submit(endpoint, { files });
      for await (const _ of client.follow(id)) {
        // Only the end of the stream matters.
      }
      seconds.push((performance.now() - begin) / 1000);
      const { status } = await client.calls.getRequest({ id });
      if (status !== 'succeeded') throw new Error(`the request ended as ${status}`);
    }
    return seconds;
  } finally {
    await stop('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  }
}
