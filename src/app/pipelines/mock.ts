import { buildAnonymousBundle } from '../../../fhir/resources/bundle.ts';
import type { Pipeline } from '../../../pipelines/contract/job.ts';
import { createMockPipeline } from '../../../pipelines/mock/pipeline.ts';
import type { ExtraArtifact } from '../../../pipelines/run/write-artifacts.ts';
import { TEST_DATA } from '../test-data-label.ts';

const testBundle: ExtraArtifact = {
  name: 'fhir-bundle.json',
  mediaType: 'application/fhir+json',
  build(result, subject) {
    const bundle = buildAnonymousBundle(result, subject);
    for (const { resource } of bundle.entry ?? []) {
      if (resource) resource.meta = { ...resource.meta, security: [TEST_DATA] };
    }
    return JSON.stringify(bundle, null, 2);
  },
};

/** The mock pipeline, loaded by a child process of the gateway for requests made with test keys. */
export const pipeline: Pipeline = createMockPipeline([testBundle]);
