import type { Job, ModelInUse, PipelineEnd, PipelineEvent } from '../../pipelines/contract/job.ts';
import type { InferenceRun } from '../../pipelines/inference/inference-channel.ts';
import type { RefusalOfModel } from '../../pipelines/inference/refusal.ts';

/** What the gateway tells a pipeline process. `module` is the URL of a module that exports `pipeline`. */
export type ToChild =
  | { type: 'load'; module: string; models: Job['models'] }
  | { type: 'run'; module: string; folder: string }
  | { type: 'abort' };

/**
 * What a pipeline process answers; `error` carries what was thrown, for our log only, and whether a full
 * disk was the cause.
 */
export type FromChild =
  | { type: 'event'; event: PipelineEvent }
  | { type: 'end'; end: PipelineEnd }
  /** Answer to `load` of a module that prepares itself. */
  | { type: 'prepared'; models: readonly ModelInUse[] }
  /** A model was called. */
  | { type: 'inference'; run: InferenceRun }
  /** A model does not, or no longer does, run on an accelerator. */
  | { type: 'refusal'; refusal: RefusalOfModel }
  | { type: 'error'; message: string; outOfSpace: boolean };
