import type { Pipeline } from '../../../pipelines/contract/job.ts';
import { translatePipeline } from '../../../pipelines/translate/pipeline.ts';

/** Translates the reports of ultrasound machines; loaded by a child process of the gateway. */
export const pipeline: Pipeline = translatePipeline;
