import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { TEST_FLAGS } from '../gateway/serve.ts';
import { freshDataDir } from '../peers/embedded.ts';
import type { Footprint, LoopDelay, Question, Started } from './gateway-process.ts';

const SCRIPT = fileURLToPath(new URL('./gateway-process.ts', import.meta.url));

export interface AttackedGateway extends Started {
  dataDir: string;
  footprint(): Promise<Footprint>;
  loopDelay(): Promise<LoopDelay>;
  /** Null while the gateway runs; otherwise how it ended, with the end of its output. */
  ended(): string | null;
  stop(): Promise<void>;
}

export async function startAttackedGateway(): Promise<AttackedGateway> {
  const dataDir = await freshDataDir();
  const child = fork(SCRIPT, [dataDir], {
    execArgv: [...TEST_FLAGS, '--expose-gc'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const written: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => {
    written.push(chunk.toString());
    if (written.length > 50) written.shift();
  });
  const exited = once(child, 'exit');
  const ended = () =>
    child.exitCode === null && child.signalCode === null
      ? null
      : `ended with ${child.exitCode ?? child.signalCode}\n${written.join('')}`;
  const answer = async <T>(): Promise<T> => {
    const first = await Promise.race([once(child, 'message'), exited.then(() => null)]);
    if (first === null) throw new Error(`the gateway ${ended()}`);
    return first[0] as T;
  };
  const ask = <T>(question: Question) => {
    child.send(question);
    return answer<T>();
  };
  const started = await answer<Started>();
  return {
    ...started,
    dataDir,
    ended,
    footprint: () => ask<Footprint>('footprint'),
    loopDelay: () => ask<LoopDelay>('loop-delay'),
    async stop() {
      if (ended() === null) child.kill('SIGTERM');
      await exited;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
