import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { Worker } from 'node:worker_threads';
import type { Pipeline } from '../../../../../pipelines/contract/job.ts';

/** Returns `ok` if an action succeeded, or the code of the error that stopped it. */
async function tried(deed: () => unknown): Promise<string> {
  try {
    await deed();
    return 'ok';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
}

/** Starts a thread that does not inherit the options of the process. */
function thread(code: string): Promise<string> {
  return new Promise((resolve) => {
    const worker = new Worker(code, { eval: true, execArgv: [] });
    worker.on('message', resolve);
    worker.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

const IN_THREAD = (port: number) => `
  const { parentPort } = require('node:worker_threads');
  try {
    const socket = require('node:net').connect(${port}, '127.0.0.1');
    socket.on('connect', () => parentPort.postMessage('ok'));
  } catch (error) { parentPort.postMessage(error.code); }`;

/** Attempts what a pipeline must not do, and fails with a list of the outcomes. */
export const pipeline: Pipeline = async (folder) => {
  const { options } = JSON.parse(await readFile(join(folder, 'job.json'), 'utf8'));
  const port = Number(options.behaviour);
  const work = join(folder, '..', '..');
  const data = join(work, '..');
  const builtin = process.getBuiltinModule;
  const deeds: Record<string, () => unknown> = {
    'list the runs': () => readdir(work),
    'read the run of another request': () => readFile(join(work, 'req_2', 'job.json')),
    'write into the run of another request': () => writeFile(join(work, 'req_2', 'x'), '0'),
    'list the data folder': () => readdir(data),
    'read the database': () => readFile(join(data, 'database', 'PG_VERSION')),
    'write the database': () => writeFile(join(data, 'database', 'PG_VERSION'), '0'),
    'change the compiled code of the next process': () =>
      writeFile(join(data, 'compiled', 'pipelines', 'x'), '0'),
    'read the admin socket': () => readFile(join(data, 'admin.sock')),
    'read passwords': () => readFile('/etc/passwd'),
    'read the environment of another': () => readFile(`/proc/${process.ppid}/environ`),
    'start a process': () => builtin('node:child_process').execFileSync('/bin/true'),
    'open a connection': () => connect(port, '127.0.0.1'),
    'open a secure connection': () => connectTls(port, '127.0.0.1'),
    'call the admin socket': () => connect(join(data, 'admin.sock')),
    listen: () => createServer().listen(0),
    'send a datagram': () => createSocket('udp4').send('x', port, '127.0.0.1'),
    'ask for a name': () => lookup('localhost'),
    fetch: () =>
      fetch(`http://127.0.0.1:${port}/`).catch((error: Error) => {
        throw error.cause;
      }),
    'get at the inside': () =>
      (process as never as { binding(name: string): unknown }).binding('tcp_wrap'),
    'do it in a thread': async () => {
      const answer = await thread(IN_THREAD(port));
      if (answer !== 'ok') throw Object.assign(new Error(), { code: answer });
    },
    'be debugged': () => builtin('node:inspector').open(0),
  };
  const became: Record<string, string> = {};
  for (const [name, deed] of Object.entries(deeds)) became[name] = await tried(deed);
  throw new Error(`became ${JSON.stringify(became)}`);
};
