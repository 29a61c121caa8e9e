import type { PipelineEnd, PipelineEvent } from '../../pipelines/contract/job.ts';

/** What the gateway tells a pipeline process. `module` is the URL of a module that exports `pipeline`. */
export type ToChild =
  | { type: 'load'; module: string }
  | { type: 'run'; module: string; folder: string }
  | { type: 'abort' };

/** What a pipeline process answers; `error` carries what was thrown, for our log only. */
export type FromChild =
  | { type: 'event'; event: PipelineEvent }
  | { type: 'end'; end: PipelineEnd }
  | { type: 'error'; message: string };
