import type { MailServer } from '../../../config/alerts.ts';
import type { ArchiveSettings } from '../../../config/peers.ts';
import type {
  Config,
  DicomDestination,
  DicomwebDestination,
  FhirDestination,
  Hl7v2Destination,
} from '../../../config/schema.ts';
import { checkGet, checkMove, checkQuery } from '../../../dimse/archive/check-archive.ts';
import { archiveNode, openArchives } from '../../../dimse/archive/open-archives.ts';
import { stowTransport } from '../../../dimse/dicomweb/stow-transport.ts';
import { clientTls, dial } from '../../../dimse/network/dial.ts';
import { calledNodeOf } from '../../../dimse/send/store-scu.ts';
import { checkNode, echo } from '../../../dimse/send/verification.ts';
import { openWorklists } from '../../../dimse/worklist/modality-worklist.ts';
import { httpAccess } from '../../../fhir/client/authorization.ts';
import { checkServer } from '../../../fhir/client/check-server.ts';
import { serviceRequestWorklist } from '../../../fhir/match/service-request-worklist.ts';
import { connected } from '../../doors/hl7v2/mllp.ts';
import { ERRORS } from '../../platform/errors/catalogue.ts';
import { silentLogger } from '../../platform/logging/logger.ts';
import { createMailer } from '../../platform/outbound/mail.ts';
import { ClientCertificates } from '../../platform/tls/client-files.ts';
import { checkChain, checkWebChain } from './certificates.ts';
import { type Finding, fault, inOneLine, ok, warning } from './finding.ts';

/**
 * Maximum clock difference in seconds. Tokens and audit trails need synchronised clocks (IHE ITI-1
 * requires one second).
 */
const CLOCK_SECONDS = 5;
const PEER_TIMEOUT_SECONDS = 20;

const NO_DESTINATIONS = 'none in the settings, so results stay on the gateway';

/**
 * Checks every destination, the mail server, and every source that accepts connections, in
 * parallel.
 */
export async function checkPeers(config: Config): Promise<Finding[]> {
  const { destinations, alerts } = config;
  const findings = await Promise.all([
    destinations.length === 0 ? [ok('destinations', NO_DESTINATIONS)] : [],
    nodes(config),
    alerts ? mailServer(alerts.server) : [],
  ]);
  return findings.flat();
}

/** Checks the destination or source with this name. */
export function checkPeer(peer: string, config: Config): Promise<Finding[]> {
  const isMeant = ({ name }: { name: string }) => name === peer;
  const destinations = config.destinations.filter(isMeant);
  return nodes({ ...config, destinations, sources: config.sources.filter(isMeant) });
}

async function nodes({
  destinations,
  sources,
  dicom,
}: Pick<Config, 'destinations' | 'sources' | 'dicom'>): Promise<Finding[]> {
  const ours = dicom.aeTitle;
  const findings = await Promise.all([
    ...destinations.map((peer) => {
      if (peer.type === 'local') return [];
      if (peer.type === 'dicom') return pacs(peer, ours);
      if (peer.type === 'hl7v2') return messages(peer);
      return peer.type === 'dicomweb' ? originServer(peer) : ehr(peer);
    }),
    ...sources.flatMap(({ name, node }) => (node ? [machine(name, node, ours)] : [])),
  ]);
  return findings.flat();
}

async function pacs(destination: DicomDestination, ours: string): Promise<Finding[]> {
  const what = `PACS ${destination.name}`;
  const node = {
    ...calledNodeOf(destination, ours, new ClientCertificates()),
    timeoutSeconds: PEER_TIMEOUT_SECONDS,
  };
  const { host, port, tls } = destination;
  const chain = tls ? checkChain(`${what}, TLS`, { host, port, ...tls }) : Promise.resolve([]);
  try {
    const report = await checkNode(node, destination);
    const { status, milliseconds, refused } = report;
    if (status !== 0) return [fault(what, `C-ECHO status ${status.toString(16)}H`)];
    const findings = [ok(what, `C-ECHO in ${milliseconds.toFixed(0)} ms`)];
    if (refused.length > 0) findings.push(fault(what, `does not accept ${refused.join(', ')}`));
    return [...findings, ...(await chain)];
  } catch (error) {
    // If the association fails, the certificate chain often shows why.
    return [fault(what, inOneLine(error)), ...(await chain)];
  }
}

async function mailServer(server: MailServer): Promise<Finding[]> {
  const what = `mail server ${server.host}`;
  try {
    await createMailer(server).check();
    return [ok(what, server.user ? `accepts ${server.user}` : 'answers')];
  } catch (error) {
    return [fault(what, inOneLine(error))];
  }
}

async function originServer(destination: DicomwebDestination): Promise<Finding[]> {
  const what = `DICOMweb ${destination.name}`;
  const patience = { ...destination, timeoutSeconds: PEER_TIMEOUT_SECONDS };
  const { probe } = stowTransport(patience, httpAccess(new ClientCertificates())(destination));
  const code = await probe?.(AbortSignal.timeout(PEER_TIMEOUT_SECONDS * 1000));
  return code ? [fault(what, ERRORS[code].title)] : [ok(what, 'answers')];
}

/**
 * Checks a receiver of HL7 version 2 messages. It only opens a connection, because HL7 version 2
 * has no message for testing one.
 */
