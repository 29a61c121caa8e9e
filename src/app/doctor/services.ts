import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config, Tracing } from '../../../config/schema.ts';
import { dial } from '../../../dimse/network/dial.ts';
import { connectFhir } from '../../../fhir/client/client.ts';
import { FhirFailure } from '../../../fhir/client/outcome.ts';
import { discoverProvider } from '../../doors/console/oidc.ts';
import { connected } from '../../doors/hl7v2/mllp.ts';
import { ERRORS } from '../../platform/errors/catalogue.ts';
import { ClientCertificates } from '../../platform/tls/client-files.ts';
import { openSpanExporter } from '../../platform/tracing/otlp.ts';
import { checkChain, checkWebChain } from './certificates.ts';
import { type Finding, fault, inOneLine, ok, warning } from './finding.ts';

const PATIENCE_MILLISECONDS = 20_000;

/** Checks the identity provider, the audit repositories and the collector of traces, if there are any. */
export async function checkServices(config: Config): Promise<Finding[]> {
  const { roles, audit, tracing } = config;
  const oidc = roles.includes('api') && config.console.enabled ? config.console.oidc : undefined;
  const findings = await Promise.all([
    oidc ? identityProvider(oidc) : [],
    audit.syslog ? syslogRepository(audit.syslog) : [],
    audit.fhir ? fhirRepository(audit.fhir) : [],
    tracing ? collector(tracing) : [],
  ]);
  return findings.flat();
}

/**
 * Reads the provider's metadata and our secret, as a sign-in does. Whether the provider accepts the
 * secret is not checked, because only a sign-in sends it.
 */
async function identityProvider(
  settings: NonNullable<Config['console']['oidc']>,
): Promise<Finding[]> {
  const what = 'identity provider';
  const { issuer, caFile } = settings;
  const chain = checkWebChain(`${what}, TLS`, issuer, { tls: { caFile } });
  try {
    await discoverProvider(settings);
    const words = 'answers for its issuer; only a sign-in shows whether it accepts our client';
    return [ok(what, words), ...(await chain)];
  } catch (error) {
    const { title, operator } = ERRORS.identity_provider_unavailable;
    return [fault(what, `${title}: ${rootOf(error)}. ${operator}`), ...(await chain)];
  }
}

/** Returns the message of an error's innermost cause. */
function rootOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  if (cause instanceof Response) return `it answers with HTTP ${cause.status}`;
  return cause instanceof Error ? rootOf(cause) : inOneLine(error);
}

/** A repository that has not closed the connection after this many milliseconds has accepted us. */
const ACCEPTED_MILLISECONDS = 1000;

async function syslogRepository({
  transport,
  host,
  port,
  tls,
}: NonNullable<Config['audit']['syslog']>): Promise<Finding[]> {
  const what = 'audit repository (syslog)';
  if (transport === 'udp') {
    try {
      await lookup(host);
      const words = `${host} has an address; UDP does not show whether messages arrive, so check there`;
      return [ok(what, words)];
    } catch (error) {
      return [fault(what, `${inOneLine(error)}; check \`audit.syslog.host\``)];
    }
  }
  const chain = checkChain(`${what}, TLS`, { host, port, ...tls });
  const ours = { ...tls, certificates: new ClientCertificates() };
  try {
    const patience = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    const socket = await connected(() => dial({ host, port, tls: ours }), patience);
    // With TLS 1.3, the server refuses our certificate only after the handshake, by closing the
    // connection.
    const closed = () => true;
    const refused = await Promise.race([
      once(socket.resume(), 'close').then(closed, closed),
      delay(ACCEPTED_MILLISECONDS, false),
    ]);
    socket.destroy();
    const finding = refused
      ? fault(what, 'closes the connection; does it require a certificate and trust ours?')
      : ok(what, 'accepts connections');
    return [finding, ...(await chain)];
  } catch (error) {
    return [fault(what, inOneLine(error)), ...(await chain)];
  }
}

/** Reads the repository's CapabilityStatement with our credentials. Writes nothing. */
async function fhirRepository(settings: NonNullable<Config['audit']['fhir']>): Promise<Finding[]> {
  const what = 'audit repository (FHIR)';
  const chain = checkWebChain(`${what}, TLS`, settings.baseUrl, {
    tls: settings.tls,
    sent: 'audit events',
  });
  try {
    const server = connectFhir(settings, new ClientCertificates());
    const statement = await server.capabilities(AbortSignal.timeout(PATIENCE_MILLISECONDS));
    return [auditEventsAt(what, statement), ...(await chain)];
  } catch (error) {
    const why = error instanceof FhirFailure ? error.reason.detail : inOneLine(error);
    return [fault(what, `${why}; check \`audit.fhir\``), ...(await chain)];
  }
}

type Statement = Awaited<ReturnType<ReturnType<typeof connectFhir>['capabilities']>>;

function auditEventsAt(what: string, statement: Statement): Finding {
  if (statement === null) {
    return warning(what, 'has no CapabilityStatement; check there whether our AuditEvents arrive');
  }
  const { fhirVersion, rest = [] } = statement;
  if (!fhirVersion?.startsWith('4.')) {
    return fault(what, `speaks FHIR ${fhirVersion}, AuditEvents are FHIR R4`);
  }
  const resources = rest.flatMap(({ resource = [] }) => resource);
  const events = resources.find(({ type }) => type === 'AuditEvent');
  const creates = events?.interaction?.some(({ code }) => code === 'create') ?? false;
  return resources.length === 0 || creates
    ? ok(what, `FHIR ${fhirVersion}`)
    : warning(what, 'does not state that it accepts AuditEvents; check there whether ours arrive');
}

/** Sends an empty list of spans. */
async function collector(settings: Tracing): Promise<Finding[]> {
  const what = 'collector of traces';
  const chain = checkWebChain(`${what}, TLS`, settings.endpoint);
  try {
    const exporter = await openSpanExporter(settings);
    await exporter.export([]).finally(() => exporter.close());
    return [ok(what, 'accepts traces'), ...(await chain)];
  } catch (error) {
    const words = 'check `tracing.endpoint`, which includes the path, and `tracing.headersFile`';
    return [fault(what, `${inOneLine(error)}; ${words}`), ...(await chain)];
  }
}
