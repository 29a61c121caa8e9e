import type {
  BundleEntry,
  Device,
  DiagnosticReport,
  DocumentReference,
  Encounter,
  ImagingStudy,
  Patient,
  Practitioner,
  Reference,
  ServiceRequest,
} from '@medplum/fhirtypes';
import type { Subject } from '../../pipelines/dicom/subject.ts';
import { isAmendment, type Result } from '../../pipelines/result/envelope.ts';
import { acquisitionDateTime } from './dates.ts';
import { resourceUrn } from './identifiers.ts';

/** The rendered report: inline, or already stored as a Binary of the receiver (exchange 1.6). */
export type RenderedReport = { data: Buffer } | { data: Buffer; binaryUrl: string };

/** A measured frame with its calipers, as a picture small enough to be sent inline. */
export interface KeyImage {
  /** Name of the artifact. */
  name: string;
  title: string;
  contentType: string;
  data: Buffer;
}

/** The input of a bundle. Every resource is computed from this input alone. */
export interface BundleInput {
  result: Result;
  subject: Subject;
  /** The destination's result namespace; null for the anonymous bundle of the API. */
  resultSystem: string | null;
  organization: string;
  /** The patient at the receiver; a reference without a target for the anonymous bundle. */
  patient: Reference<Patient>;
  /**
   * A patient that is created conditionally with the report if the receiver has none
   * (`createPatient`).
   */
  newPatient?: Patient;
  order?: Reference<ServiceRequest>;
  encounter?: Reference<Encounter>;
  pdf?: RenderedReport;
  keyImages?: readonly KeyImage[];
  /** SOP Instance UID of the structured report of the same result. */
  structuredReportUid?: string;
  /**
   * `meta.versionId` of the draft to replace. If a person verifies the report before it is
   * replaced, the update fails.
   */
  versionId?: string;
  /** The request that names the report of the study, if an earlier run created it. */
  reportKey?: string;
  /** Other requests that the report has replaced, so that it is found by any of them. */
  otherRequests?: readonly string[];
  /** Document of the earlier run, which the new one replaces. */
  formerDocument?: Reference<DocumentReference>;
  /** Entries that withdraw parts which this run does not contain. */
  withdrawals?: readonly BundleEntry[];
}

/** The input with the references that several resources of the bundle use. */
export interface ReportContext extends BundleInput {
  requestId: string;
  /** Identifies report, Observations and pictures, so that a later run replaces them in place. */
  reportKey: string;
  device: Reference<Device>;
  report: Reference<DiagnosticReport>;
  imagingStudy: Reference<ImagingStudy> | null;
  effective: string | undefined;
}

/** Adds the `urn:uuid:` references of the bundle to the input. */
export function reportContext(input: BundleInput): ReportContext {
  const { requestId, identity, instances } = input.subject;
  const known = identity !== null && identity.StudyInstanceUID !== '' && instances.length > 0;
  return {
    ...input,
    requestId,
    reportKey: input.reportKey ?? requestId,
    device: { reference: resourceUrn(requestId, 'Device') },
    report: { reference: resourceUrn(requestId, 'DiagnosticReport') },
    imagingStudy: known ? { reference: resourceUrn(requestId, 'ImagingStudy') } : null,
    effective: identity ? acquisitionDateTime(identity) : undefined,
  };
}

/**
 * Returns the status of report and values: preliminary for a draft, final once it is signed, amended
 * when it replaces a signed result.
 */
export function statusOf({ verification }: Pick<Result, 'verification'>) {
  if (!verification) return 'preliminary';
  return isAmendment(verification) ? 'amended' : 'final';
}

/** Returns the persons who signed, by name only: the receiver knows them by its own identifiers. */
export const signatories = ({
  verification,
}: Pick<Result, 'verification'>): Reference<Practitioner>[] =>
  (verification?.signatures ?? []).map(({ observer }) => ({
    type: 'Practitioner',
    display: observer,
  }));
