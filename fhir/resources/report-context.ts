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

/** The rendered report: inline, or already stored as a Binary at the receiver (exchange 1.6). */
export type RenderedReport = { data: Buffer } | { data: Buffer; binaryUrl: string };

/** A measured frame with its calipers, as a picture small enough to be sent inline. */
export interface KeyImage {
  name: string;
  title: string;
  contentType: string;
  data: Buffer;
}

/** The input for a bundle. Every resource is derived from it alone. */
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
  /**
   * `meta.versionId` of the draft to replace. If a person verifies the report in the meantime, the
   * update fails.
   */
  versionId?: string;
  /**
   * Request whose id identifies the report at the receiver: of all runs, the one whose report
   * arrived there first. Absent if this report replaces no other.
   */
  reportKey?: string;
  /**
   * Other requests whose reports this one has replaced. This report can be found by the id of each
   * of them.
   */
  otherRequests?: readonly string[];
  /** Document of the earlier run, to be replaced by the new document. */
  formerDocument?: Reference<DocumentReference>;
  /** Entries that withdraw parts missing in this run. */
  withdrawals?: readonly BundleEntry[];
}

/** The input, with references used by several resources in the bundle. */
export interface ReportContext extends BundleInput {
  requestId: string;
  /**
   * Identifies the report, Observations and pictures, so that a later run replaces them in place.
   */
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
 * Returns the status of the report and its values: preliminary for a draft, final once signed,
 * amended if it replaces a signed result.
 */
export function statusOf({ verification }: Pick<Result, 'verification'>) {
  if (!verification) return 'preliminary';
  return isAmendment(verification) ? 'amended' : 'final';
}

/** Returns the people who signed, by name only: the receiver has its own identifiers for them. */
export const signatories = ({
  verification,
}: Pick<Result, 'verification'>): Reference<Practitioner>[] =>
  (verification?.signatures ?? []).map(({ observer }) => ({
    type: 'Practitioner',
    display: observer,
  }));
