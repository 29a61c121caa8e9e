import type { FhirDestination } from '../../config/schema.ts';
import { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { connectFhir } from './client.ts';
import { dailyMode, modeInWords } from './delivery-mode.ts';
import { tlsDispatcher } from './tls-dispatcher.ts';

interface ServerReport {
  /** FHIR version in the CapabilityStatement; null if the server has no CapabilityStatement. */
  version: string | null;
  /** How results will be sent to the server. */
  mode: string;
  /** Seconds by which the server's clock is ahead of ours; null if the server sends no date. */
  ahead: number | null;
}

/**
 * Reads an EHR's CapabilityStatement with the credentials used for deliveries. Writes nothing.
 * @throws FhirFailure for any failure of the peer or the network.
 */
export async function checkServer(
  destination: FhirDestination,
  signal: AbortSignal,
): Promise<ServerReport> {
  const certificates = new ClientCertificates();
  const server = connectFhir(destination, certificates);
  const statement = await server.capabilities(signal);
  const mode = await dailyMode(server).current(signal);
  return {
    version: statement?.fhirVersion ?? null,
    mode: modeInWords(mode),
    ahead: await clockAhead(destination, certificates, signal),
  };
}

/** Reads the clock from the Date header (RFC 9110 6.6.1), which has a resolution of one second. */
async function clockAhead(
  { baseUrl, tls }: FhirDestination,
  certificates: ClientCertificates,
  signal: AbortSignal,
): Promise<number | null> {
  const dispatcher = await tlsDispatcher(tls, certificates)();
  const init = { method: 'HEAD', redirect: 'manual', signal, ...(dispatcher && { dispatcher }) };
  const answer = await fetch(`${baseUrl.replace(/\/+$/, '')}/metadata`, init as RequestInit);
  const date = Date.parse(answer.headers.get('date') ?? '');
  return Number.isNaN(date) ? null : (date - Date.now()) / 1000;
}
