import type { CapabilityStatement } from '@medplum/fhirtypes';
import type { FhirServer } from './server.ts';

/** The interactions used for sending results to a receiver (exchange 1.9). */
export interface DeliveryMode {
  /**
   * True to send the whole result at once; false to send it resource by resource, each resource
   * before those that refer to it.
   */
  transaction: boolean;
  /**
   * True to use conditional create and update; false to search for each resource before it is
   * written.
   */
  conditional: boolean;
  /**
   * True to write the Provenance under an id that we choose (`updateCreate`); false to create it
   * once, after the other resources.
   */
  updateAsCreate: boolean;
}

/**
 * Returns the mode allowed by a CapabilityStatement. An interaction that the statement does not
 * mention is assumed to be supported.
 */
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
 * Returns the next simpler mode, or null if `mode` is the simplest. A receiver may respond with 405
 * or 501 to an interaction that its CapabilityStatement did not exclude.
 */
export function simplerMode(mode: DeliveryMode): DeliveryMode | null {
  if (mode.transaction) return { ...mode, transaction: false };
  if (mode.conditional) return { ...mode, conditional: false };
  return null;
}

/** Describes the mode for the log. */
export function modeInWords(mode: DeliveryMode): string {
  return [
    mode.transaction ? 'transaction' : 'resource by resource',
    ...(mode.conditional ? [] : ['search before each write']),
    ...(mode.updateAsCreate ? [] : ['Provenance afterwards']),
  ].join(', ');
}

export interface ReceiverMode {
  current(signal: AbortSignal): Promise<DeliveryMode>;
  /** Stores a mode that worked for a delivery, until the CapabilityStatement is read again. */
  learn(mode: DeliveryMode): void;
}

const DAY_MS = 86_400_000;

/**
 * Determines a server's mode when it is first needed, and again once a day. Deliveries need no
 * extra request, and the effect of an EHR upgrade is noticed within a day.
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
