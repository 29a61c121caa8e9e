import type { Job, ModelInUse } from '../../pipelines/contract/job.ts';
import type { InferenceRun } from '../../pipelines/inference/inference-channel.ts';
import type { RefusalOfModel } from '../../pipelines/inference/refusal.ts';
import type { Logger } from '../logging/logger.ts';
import {
  PipelineProcess,
  type ProcessLimits,
  type Run,
  type RunOutcome,
} from './pipeline-process.ts';

/** Keeps processes warm between runs; as many as run at a time. */
export interface PipelinePool {
  run(run: Run): Promise<RunOutcome>;
  /** Starts a process ahead of the first run; `prepared` is told of the models it opened. */
  warmUp(
    module: string,
    models: Job['models'],
    prepared: (models: readonly ModelInUse[]) => void,
  ): void;
  close(): Promise<void>;
}

/** What is told of the models of any of the processes. */
export interface ModelListeners {
  /** A model was called. */
  onInference?(run: InferenceRun): void;
  /** A model does not, or no longer does, run on an accelerator. */
  onRefusal?(refusal: RefusalOfModel): void;
}

export function createPipelinePool(
  limits: ProcessLimits,
  logger: Logger,
  { onInference, onRefusal }: ModelListeners = {},
): PipelinePool {
  const idle: PipelineProcess[] = [];
  const all = new Set<PipelineProcess>();

  const start = () => {
    for (const each of all) if (!each.alive) all.delete(each);
    const started = new PipelineProcess(limits, logger);
    if (onInference) started.onInference(onInference);
    if (onRefusal) started.onRefusal(onRefusal);
    all.add(started);
    return started;
  };
  const take = () => {
    for (let next = idle.pop(); next; next = idle.pop()) if (next.alive) return next;
    return start();
  };

  return {
    run: async (run) => {
      const taken = take();
      const outcome = await taken.run(run);
      if (taken.alive) idle.push(taken);
      return outcome;
    },
    warmUp: (module, models, prepared) => {
      const started = start();
      started.load(module, models, prepared);
      idle.push(started);
    },
    close: async () => {
      await Promise.all([...all].map((each) => each.kill()));
    },
  };
}
