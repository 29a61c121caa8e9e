import type { DiagnosticReport } from '@medplum/fhirtypes';
import { resultIdentifier, searchToken } from './identifiers.ts';
import { FhirFailure, failureOf } from './outcome.ts';
import type { FhirServer } from './server.ts';

/** Statuses that a draft may replace; any other was set by a person. */
const REPLACEABLE: ReadonlySet<DiagnosticReport['status']> = new Set([
  'registered',
  'partial',
  'preliminary',
]);

/**
 * Version of the draft that the receiver already has of this request; undefined for none.
 * @throws FhirFailure `ehr_already_verified` when a person has verified, amended or retracted it.
 */
export async function draftVersion(
  server: FhirServer,
  resultSystem: string,
  requestId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const identifier = resultIdentifier(resultSystem, requestId);
  const answer = await server.search(
    'DiagnosticReport',
    { identifier: searchToken(identifier), _count: '2' },
    signal,
  );
  const reports = answer.filter((report) =>
    report.identifier?.some(
      ({ system, value }) => system === identifier.system && value === identifier.value,
    ),
  );
  const verified = reports.find((report) => !REPLACEABLE.has(report.status));
  if (verified) {
    throw new FhirFailure(
      failureOf('ehr_already_verified', `The report has status "${verified.status}"`),
    );
  }
  return reports.length === 1 ? reports[0]?.meta?.versionId : undefined;
}
