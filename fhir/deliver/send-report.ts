import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bundle, Patient, Reference } from '@medplum/fhirtypes';
import type { FhirDestination } from '../../config/schema.ts';
import type { DicomIdentity, Subject } from '../../pipelines/dicom/subject.ts';
import type { Result } from '../../pipelines/result/envelope.ts';
import type { ResultSignature } from '../../src/core/studies/signed-results.ts';
import { ifMissing } from '../../src/platform/errors/file-system.ts';
import { type DeliveryMode, simplerMode } from '../client/delivery-mode.ts';
import { type Failure, FhirFailure } from '../client/outcome.ts';
import type { FhirServer } from '../client/server.ts';
import { findOrder } from '../match/order.ts';
import { chosenPatient, matchPatient } from '../match/patient.ts';
import { PDF_MEDIA_TYPE } from '../resources/attachments.ts';
import { buildBundle, NEW_PATIENT_ROLE } from '../resources/bundle.ts';
import { identifiersOf, resourceUrn } from '../resources/identifiers.ts';
import type { BundleInput, KeyImage, RenderedReport } from '../resources/report-context.ts';
import {
  existingReport,
  type FormerReport,
  formerRun,
  laterArrival,
  type Outdated,
} from './existing-report.ts';
import { postReport, type ReportReceipt } from './post-report.ts';

/**
 * Remembers the id of each Binary at a receiver by its content, so that a retry does not store it
 * again.
 */
export interface BinaryLedger {
  find(destination: string, content: Buffer): Promise<string | null>;
  record(destination: string, content: Buffer, reference: string): Promise<void>;
}

/**
 * Creates a ledger of files: `<folder>/<destination>/<SHA-256 of the content>` contains the
 * reference of a Binary.
 */
export function binaryLedger(folder: string): BinaryLedger {
  const fileOf = (destination: string, content: Buffer) =>
    join(folder, destination, createHash('sha256').update(content).digest('hex'));
  return {
    find(destination, content) {
      return ifMissing(readFile(fileOf(destination, content), 'utf8'), null);
    },
    async record(destination, content, reference) {
      const file = fileOf(destination, content);
      await mkdir(join(folder, destination), { recursive: true });
      await writeFile(`${file}.part`, reference, { flush: true });
      await rename(`${file}.part`, file);
    },
  };
}

/** A person's choices for a report that could not be matched. */
export interface Choice {
  /** `Patient/<id>`; undefined if the gateway matches the patient. */
  patient?: string;
  /** `ServiceRequest/<id>`; null for no order; undefined if the gateway looks up the order. */
  order?: string | null;
}

interface ReportToSend {
  result: Result;
  subject: Subject;
  identity: DicomIdentity;
  /** Earlier requests of the same study and endpoint, newest first. */
  earlier: readonly string[];
  /** Later requests of the same study and endpoint, newest first. */
  later: readonly string[];
  /** The signatures of results of the study in the gateway. */
  signed: readonly ResultSignature[];
  /** The requests of the study whose results were withdrawn. */
  withdrawn: readonly string[];
  choice: Choice;
  pdf: Buffer | null;
  keyImages: readonly KeyImage[];
  destination: FhirDestination;
  server: FhirServer;
  mode: DeliveryMode;
  /** Called with a simpler mode if the receiver needs one. */
  learn: (mode: DeliveryMode) => void;
  binaries: BinaryLedger;
  signal: AbortSignal;
}

const MEGABYTE = 1_000_000;

/**
 * Matches patient and order, and sends one report in the receiver's mode. A report that a person
 * has verified at the receiver is not replaced. After a conflict (409, 412), the report is read
 * again and the bundle rebuilt. A body that is too large (413) is sent again with the PDF as a
 * Binary and without pictures, then resource by resource. An interaction that the receiver lacks
 * (405, 501) is replaced by a simpler one.
 * @returns why nothing was sent if the receiver has a report that this one must not replace.
 * @throws FhirFailure if the EHR rejects the report.
 */
export async function sendReport(report: ReportToSend): Promise<ReportReceipt | Outdated> {
  const { server, signal } = report;
  const input = await matched(report);
  let attempt: Attempt = {
    mode: report.mode,
    inlineBytes: report.destination.inlinePdfMegabytes * MEGABYTE,
    rebuilt: 0,
  };
  for (;;) {
    const { mode, inlineBytes } = attempt;
    const former = await existingReport(server, studyResult(report), signal);
    if (typeof former === 'string') return former;
    const bundle = await bundleOver(report, former, {
      ...input,
      pdf: report.pdf ? await rendered(report, report.pdf, inlineBytes, input.patient) : undefined,
      keyImages: fitting(report.keyImages, inlineBytes),
    });
    try {
      return await postReport(server, bundle, mode, signal);
    } catch (error) {
      if (!(error instanceof FhirFailure)) throw error;
      const { timeoutSeconds } = report.destination;
      const later =
        error.reason.status === 202
          ? await laterArrival(server, studyResult(report), timeoutSeconds, signal)
          : null;
      if (later !== null) {
        return {
          report: later,
          entries: bundle.entry?.length ?? 0,
          provenance: mode.updateAsCreate,
        };
      }
      const next = nextAttempt(attempt, error.reason);
      if (next === null) throw error;
      attempt = next;
      if (error.reason.simpler) report.learn(next.mode);
    }
  }
}

