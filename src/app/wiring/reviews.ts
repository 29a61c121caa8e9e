import type { Config } from '../../../config/schema.ts';
import { fhirBundleArtifact } from '../../../fhir/resources/bundle.ts';
import type { Change } from '../../../pipelines/contract/review.ts';
import type { EchoReviewed } from '../../../pipelines/echo/review.ts';
import { INTERGROWTH_CURVES } from '../../../pipelines/obstetric/growth/curves.ts';
import type { ObstetricReviewed } from '../../../pipelines/obstetric/review.ts';
import { effectsOf } from '../../../pipelines/run/review-effects.ts';
import { subjectOf } from '../../../pipelines/run/review-history.ts';
import { ChangeRefused, type EndpointRules } from '../../../pipelines/run/review-rules.ts';
import type { writeSignedDocuments } from '../../../pipelines/run/signed-documents.ts';
import { parseEvidence } from '../../../pipelines/run/stored-evidence.ts';
import type { anonymousSubject } from '../../../pipelines/run/study-pipeline.ts';
import type { BlobStore } from '../../core/files/blob-store.ts';
import type { RequestCore } from '../../core/requests/core.ts';
import type { Endpoint, StudyReview } from '../../core/requests/endpoint.ts';
import { withdrawResult } from '../../core/requests/withdrawal.ts';
import { Reviews } from '../../core/reviews/reviews.ts';
import { createStoreSignature } from '../../core/reviews/store-signature.ts';
import type { PooledDatabase } from '../../platform/database/pooled.ts';
import { InvalidInputError, jsonPointer } from '../../platform/errors/problem.ts';

/**
 * What a review needs from the evidence on which a result is based, in the same form for every
 * endpoint.
 */
interface Reviewable {
  rules: EndpointRules;
  interpret: StudyReview['interpret'];
  study: Parameters<typeof anonymousSubject>[1];
  context: Parameters<typeof anonymousSubject>[2];
  curves: Parameters<typeof writeSignedDocuments>[0]['curves'];
}

type Open = (evidence: string) => Promise<Reviewable>;

// The sections of an endpoint are loaded with the first review: a gateway without reviews loads
// them only in its pipeline processes.
const openObstetric: Open = async (text) => {
  const { interpretReviewed, reviewRules } = await import('../../../pipelines/obstetric/review.ts');
  const evidence = parseEvidence<ObstetricReviewed>(text);
  const { study, options } = evidence.given;
  const dating = options.dating
    ? { gaDays: options.dating.ga_days, basis: options.dating.basis }
    : null;
  return {
    rules: reviewRules(evidence),
    interpret: (effects, at) => interpretReviewed(evidence, effects, at),
    study,
    context: { dating, indication: evidence.indication },
    curves: INTERGROWTH_CURVES,
  };
};

const openEcho: Open = async (text) => {
  const { interpretReviewed, reviewRules } = await import('../../../pipelines/echo/review.ts');
  const evidence = parseEvidence<EchoReviewed>(text);
  const { study } = evidence.gathered;
  return {
    rules: reviewRules(evidence),
    interpret: (effects, at) => interpretReviewed(evidence, effects, at),
    study,
    context: { dating: null, indication: evidence.indication },
    curves: [],
  };
};

const REVIEWS: Readonly<Record<string, Open>> = {
  'us/obstetric/interpret': openObstetric,
  'us/echo/interpret': openEcho,
};

/**
 * Converts a rejected change into an API error. The path in the error is relative to the change.
 */
function orInvalid<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ChangeRefused)) throw error;
    throw new InvalidInputError([{ pointer: jsonPointer(error.path), detail: error.message }]);
  }
}

function studyReview(
  { rules, interpret, study, context, curves }: Reviewable,
  paper: Config['report']['paper'],
): StudyReview {
  return {
    interpret,
    effectsOf: (change, state) => orInvalid(() => effectsOf(change, state, rules)),
    subjectOf: (change: Change, state) => orInvalid(() => subjectOf(change, state)),
    sign: async (result, { requestId, ...into }) => {
      // The code that renders images and the PDF is loaded for the first signature.
      const pipeline = await import('../../../pipelines/run/study-pipeline.ts');
      const signed = await import('../../../pipelines/run/signed-documents.ts');
      return signed.writeSignedDocuments({
        ...into,
        result,
        subject: pipeline.anonymousSubject(requestId, study, context),
        curves,
        paper,
        extra: [fhirBundleArtifact],
      });
    },
  };
}

/** Adds a review to each endpoint that supports one. */
export function withReviews(
  endpoints: readonly Endpoint[],
  { report }: Pick<Config, 'report'>,
): Endpoint[] {
  return endpoints.map((endpoint) => {
    const open = REVIEWS[endpoint.id];
    if (!open) return endpoint;
    return {
      ...endpoint,
      review: async (evidence) => studyReview(await open(evidence), report.paper),
    };
  });
}

export function reviewsOf(
  config: Config,
  parts: {
    database: PooledDatabase;
    core: RequestCore;
    blobs: BlobStore;
    endpoints: readonly Endpoint[];
  },
): Reviews {
  const { database, core, blobs, endpoints } = parts;
  const giveUpSeconds = config.delivery.giveUpAfterHours * 3600;
  return new Reviews({
    database,
    changes: core.changes,
    endpoints,
    evidence: core.evidence,
    stored: core.result,
    config: config.review,
    sign: createStoreSignature({
      database,
      blobs,
      dataDir: config.dataDir,
      giveUpSeconds,
      artifactPath: core.artifactPath,
    }),
    withdraw: (id, command, also) =>
      withdrawResult(database, id, command, { at: new Date(), giveUpSeconds, also }),
  });
}
