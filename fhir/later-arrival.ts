import { setTimeout as delay } from 'node:timers/promises';
import { existingReport, type StudyResult } from './existing-report.ts';
import type { FhirServer } from './server.ts';

const LOOK_EVERY_MS = 500;

/**
 * Waits for the report of a result that the receiver accepted and had not yet carried out (202). The
 * report itself is looked for: servers differ in what the status address of a transaction answers.
 * @returns `DiagnosticReport/<id>`; null when it is not there in time.
 */
export async function laterArrival(
  server: Pick<FhirServer, 'search'>,
  result: StudyResult,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<string | null> {
  const deadline = Date.now() + timeoutSeconds * 1000;
  while (Date.now() < deadline) {
    const draft = await existingReport(server, result, signal);
    const isIt =
      draft !== null &&
      draft !== 'newer' &&
      draft.requests.includes(result.requestId) &&
      Date.parse(draft.report.issued ?? '') === Date.parse(result.generatedAt);
    if (isIt) return `DiagnosticReport/${draft.report.id}`;
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
  return null;
}
