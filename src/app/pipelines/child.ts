import { subscribe } from 'node:diagnostics_channel';
import { getPriority, setPriority } from 'node:os';
import type { Job, Pipeline, Prepare } from '../../../pipelines/contract/job.ts';
import {
  ACCELERATOR_REFUSAL,
  type AcceleratorRefusalOfModel,
} from '../../../pipelines/inference/accelerators.ts';
import { INFERENCE, type InferenceRun } from '../../../pipelines/inference/inference-channel.ts';
import { READING, type Reading } from '../../../pipelines/input/reading.ts';
import { isOutOfSpace } from '../../platform/errors/file-system.ts';
// Imported before everything else: the inference threads must start before `forbidThreads` is
// called.
import './inference-threads.ts';
import type { FromChild, ToChild } from '../../core/queue/pipeline-process.ts';
import { forbidThreads } from './confinement.ts';

/**
 * Entry point of a pipeline process. It has no access to the database, the queue or the network: it
 * receives a module and a folder, and reports events and an outcome. It ends when its parent ends.
 */
let running: AbortController | null = null;

function send(message: FromChild): void {
  process.send?.(message);
}

async function load(module: string): Promise<Pipeline> {
  const { pipeline }: { pipeline?: Pipeline } = await import(module);
  if (typeof pipeline !== 'function') throw new Error(`${module} exports no "pipeline"`);
  return pipeline;
}

async function prepare(module: string, settings: Job['models']): Promise<void> {
  const loaded: { prepare?: Prepare } = await import(module);
  if (loaded.prepare) send({ type: 'prepared', models: await loaded.prepare(settings) });
}

async function run(module: string, folder: string): Promise<void> {
  const controller = new AbortController();
  running = controller;
  try {
    const pipeline = await load(module);
    const report = (event: Parameters<Parameters<Pipeline>[1]>[0]) =>
      send({ type: 'event', event });
    send({ type: 'end', end: await pipeline(folder, report, controller.signal) });
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    send({ type: 'error', message, outOfSpace: isOutOfSpace(error) });
  } finally {
    running = null;
  }
}

subscribe(INFERENCE.name, (run) => send({ type: 'inference', run: run as InferenceRun }));
subscribe(ACCELERATOR_REFUSAL.name, (told) =>
  send({ type: 'refusal', refusal: told as AcceleratorRefusalOfModel }),
);
subscribe(READING.name, (reading) => send({ type: 'reading', reading: reading as Reading }));
process.on('message', (message: ToChild) => {
  switch (message.type) {
    case 'load':
      // An error is ignored here: if a module cannot be loaded or prepared, the run that needs it
      // reports the error.
      prepare(message.module, message.models).catch(() => {});
      break;
    case 'run':
      void run(message.module, message.folder);
      break;
    case 'abort':
      running?.abort();
      break;
    case 'compile':
      // The process exits here, because Node.js writes its compile cache only on exit.
      Promise.all(message.modules.map(load)).then(
        () => process.exit(0),
        () => process.exit(1),
      );
  }
});
process.on('disconnect', () => process.exit(0));
forbidThreads();

/**
 * Amount added to the nice value of a low-priority process. While one other process competes for
 * the core, a process with this value gets a quarter of it (sched(7)). A higher value would delay a
 * mock run by minutes on a busy host.
 */
const NICER = 5;

// The priority is lowered only now: a low-priority process may take minutes to start, and until
// then it could not detect that its gateway has ended.
if (process.env.SONOGATE_YIELDS) setPriority(Math.min(getPriority() + NICER, 19));
