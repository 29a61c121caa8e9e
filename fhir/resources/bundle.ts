import type { Bundle, BundleEntry, Patient, Reference, Resource } from '@medplum/fhirtypes';
import type { Subject } from '../../pipelines/dicom/subject.ts';
import type { Result } from '../../pipelines/result/envelope.ts';
import { buildDocumentReference, buildMedia, mediaRole } from './attachments.ts';
import { buildDiagnosticReport, buildProvenance, provenanceRole } from './diagnostic-report.ts';
import {
  dicomUidIdentifier,
  identifierQuery,
  resourceUrn,
  resultIdentifier,
} from './identifiers.ts';
import { buildObservations } from './observations.ts';
import { type BundleInput, type ReportContext, reportContext } from './report-context.ts';
import { buildDevice, buildImagingStudy, deviceIdentifier } from './study-and-device.ts';

/** Role of a Patient created together with the report (`createPatient`). */
export const NEW_PATIENT_ROLE = 'Patient';

/**
 * Builds one finished request as one FHIR R4 transaction (exchange 1.1). Every entry is conditional
 * on an identifier or has a fixed id, so that sending the same bundle twice leaves one report.
 */
export function buildBundle(input: BundleInput): Bundle {
  const context = reportContext(input);
  const { requestId, reportKey, resultSystem, newPatient } = context;
  const observations = buildObservations(context);
  const document = buildDocumentReference(context);
  const patientIdentifier = newPatient?.identifier?.[0];
  const { identity } = input.subject;

  // Withdrawals come first, so that a receiver that processes entries one by one never has old and
  // new values at the same time.
  const entry: BundleEntry[] = [...(context.withdrawals ?? [])];
  if (newPatient && patientIdentifier) {
    entry.push(
      createOnce(newPatient, requestId, NEW_PATIENT_ROLE, identifierQuery(patientIdentifier)),
    );
  }
  entry.push(
    createOnce(
      buildDevice(context),
      requestId,
      'Device',
      identifierQuery(deviceIdentifier(context)),
    ),
  );
  if (identity && context.imagingStudy) {
    entry.push(
      createOnce(
        buildImagingStudy(context, identity),
        requestId,
        'ImagingStudy',
        identifierQuery(dicomUidIdentifier(identity.StudyInstanceUID)),
      ),
    );
  }
  for (const { role, resource } of observations) {
    entry.push(replace(resource, requestId, role, resultIdentifier(resultSystem, reportKey, role)));
  }
  for (const image of context.keyImages ?? []) {
    const role = mediaRole(image);
    const identifier = resultIdentifier(resultSystem, reportKey, role);
    entry.push(replace(buildMedia(context, image), requestId, role, identifier));
  }
  if (document) {
    const role = 'DocumentReference';
    entry.push(replace(document, requestId, role, resultIdentifier(resultSystem, requestId, role)));
  }
  entry.push(reportEntry(context, buildDiagnosticReport(context, observations)));
  const provenance = buildProvenance(context, observations);
  entry.push({
    fullUrl: resourceUrn(requestId, provenanceRole(context.result)),
    resource: provenance,
    request: { method: 'PUT', url: `Provenance/${provenance.id}` },
  });
  // Undefined members are removed, as in the JSON that is sent.
  return JSON.parse(JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry }));
}

const ANONYMOUS: Reference<Patient> = { type: 'Patient', display: 'Anonymous' };

/**
 * Builds the bundle of a request without a known patient (artifact `fhir-bundle.json`): the same
 * transaction with an anonymous subject. The client inserts its own patient before posting the
 * bundle.
 */
export function buildAnonymousBundle(result: Result, subject: Subject): Bundle {
  return buildBundle({
    result,
    subject: { ...subject, identity: null },
    resultSystem: null,
    organization: 'Sonogate',
    patient: ANONYMOUS,
  });
}

function createOnce(
  resource: Resource,
  requestId: string,
  role: string,
  ifNoneExist: string,
): BundleEntry {
  return {
    fullUrl: resourceUrn(requestId, role),
    resource,
    request: { method: 'POST', url: resource.resourceType, ifNoneExist },
  };
}

function replace(
  resource: Resource,
  requestId: string,
  role: string,
  identifier: ReturnType<typeof resultIdentifier>,
): BundleEntry {
  return {
    fullUrl: resourceUrn(requestId, role),
    resource,
    request: { method: 'PUT', url: `${resource.resourceType}?${identifierQuery(identifier)}` },
  };
}

function reportEntry(context: ReportContext, report: Resource): BundleEntry {
  const identifier = resultIdentifier(context.resultSystem, context.reportKey);
  const entry = replace(report, context.requestId, 'DiagnosticReport', identifier);
  if (entry.request && context.versionId) entry.request.ifMatch = `W/"${context.versionId}"`;
  return entry;
}

export const fhirBundleArtifact = {
  name: 'fhir-bundle.json',
  mediaType: 'application/fhir+json',
  build: (result: Result, subject: Subject): string =>
    JSON.stringify(buildAnonymousBundle(result, subject), null, 2),
};
