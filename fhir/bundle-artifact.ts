import type { Subject } from '../pipelines/artifacts/subject.ts';
import type { Result } from '../pipelines/result/envelope.ts';
import { buildAnonymousBundle } from './bundle.ts';

/** The artifact `fhir-bundle.json` of a request, for the writer of artifacts. */
export const fhirBundleArtifact = {
  name: 'fhir-bundle.json',
  mediaType: 'application/fhir+json',
  build: (result: Result, subject: Subject): string =>
    JSON.stringify(buildAnonymousBundle(result, subject), null, 2),
};
