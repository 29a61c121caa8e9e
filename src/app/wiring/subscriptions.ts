import type { Patient, Reference } from '@medplum/fhirtypes';
import type { Config } from '../../../config/schema.ts';
import { buildAnonymousBundle, buildBundle } from '../../../fhir/resources/bundle.ts';
import type { DicomIdentity, Subject } from '../../../pipelines/dicom/subject.ts';
import type { RequestCore } from '../../core/requests/core.ts';
import { readEnvelope } from '../../core/requests/results.ts';
import { subjectOfRequest } from '../../core/studies/subject.ts';
import { createSubscriptionDeliverer } from '../../core/subscriptions/deliver.ts';
import { keepSubscriptions, turnAllOff } from '../../core/subscriptions/subscriptions.ts';
import { notificationBundle, type ReportResource } from '../../doors/http/fhir/notification.ts';
import { FHIR_JSON } from '../../doors/http/fhir/outcome.ts';
import { taskOf } from '../../doors/http/fhir/task.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { OutboundClient } from '../../platform/outbound/client.ts';
import { logRounds, type Rounds, startRounds } from '../../platform/rounds.ts';
import type { AuditService } from './audit.ts';

interface SubscriptionParts {
  database: Database;
  core: Pick<RequestCore, 'get' | 'result'>;
  outbound: OutboundClient;
  audit: Pick<AuditService, 'write'>;
  logger: Logger;
}

/** Creates the deliverer that notifies subscribers of the FHIR interface. */
export function subscriptionDeliverer({
  database,
  core,
  outbound,
  audit,
  logger,
}: SubscriptionParts) {
  return createSubscriptionDeliverer({
    database,
    contentType: FHIR_JSON,
    client: outbound,
    writeAudit: audit.write,
    logger,
    async bodyOf(row, notification) {
      const at = new Date();
      if (notification.type !== 'event-notification') {
        return JSON.stringify(notificationBundle(row, { type: notification.type, at }));
      }
      const { event } = notification;
      const request = await core.get(event.request_id, row.account_id);
      if (!request) return null;
      const tasks = row.content === 'empty' ? [] : [taskOf(request, row.address)];
      const report =
        row.content === 'full-resource'
          ? await reportOf(event.request_id, event.result_revision, { database, core })
          : [];
      const content = { type: notification.type, events: [event], tasks, report, at };
      return JSON.stringify(notificationBundle(row, content));
    },
  });
}

/**
 * Returns the resources of a report, including the patient's identity if the request came with a
 * study; empty for a request without a result.
 */
async function reportOf(
  requestId: string,
  revision: number,
  { database, core }: { database: Queryable; core: Pick<RequestCore, 'result'> },
): Promise<ReportResource[]> {
  const result = await readEnvelope(core, requestId, revision);
  if (result === null) return [];
  const known = await subjectOfRequest(database, requestId);
  const subject: Subject = {
    ...(known ?? { requestId, identity: null, instances: [], dating: null }),
    signedRevision: revision,
  };
  const { identity } = subject;
  const bundle = identity
    ? buildBundle({
        result,
        subject,
        resultSystem: null,
        organization: 'Sonogate',
        patient: patientOf(identity),
      })
    : buildAnonymousBundle(result, subject);
  return (bundle.entry ?? []).flatMap(({ fullUrl, resource }) =>
    fullUrl && resource ? [{ fullUrl, resource }] : [],
  );
}

/**
 * Returns the patient with the identifiers from the images. No identifier system is stated, because
 * the receiver knows to which system they belong. Patient ID may be empty (PS3.3 C.7.1.1, type 2),
 * but no string in FHIR may (FHIR R4 2.24.0.1).
 */
export function patientOf({
  PatientID,
  IssuerOfPatientID,
}: Pick<DicomIdentity, 'PatientID' | 'IssuerOfPatientID'>): Reference<Patient> {
  if (PatientID === '') return { type: 'Patient', display: 'Without a patient ID' };
  const assigner = IssuerOfPatientID && { assigner: { display: IssuerOfPatientID } };
  return { type: 'Patient', identifier: { value: PatientID, ...assigner } };
}

const ROUND_MILLISECONDS = 15_000;

/**
 * Sends heartbeats and ends subscriptions whose end time has passed. If subscriptions have been
 * switched off, all of them are ended.
 */
export function startSubscriptionRounds(
  { http }: Pick<Config, 'http'>,
  database: Database,
  logger: Logger,
): Rounds {
  return startRounds({
    work: () =>
      http.fhirSubscriptions ? keepSubscriptions(database, new Date()) : turnAllOff(database),
    pauseMilliseconds: ROUND_MILLISECONDS,
    ...logRounds(logger, 'FHIR subscriptions', (error) =>
      logger.event('subscriptions_not_kept', { error: String(error) }),
    ),
  });
}
