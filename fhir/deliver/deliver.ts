import sharp from 'sharp';
import type { FhirDestination } from '../../config/schema.ts';
import { storedPreviews } from '../../pipelines/artifacts/previews/overlays.ts';
import { isTranslation } from '../../pipelines/contract/translate.ts';
import type { DicomIdentity, Subject } from '../../pipelines/dicom/subject.ts';
import type { Result } from '../../pipelines/result/envelope.ts';
import type { Deliverer, RequestDelivery, SendOutcome } from '../../src/core/outbox/delivery.ts';
import type { ResultReader } from '../../src/core/requests/request.ts';
import { readEnvelope } from '../../src/core/requests/results.ts';
import type { ResultSignature } from '../../src/core/studies/signed-results.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { connectFhir } from '../client/client.ts';
import {
  type DeliveryMode,
  dailyMode,
  modeInWords,
  type ReceiverMode,
} from '../client/delivery-mode.ts';
import { type Failure, FhirFailure, failureOf } from '../client/outcome.ts';
import type { FhirServer } from '../client/server.ts';
import type { KeyImage } from '../resources/report-context.ts';
import type { Outdated } from './existing-report.ts';
import type { Decision, HoldLedger } from './holds.ts';
import { type BinaryLedger, sendReport } from './send-report.ts';

/**
 * Longest side of a key image in pixels. An EHR shows it next to the text; the full size is in the
 * PDF and in the HTTP API.
 */
const LONGEST_SIDE = 960;
const JPEG_QUALITY = 85;

/**
 * Returns the previews of a result as key images, small enough for a transaction (tens of kilobytes
 * each). Removed previews are omitted.
 * @param artifactPath returns the path of the stored artifact with this name.
 */
async function keyImagesOf(
  result: Result,
  artifactPath: (name: string) => Promise<string | null>,
): Promise<KeyImage[]> {
  const titles = new Map(result.sections.map((section) => [section.id, section.title]));
  const images: KeyImage[] = [];
  for (const { name, section, png } of await storedPreviews(result, artifactPath)) {
    const picture = await png();
    if (picture === null) continue;
    const whose = result.draft ? ' (AI draft)' : '';
    const title = `${titles.get(section) ?? 'Measured frame'}, with calipers${whose}`;
    images.push({ name, title, contentType: 'image/jpeg', data: await smallJpeg(picture) });
  }
  return images;
}

