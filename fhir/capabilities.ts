import type { CapabilityStatement } from '@medplum/fhirtypes';
import { FhirFailure, failureOf } from './outcome.ts';
import type { FhirServer } from './server.ts';

/** How this receiver wants its results. */
export interface DeliveryMode {
  /** Whether the Provenance can be in the transaction: its id is chosen by us (`updateCreate`). */
  updateAsCreate: boolean;
}

/**
 * The mode a CapabilityStatement allows. What a server does not state is tried; what it denies and
 * a transaction cannot do without is an error before anything is sent.
 * @throws FhirFailure `ehr_rejected` when transactions or conditional interactions are denied.
 */
export function deliveryMode(statement: CapabilityStatement | null): DeliveryMode {
  const rest = statement?.rest?.[0];
  const interactions = rest?.interaction ?? [];
  if (interactions.length > 0 && !interactions.some(({ code }) => code === 'transaction')) {
    throw denied('transactions');
  }
  const resource = (type: string) => rest?.resource?.find((r) => r.type === type);
  if (resource('Device')?.conditionalCreate === false) throw denied('conditional create');
  for (const type of ['Observation', 'DiagnosticReport']) {
    if (resource(type)?.conditionalUpdate === false) throw denied(`conditional update of ${type}`);
  }
  return { updateAsCreate: resource('Provenance')?.updateCreate !== false };
}

const DAY_MS = 86_400_000;

/**
 * Reads the mode of a server when it is first needed, and again once a day: an upgrade of the EHR
 * is noticed, and a delivery costs no extra call.
 */
export function dailyMode(
  server: Pick<FhirServer, 'capabilities'>,
  now: () => number = Date.now,
): (signal: AbortSignal) => Promise<DeliveryMode> {
  let last: { mode: DeliveryMode; readAt: number } | null = null;
  return async (signal) => {
    if (last === null || now() - last.readAt >= DAY_MS) {
      last = { mode: deliveryMode(await server.capabilities(signal)), readAt: now() };
    }
    return last.mode;
  };
}

function denied(what: string): FhirFailure {
  return new FhirFailure(
    failureOf('ehr_rejected', `The EHR states that it does not support ${what}`),
  );
}
