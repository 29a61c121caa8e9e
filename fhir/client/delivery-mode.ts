import type { CapabilityStatement } from '@medplum/fhirtypes';
import type { FhirServer } from './server.ts';

/** Which interactions this receiver is sent its results with (exchange 1.9). */
export interface DeliveryMode {
  /** The whole result at once; else resource by resource, each before those that refer to it. */
  transaction: boolean;
  /** Conditional create and update; else each resource is searched for first. */
  conditional: boolean;
  /** The Provenance under an id of ours (`updateCreate`); else it is created once, after the rest. */
  updateAsCreate: boolean;
}

/** The mode a CapabilityStatement allows. What a server does not state is tried. */
export function deliveryMode(statement: CapabilityStatement | null): DeliveryMode {
  const rest = statement?.rest?.[0];
  const interactions = rest?.interaction ?? [];
  const resource = (type: string) => rest?.resource?.find((r) => r.type === type);
  const denied = [
    resource('Device')?.conditionalCreate,
    resource('Observation')?.conditionalUpdate,
    resource('DiagnosticReport')?.conditionalUpdate,
  ].includes(false);
  return {
    transaction: interactions.length === 0 || interactions.some((i) => i.code === 'transaction'),
    conditional: !denied,
    updateAsCreate: resource('Provenance')?.updateCreate !== false,
  };
}

/**
 * The next simpler mode, for a receiver that answered 405 or 501 to what it did not deny; null when
 * there is none.
 */
export function simplerMode(mode: DeliveryMode): DeliveryMode | null {
  if (mode.transaction) return { ...mode, transaction: false };
  if (mode.conditional) return { ...mode, conditional: false };
  return null;
}

/** The mode in words, for the log. */
export function modeInWords(mode: DeliveryMode): string {
  return [
    mode.transaction ? 'transaction' : 'resource by resource',
    ...(mode.conditional ? [] : ['search before each write']),
    ...(mode.updateAsCreate ? [] : ['Provenance afterwards']),
  ].join(', ');
}

export interface ReceiverMode {
  /** The mode of today. */
  current(signal: AbortSignal): Promise<DeliveryMode>;
  /** Keeps a mode that a delivery found out, until the statement is read again. */
  learn(mode: DeliveryMode): void;
}

const DAY_MS = 86_400_000;

/**
 * Reads the mode of a server when it is first needed, and again once a day: an upgrade of the EHR
 * is noticed, and a delivery costs no extra call.
 */
export function dailyMode(
  server: Pick<FhirServer, 'capabilities'>,
  now: () => number = Date.now,
): ReceiverMode {
  let last: { mode: DeliveryMode; readAt: number } | null = null;
  return {
    async current(signal) {
      if (last === null || now() - last.readAt >= DAY_MS) {
        last = { mode: deliveryMode(await server.capabilities(signal)), readAt: now() };
      }
      return last.mode;
    },
    learn(mode) {
      last = { mode, readAt: last?.readAt ?? now() };
    },
  };
}
