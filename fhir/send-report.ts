import type { Patient, Reference } from '@medplum/fhirtypes';
import type { FhirDestination } from '../config/schema.ts';
import type { DicomIdentity, Subject } from '../pipelines/artifacts/subject.ts';
import type { Result } from '../pipelines/result/envelope.ts';
import { PDF_MEDIA_TYPE } from './attachment.ts';
import type { BinaryLedger } from './binary-ledger.ts';
import { buildBundle, NEW_PATIENT_ROLE } from './bundle.ts';
import type { DeliveryMode } from './capabilities.ts';
import { draftVersion } from './existing-report.ts';
import { resourceUrn } from './identifiers.ts';
import { addProvenance, detachProvenance } from './late-provenance.ts';
import { findOrder } from './order-lookup.ts';
import { FhirFailure } from './outcome.ts';
import { matchPatient } from './patient-match.ts';
import type { BundleInput, KeyImage, RenderedReport } from './report-context.ts';
import type { FhirServer } from './server.ts';

export interface ReportToSend {
  result: Result;
  subject: Subject;
  identity: DicomIdentity;
  pdf: Buffer | null;
  keyImages: readonly KeyImage[];
  structuredReportUid?: string;
  destination: FhirDestination;
  server: FhirServer;
  mode: DeliveryMode;
  binaries: BinaryLedger;
  signal: AbortSignal;
}

export interface ReportReceipt {
  /** `DiagnosticReport/<id>` of the receiver. */
  report: string;
  entries: number;
  provenance: boolean;
}

const MEGABYTE = 1_000_000;

/**
 * Matches the patient, guards a verified report, and sends one transaction. After a conflict (409,
 * 412) the report is read again and the bundle rebuilt; a body that is too large (413) is sent once
 * more with the PDF as a Binary and without pictures.
 * @throws FhirFailure for whatever the EHR does not take.
 */
export async function sendReport(report: ReportToSend): Promise<ReportReceipt> {
  const { server, destination, identity, signal } = report;
  const match = await matchPatient(server, identity, destination, signal);
  const known = 'reference' in match ? match.reference : null;
  const input: BundleInput = {
    result: report.result,
    subject: report.subject,
    resultSystem: destination.resultSystem,
    organization: destination.organization,
    patient: known ?? { reference: resourceUrn(report.subject.requestId, NEW_PATIENT_ROLE) },
    structuredReportUid: report.structuredReportUid,
    newPatient: 'newPatient' in match ? match.newPatient : undefined,
    ...(await findOrder(server, identity.AccessionNumber, known, signal)),
  };

  let inlineBytes = destination.inlinePdfMegabytes * MEGABYTE;
  for (let rebuilds = 0; ; rebuilds += 1) {
    const versionId = await draftVersion(
      server,
      destination.resultSystem,
      report.subject.requestId,
      signal,
    );
    const pdf = report.pdf ? await rendered(report, report.pdf, inlineBytes, known) : undefined;
    const keyImages = fitting(report.keyImages, inlineBytes);
    try {
      return await post(report, { ...input, pdf, keyImages, versionId });
    } catch (error) {
      if (!(error instanceof FhirFailure)) throw error;
      const { status } = error.reason;
      const tooLarge = status === 413 && inlineBytes >= 0;
      if (!tooLarge && rebuilds >= (error.reason.rebuilds ?? 0)) throw error;
      if (tooLarge) inlineBytes = -1;
    }
  }
}

async function post(
  { server, mode, signal }: ReportToSend,
  input: BundleInput,
): Promise<ReportReceipt> {
  const whole = buildBundle(input);
  const { rest, provenance } = detachProvenance(whole);
  const bundle = mode.updateAsCreate ? whole : rest;
  const receipt = await server.transaction(bundle, signal);
  const added =
    mode.updateAsCreate ||
    (provenance !== null && (await addProvenance(server, provenance, { bundle, receipt }, signal)));
  const isReport = (location: string | null) => location?.startsWith('DiagnosticReport/');
  return {
    report: receipt.locations.find(isReport) ?? 'DiagnosticReport',
    entries: receipt.locations.length,
    provenance: added,
  };
}

/** The first pictures that fit the limit together; all of them are in the PDF. */
function fitting(images: readonly KeyImage[], inlineBytes: number): KeyImage[] {
  let left = inlineBytes;
  return images.filter(({ data }) => {
    left -= data.length;
    return left >= 0;
  });
}

/** Inline up to the limit; above it a Binary, stored once per content and receiver. */
async function rendered(
  { destination, server, binaries, signal }: ReportToSend,
  data: Buffer,
  inlineBytes: number,
  securityContext: Reference<Patient> | null,
): Promise<RenderedReport> {
  if (data.length <= inlineBytes) return { data };
  const stored = await binaries.find(destination.name, data);
  if (stored) return { data, binaryUrl: stored };
  const binaryUrl = await server.create(
    {
      resourceType: 'Binary',
      contentType: PDF_MEDIA_TYPE,
      securityContext: securityContext ?? undefined,
      data: data.toString('base64'),
    },
    signal,
  );
  await binaries.record(destination.name, data, binaryUrl);
  return { data, binaryUrl };
}
