import { fhirBundleArtifact } from '../../../fhir/resources/bundle.ts';
import type { Pipeline, Prepare } from '../../../pipelines/contract/job.ts';
import { createEchoPipeline } from '../../../pipelines/echo/pipeline.ts';
import { writeArtifacts, writeEarlyPreviews } from '../../../pipelines/run/write-artifacts.ts';
import { openHeartModels } from './open-models.ts';

/**
 * The echo pipeline, loaded by a child process of the gateway and by `npx sonogate interpret`. It
 * is assembled here because `pipelines/` must not import `fhir/`.
 */
export const pipeline: Pipeline = createEchoPipeline({
  openLocator: openHeartModels,
  writeArtifacts,
  writeEarlyPreviews,
  extra: [fhirBundleArtifact],
});

/**
 * Opens the models before the first study arrives, and returns the provider that each model runs
 * on.
 */
export const prepare: Prepare = async (settings) => (await openHeartModels(settings)).models;
