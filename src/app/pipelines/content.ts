import { createContentPipeline } from '../../../pipelines/content/pipeline.ts';
import type { Pipeline } from '../../../pipelines/contract/job.ts';
import { openFetalModels, openHeartModels } from './open-models.ts';

/** What the images of a study show, as a child process of the gateway loads it. */
export const pipeline: Pipeline = createContentPipeline({
  openPlanes: openFetalModels,
  openViews: openHeartModels,
});
