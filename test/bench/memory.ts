/**
 * Memory of each role at rest: `node test/bench/memory.ts`. Starts a whole gateway with each role
 * alone and then with all of them, on the embedded database and, where PostgreSQL is installed, on
 * a server. Prints the startup time, the processor time used during startup, and the resident
 * memory ten seconds later. A worker's warm pipeline process has a separate column.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { serve, siteFile } from '../gateway/serve.ts';
import { siteSettings } from '../gateway/site.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { startPostgres } from '../peers/postgres.ts';
import { printTable, processorSeconds, residentMegabytes } from './receivers.ts';

const ROLES = [['dimse'], ['api'], ['worker'], ['delivery'], undefined];
const SETTLED_MS = 10_000;

async function measure(roles: string[] | undefined, databaseUrl: string | undefined) {
  const dataDir = await freshDataDir();
  const config = await siteFile(
    siteSettings({ dataDir }, { databaseUrl, ...(roles && { roles }) }),
  );
  const begin = performance.now();
  const served = await serve(config);
  const seconds = (performance.now() - begin) / 1000;
  const processor = await processorSeconds(served.pid);
  await pause(SETTLED_MS);
  const own = await residentMegabytes(served.pid);
  const children = await Promise.all((await childrenOf(served.pid)).map(residentMegabytes));
  await served.stop('SIGTERM');
  await rm(dataDir, { recursive: true, force: true });
  return [
    roles?.join(', ') ?? 'all',
    seconds.toFixed(1),
    processor.toFixed(1),
    own.toFixed(0),
    children.map((megabytes) => megabytes.toFixed(0)).join(', ') || '–',
  ];
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')),
  );
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

const head = ['started, s', 'processor, s', 'resident MB', 'of its pipeline process'];
const postgres = await startPostgres();
try {
  for (const [name, databaseUrl] of [
    ['embedded database', undefined],
    ...(postgres ? [['PostgreSQL', await postgres.createDatabase()] as const] : []),
  ] as const) {
    const rows: string[][] = [];
    for (const roles of ROLES) rows.push(await measure(roles, databaseUrl));
    printTable([name, ...head], rows);
    process.stdout.write('\n');
  }
} finally {
  await postgres?.stop();
}
