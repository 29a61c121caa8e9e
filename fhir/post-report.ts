import type { Bundle } from '@medplum/fhirtypes';
import type { DeliveryMode } from './capabilities.ts';
import { addProvenance, detachProvenance } from './late-provenance.ts';
import { withoutConditions } from './resolve-conditions.ts';
import { sendInOrder } from './send-in-order.ts';
import type { FhirServer } from './server.ts';

export interface ReportReceipt {
  /** `DiagnosticReport/<id>` of the receiver. */
  report: string;
  entries: number;
  provenance: boolean;
}

/**
 * Sends the bundle of a report with the interactions that the receiver has.
 * @throws FhirFailure for whatever it does not take.
 */
export async function postReport(
  server: FhirServer,
  bundle: Bundle,
  mode: DeliveryMode,
  signal: AbortSignal,
): Promise<ReportReceipt> {
  const whole = mode.conditional ? bundle : await withoutConditions(server, bundle, signal);
  const { rest, provenance } = detachProvenance(whole);
  const sent = mode.transaction && mode.updateAsCreate ? whole : rest;
  const receipt = mode.transaction
    ? await server.transaction(sent, signal)
    : await sendInOrder(server, sent, signal);
  const added =
    sent === whole ||
    (provenance !== null &&
      (await addProvenance(server, provenance, { bundle: sent, receipt }, signal)));
  return {
    report: receipt.locations.find(isReport) ?? 'DiagnosticReport',
    entries: receipt.locations.length,
    provenance: added,
  };
}

function isReport(location: string | null): boolean {
  return location?.startsWith('DiagnosticReport/') ?? false;
}
