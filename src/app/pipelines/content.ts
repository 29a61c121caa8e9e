import { createContentPipeline } from '../../../pipelines/content/pipeline.ts';
import type { Pipeline } from '../../../pipelines/contract/job.ts';
import { openFetalModels, openHeartModels } from './open-models.ts';

/** Classifies the images of a study; loaded by a child process of the gateway. */
export const pipeline: Pipeline = createContentPipeline({
  openPlanes: openFetalModels,
  openViews: openHeartModels,
});
