import { fhirBundleArtifact } from '../fhir/bundle-artifact.ts';
import { writeArtifacts } from '../pipelines/artifacts/write-artifacts.ts';
import type { Pipeline } from '../pipelines/contract/job.ts';
import { openLocator } from '../pipelines/obstetric/locate/open-locator.ts';
import { createObstetricPipeline } from '../pipelines/obstetric/pipeline.ts';

/**
 * The obstetric pipeline as a child process of the gateway and `npx sonogate interpret` load it.
 * It is put together here, beside main.ts, because `pipelines/` knows nothing of `fhir/`.
 */
export const pipeline: Pipeline = createObstetricPipeline({
  openLocator,
  writeArtifacts,
  extra: [fhirBundleArtifact],
});