/**
 * How a report is sent. If another way of sending may succeed after a failure, the next attempt uses
 * it.
 */
export interface Attempt {
  mode: DeliveryMode;
  /** Maximum number of bytes sent inline, for the PDF and for all pictures together. */
  inlineBytes: number;
  rebuilt: number;
}

/** Returns how to send the report after a failure; null if there is no other way left. */
export function nextAttempt(
  attempt: Attempt,
  { status, simpler, rebuilds = 0 }: Failure,
): Attempt | null {
  const { mode, inlineBytes, rebuilt } = attempt;
  if (status === 413 && inlineBytes >= 0) return { ...attempt, inlineBytes: -1 };
  if (status === 413 && mode.transaction) {
    return { ...attempt, mode: { ...mode, transaction: false } };
  }
  if (simpler) {
    const next = simplerMode(mode);
    return next && { ...attempt, mode: next };
  }
  return rebuilt < rebuilds ? { ...attempt, rebuilt: rebuilt + 1 } : null;
}

async function matched(report: ReportToSend): Promise<BundleInput> {
  const { server, destination, identity, choice, subject, signal } = report;
  const match = choice.patient
    ? await chosenPatient(server, choice.patient, signal)
    : await matchPatient(server, identity, destination, signal);
  const known = 'reference' in match ? match.reference : null;
  const lookup = {
    accession: identity.AccessionNumber || (subject.order?.accessionNumber ?? ''),
    patient: known,
    rule: destination.order,
    chosen: choice.order,
  };
  return {
    result: report.result,
    subject,
    resultSystem: destination.resultSystem,
    organization: destination.organization,
    patient: known ?? { reference: resourceUrn(subject.requestId, NEW_PATIENT_ROLE) },
    newPatient: 'newPatient' in match ? match.newPatient : undefined,
    otherRequests: report.earlier.filter((request) => !report.withdrawn.includes(request)),
    ...(await findOrder(server, lookup, signal)),
  };
}

function studyResult(report: ReportToSend) {
  const { destination, subject, earlier, later, signed, withdrawn, result } = report;
  const { requestId, signedRevision = 0 } = subject;
  const { resultSystem } = destination;
  const { generated_at: generatedAt } = result;
  return {
    resultSystem,
    requestId,
    earlier,
    later,
    signed,
    withdrawn,
    generatedAt,
    signedRevision,
  };
}

/**
 * Builds the bundle that replaces the report at the receiver and withdraws the parts missing in the
 * new result.
 */
async function bundleOver(
  report: ReportToSend,
  former: FormerReport | null,
  input: BundleInput,
): Promise<Bundle> {
  if (!former) return buildBundle(input);
  const replacing: BundleInput = {
    ...input,
    reportKey: former.key,
    otherRequests: [...former.requests, ...(input.otherRequests ?? [])],
    versionId: former.report.meta?.versionId,
  };
  const next = identifierValues(buildBundle(replacing));
  const { document, withdrawals } = await formerRun(
    report.server,
    former,
    studyResult(report),
    next,
    report.signal,
  );
  return buildBundle({ ...replacing, formerDocument: document, withdrawals });
}

function identifierValues({ entry = [] }: Bundle): Set<string> {
  const identifiers = entry.flatMap(({ resource }) => (resource ? identifiersOf(resource) : []));
  return new Set(identifiers.flatMap(({ value }) => value ?? []));
}

/**
 * Returns as many pictures, starting with the first, as fit into the limit together. The PDF
 * contains all of them.
 */
function fitting(images: readonly KeyImage[], inlineBytes: number): KeyImage[] {
  let left = inlineBytes;
  return images.filter(({ data }) => {
    left -= data.length;
    return left >= 0;
  });
}

/**
 * Returns the PDF inline if it is within the limit; otherwise as a Binary, stored once per content
 * and receiver.
 */
async function rendered(
  { destination, server, binaries, signal }: ReportToSend,
  data: Buffer,
  inlineBytes: number,
  patient: Reference<Patient>,
): Promise<RenderedReport> {
  if (data.length <= inlineBytes) return { data };
  const stored = await binaries.find(destination.name, data);
  if (stored) return { data, binaryUrl: stored };
  // A resource outside the bundle cannot refer to a patient created by the bundle.
  const securityContext = patient.reference?.startsWith('Patient/') ? patient.reference : undefined;
  const content = { data, mediaType: PDF_MEDIA_TYPE, securityContext };
  const binaryUrl = await server.createBinary(content, signal);
  await binaries.record(destination.name, data, binaryUrl);
  return { data, binaryUrl };
}
