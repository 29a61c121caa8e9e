import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { examine } from './examine.ts';
import { mutated } from './mutate.ts';
import { filesOf, generatedSamples, hostileSamples } from './samples.ts';
import { videoSamples } from './video-samples.ts';

/**
 * A task from the parent: one mutation of one sample. The mutated bytes are stored in `keep` before
 * they are read.
 */
export interface Task {
  sample: number;
  other: number;
  seed: number;
}

export interface Answer {
  name: string;
  error: string | null;
  /** Processor time, since it does not depend on the machine's load. */
  cpuMs: number;
  /** The mutated bytes that broke the reader, in base64. */
  bytes?: string;
}

const [data = '', mostBytes = '0', lastInput = '', only = ''] = process.argv.slice(2);
const samples = [
  ...(await generatedSamples()),
  ...(await videoSamples()),
  ...hostileSamples(),
  ...(await filesOf(data, Number(mostBytes))),
].filter(({ name }) => name.includes(only));
const folder = await mkdtemp(join(tmpdir(), 'fuzz-'));

async function answer({ sample, other, seed }: Task): Promise<Answer> {
  const chosen = samples[sample % samples.length];
  const lender = samples[other % samples.length];
  if (!chosen || !lender) throw new Error('no samples');
  const { name } = chosen;
  const bytes = mutated(chosen.bytes, lender.bytes, seed);
  // After a native crash there is no reply, but the parent finds the input in this file.
  await writeFile(lastInput, bytes);
  const before = process.cpuUsage();
  const cpuMs = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  try {
    await examine(name, bytes, join(folder, String(seed)));
    return { name, error: null, cpuMs: cpuMs() };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { name, error: text, cpuMs: cpuMs(), bytes: bytes.toString('base64') };
  }
}

process.on('message', (task: Task) => {
  void answer(task).then((reply) => process.send?.(reply));
});
process.send?.({ ready: samples.length });