async function messages(destination: Hl7v2Destination): Promise<Finding[]> {
  const what = `HL7 v2 ${destination.name}`;
  const { host, port, tls } = destination;
  const chain = tls ? checkChain(`${what}, TLS`, { host, port, ...tls }) : Promise.resolve([]);
  try {
    const patience = AbortSignal.timeout(PEER_TIMEOUT_SECONDS * 1000);
    const socket = await connected(
      () => dial({ ...destination, tls: clientTls(tls, new ClientCertificates()) }),
      patience,
    );
    socket.destroy();
    return [ok(what, 'accepts connections'), ...(await chain)];
  } catch (error) {
    return [fault(what, inOneLine(error)), ...(await chain)];
  }
}

async function ehr(destination: FhirDestination): Promise<Finding[]> {
  const what = `EHR ${destination.name}`;
  const { baseUrl, tls } = destination;
  const chain = checkWebChain(`${what}, TLS`, baseUrl, { tls, sent: 'reports' });
  try {
    const signal = AbortSignal.timeout(PEER_TIMEOUT_SECONDS * 1000);
    const { version, mode, ahead } = await checkServer(destination, signal);
    const findings = [
      version === null
        ? warning(what, `has no CapabilityStatement; results are sent by ${mode}`)
        : ok(what, `FHIR ${version}; results are sent by ${mode}`),
    ];
    if (version !== null && !version.startsWith('4.')) {
      findings.push(fault(what, `speaks FHIR ${version}, results are FHIR R4`));
    }
    if (ahead !== null && Math.abs(ahead) > CLOCK_SECONDS) {
      const direction = ahead > 0 ? 'ahead' : 'behind';
      findings.push(warning(what, `its clock is ${Math.abs(ahead).toFixed(0)} s ${direction}`));
    }
    return [...findings, ...(await chain)];
  } catch (error) {
    return [fault(what, inOneLine(error)), ...(await chain)];
  }
}

async function machine(
  name: string,
  node: { host: string; port: number; aeTitle: string },
  ours: string,
): Promise<Finding[]> {
  const what = `source ${name}`;
  try {
    const called = { ...node, callingAeTitle: ours, timeoutSeconds: PEER_TIMEOUT_SECONDS };
    const { status, milliseconds } = await echo(called);
    if (status !== 0) return [fault(what, `C-ECHO status ${status.toString(16)}H`)];
    return [ok(what, `C-ECHO in ${milliseconds.toFixed(0)} ms`)];
  } catch (error) {
    return [fault(what, inOneLine(error))];
  }
}

const ARCHIVE_TIMEOUT_SECONDS = 20;

const PATIENCE = PEER_TIMEOUT_SECONDS * 1000;
/** An accession number (SH) that no order has. */
const NO_ORDER = 'SONOGATE-DOCTOR';

/** Checks whether each archive answers queries and would send objects. Retrieves nothing. */
export async function checkArchives(config: Config): Promise<Finding[]> {
  const findings = await Promise.all(config.archives.map((settings) => archive(settings, config)));
  return findings.flat();
}

async function archive(settings: ArchiveSettings, config: Config): Promise<Finding[]> {
  const what = `archive ${settings.name}`;
  const patient = { ...settings, timeoutSeconds: ARCHIVE_TIMEOUT_SECONDS };
  try {
    const certificates = new ClientCertificates();
    const access = httpAccess(certificates);
    const parts = { logger: silentLogger, certificates, access };
    const [opened] = openArchives({ ...config, archives: [patient] }, parts);
    if (!opened) return [];
    const { milliseconds, matched } = await checkQuery(opened);
    const findings = [
      matched === 0
        ? ok(what, `answers queries in ${milliseconds.toFixed(0)} ms`)
        : warning(what, 'answers a query for a study that does not exist with other studies'),
    ];
    return [...findings, ...(await retrieval(what, patient, config))];
  } catch (error) {
    return [fault(what, inOneLine(error))];
  }
}

/** Checks whether each worklist answers a query for a non-existent order. */
export async function checkWorklists(config: Config): Promise<Finding[]> {
  const worklists = openWorklists(config, new ClientCertificates(), serviceRequestWorklist);
  const findings = worklists.map(async (worklist) => {
    const what = `worklist ${worklist.name}`;
    const start = performance.now();
    try {
      await worklist.orders({ accessionNumber: NO_ORDER }, AbortSignal.timeout(PATIENCE));
      return ok(what, `answers queries in ${(performance.now() - start).toFixed(0)} ms`);
    } catch (error) {
      return fault(what, inOneLine(error));
    }
  });
  return await Promise.all(findings);
}

async function retrieval(
  what: string,
  settings: ArchiveSettings,
  { dicom, sources }: Config,
): Promise<Finding[]> {
  if (settings.type === 'dicomweb') return [];
  const node = archiveNode(settings, dicom, new ClientCertificates());
  if (settings.retrieve === 'c-get') {
    const obstacle = await checkGet(node);
    return [obstacle ? fault(what, obstacle) : ok(what, 'C-GET is accepted')];
  }
  const moveTo = settings.moveTo ?? dicom.aeTitle;
  const obstacle = await checkMove(node, moveTo);
  if (obstacle) return [fault(what, obstacle)];
  const admitted = sources.some(({ callingAeTitles }) =>
    callingAeTitles.some((title) => title === '*' || title === settings.aeTitle),
  );
  if (!admitted)
    return [
      fault(what, `is not listed in sources: "${settings.aeTitle}" may not send to the gateway`),
    ];
  return [
    ok(what, `C-MOVE is accepted; the archive must have the gateway's address for "${moveTo}"`),
  ];
}