function smallJpeg(picture: Buffer): Promise<Buffer> {
  return sharp(picture)
    .resize(LONGEST_SIDE, LONGEST_SIDE, { fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer();
}

/** What every delivery to an EHR needs, of a report or of its withdrawal. */
export interface EhrDeps {
  certificates: ClientCertificates;
  destinations: readonly FhirDestination[];
  results: ResultReader;
  /** Returns earlier requests of the same study and endpoint, newest first. */
  earlierRequests: (requestId: string) => Promise<readonly string[]>;
  /** Returns later requests of the same study and endpoint, newest first. */
  laterRequests: (requestId: string) => Promise<readonly string[]>;
  /** Returns the signatures of the results of these requests, oldest first. */
  signatures: (requestIds: readonly string[]) => Promise<readonly ResultSignature[]>;
  /** Returns those of the requests whose result was withdrawn. */
  withdrawnRequests: (requestIds: readonly string[]) => Promise<readonly string[]>;
  logger: Logger;
}

export interface FhirDelivererDeps extends EhrDeps {
  /**
   * Returns the identity and the instances of a request's study; null for an API request without a
   * study.
   */
  subjectOf: (requestId: string) => Promise<Subject | null>;
  /** Returns the rendered report with the subject's identity; null if there is no PDF. */
  reportPdf: (result: Result, subject: Subject) => Promise<Buffer | null>;
  binaries: BinaryLedger;
  holds: HoldLedger;
}

export interface Receiver {
  destination: FhirDestination;
  server: FhirServer;
  mode: ReceiverMode;
}

/** Returns the configured EHRs by name. */
export function receiversOf({
  destinations,
  certificates,
}: Pick<EhrDeps, 'destinations' | 'certificates'>): ReadonlyMap<string, Receiver> {
  return new Map(
    destinations.map((destination): [string, Receiver] => {
      const server = connectFhir(destination, certificates);
      return [destination.name, { destination, server, mode: dailyMode(server) }];
    }),
  );
}

/** Creates the outbox deliverer that sends results to the configured EHRs. */
export function createFhirDeliverer(deps: FhirDelivererDeps): Deliverer<'fhir'> {
  const receivers = receiversOf(deps);
  const limits = attemptLimits();
  return {
    kind: 'fhir',
    async send(delivery, signal) {
      const receiver = receivers.get(delivery.destination);
      if (!receiver) {
        const detail = `There is no EHR named "${delivery.destination}".`;
        return outcome(failureOf('destination_not_configured', detail));
      }
      const content = await reportContent(delivery, deps);
      if ('failure' in content) return outcome(content.failure);
      try {
        const receipt = await deliverReport(delivery, content, receiver, deps, signal);
        limits.delivered(delivery.id);
        return { outcome: 'delivered', ...receipt };
      } catch (error) {
        if (!(error instanceof FhirFailure)) throw error;
        await deps.holds.keepCandidates(delivery.id, error.candidates);
        return outcome(limits.apply(delivery.id, error.reason));
      }
    },
  };
}

/**
 * Some transient failures may occur only a limited number of times in a row (`attempts`). At the
 * last of these attempts, the failure becomes permanent, and a person has to act. The count
 * restarts if the EHR was unreachable in between, if a person sent the report again, or after a
 * restart.
 */
export function attemptLimits() {
  const consecutive = new Map<string, number>();
  return {
    delivered: (delivery: string) => consecutive.delete(delivery),
    apply(delivery: string, failure: Failure): Failure {
      const { attempts } = failure;
      const times = (consecutive.get(delivery) ?? 0) + 1;
      consecutive.delete(delivery);
      if (attempts === undefined) return failure;
      if (times >= attempts) return { ...failure, failure: 'permanent' };
      consecutive.set(delivery, times);
      return failure;
    },
  };
}

interface ReportContent {
  result: Result;
  subject: Subject;
  identity: DicomIdentity;
  /** A person's decision on the report; null if nobody has decided. */
  decision: Decision | null;
}

/** Returns the content of a report, or the failure if nothing can be sent. */
async function reportContent(
  { id, requestId, resultRevision }: RequestDelivery,
  { holds, results, subjectOf }: FhirDelivererDeps,
): Promise<ReportContent | { failure: Failure }> {
  const decision = await holds.decisionOn(id);
  if (decision?.action === 'reject') {
    return { failure: failureOf('ehr_withdrawn', 'A person has rejected it') };
  }
  const result = await readEnvelope(results, requestId, resultRevision);
  if (result === null) return { failure: failureOf('expired', 'The result was purged') };
  const subject = await subjectOf(requestId);
  if (!subject?.identity) {
    const failure = failureOf('ehr_patient_not_found', 'The request has no patient');
    return { failure: { ...failure, failure: 'permanent' } };
  }
  const { identity } = subject;
  const own = { ...subject, signedRevision: resultRevision };
  return { result, subject: own, identity, decision };
}

const NOT_SENT = {
  newer: 'Not sent: the EHR already has a later result for the study',
  signed:
    'Not sent: the EHR already has the signed report for the study, which a draft must not replace',
} as const satisfies Record<Outdated, string>;

/**
 * Sends a report.
 * @returns the record of the delivery: what the EHR then contains, or why nothing was sent.
 * @throws FhirFailure
 */
async function deliverReport(
  { id, requestId }: RequestDelivery,
  { result, subject, identity, decision }: ReportContent,
  { destination, server, mode }: Receiver,
  deps: FhirDelivererDeps,
  signal: AbortSignal,
): Promise<{ detail: string; notSent?: boolean }> {
  const earlier = await deps.earlierRequests(requestId);
  const later = await deps.laterRequests(requestId);
  const receipt = await sendReport({
    result,
    subject,
    identity,
    earlier,
    later,
    signed: await deps.signatures([...later, requestId, ...earlier]),
    withdrawn: await deps.withdrawnRequests([...later, ...earlier]),
    choice: decision ?? {},
    // The gateway does not render a PDF for a translation.
    pdf: isTranslation(result) ? null : await deps.reportPdf(result, subject),
    keyImages: await keyImagesOf(result, (name) =>
      deps.results.artifactPath(subject.requestId, name),
    ),
    destination,
    server,
    mode: await mode.current(signal),
    learn: noteSimplerMode(id, { destination, mode }, deps),
    binaries: deps.binaries,
    signal,
  });
  if (typeof receipt === 'string') return { detail: NOT_SENT[receipt], notSent: true };
  deps.logger.event('delivery_report', { delivery: id, request: requestId, ...receipt });
  const { report, entries, provenance } = receipt;
  return { detail: `${report}, ${entries} entries${provenance ? '' : ', without Provenance'}` };
}

/** Returns a function that notes that an EHR needs a simpler mode. */
export function noteSimplerMode(
  delivery: string,
  { destination, mode }: Pick<Receiver, 'destination' | 'mode'>,
  { logger }: Pick<EhrDeps, 'logger'>,
): (simpler: DeliveryMode) => void {
  return (simpler) => {
    logger.event('ehr_simpler_mode', {
      delivery,
      destination: destination.name,
      mode: modeInWords(simpler),
    });
    mode.learn(simpler);
  };
}

export function outcome({ failure, code, detail, retryAfter }: Failure): SendOutcome {
  return { outcome: 'failed', failure, code, detail, retryAfter };
}
