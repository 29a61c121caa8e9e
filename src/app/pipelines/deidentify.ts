import type { Pipeline } from '../../../pipelines/contract/job.ts';
import { deidentifyPipeline } from '../../../pipelines/deidentify/pipeline.ts';

/** De-identifies one object; loaded by a child process of the gateway. */
export const pipeline: Pipeline = deidentifyPipeline;
