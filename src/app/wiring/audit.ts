import { hostname } from 'node:os';
import type { Config } from '../../../config/schema.ts';
import { tlsOptions } from '../../../dimse/network/dial.ts';
import { auditEvent } from '../../../fhir/resources/audit-event.ts';
import { createAuditWriter, timeOfLastEntry, type WriteAudit } from '../../core/audit/audit.ts';
import { dicomAuditMessage } from '../../core/audit/dicom-message.ts';
import type { AuditFacts, AuditSite } from '../../core/audit/facts.ts';
import { startAuditFeed } from '../../core/audit/feed.ts';
import { createRefusalAudit, type RefusalAudit } from '../../core/audit/refusals.ts';
import { startSealing } from '../../core/audit/seal.ts';
import { syslogMessage, syslogOverTls, syslogOverUdp } from '../../core/audit/syslog.ts';
import { auditSubjects } from '../../core/studies/subject.ts';
import {
  type AuditFormats,
  type AuditOperations,
  createAuditOperations,
} from '../../operations/audit.ts';
import type { Database } from '../../platform/database/port.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { ClientCertificates } from '../../platform/tls/client-files.ts';
import { COMMIT, VERSION } from '../../platform/version.ts';

/** FHIR identifier system of our request ids in AuditEvents. */
const REQUEST_SYSTEM = 'urn:sonogate:request';

type AuditConfig = Pick<Config, 'audit' | 'dataDir' | 'dicom' | 'roles' | 'destinations'>;

export interface AuditService {
  write: WriteAudit;
  refusals: RefusalAudit;
  /** Time of the last entry before this start; null if there was none. */
  lastEntryAt: Date | null;
  /** Records that the gateway is stopping, seals the audit trail, and stops sending it. */
  stop(): Promise<void>;
}

/** Starts sealing the audit trail and sending it to the configured repositories. */
export async function startAudit(
  config: AuditConfig,
  {
    database,
    certificates,
    logger,
  }: { database: Database; certificates: ClientCertificates; logger: Logger },
): Promise<AuditService> {
  const write = createAuditWriter(database);
  const refusals = createRefusalAudit({ writeAudit: write, logger });
  const sealing = await startSealing({ database, dataDir: config.dataDir, logger });
  const lastEntryAt = await timeOfLastEntry(database);
  const about = { actor: 'gateway', detail: { roles: config.roles.join(','), pid: process.pid } };
  await write({
    ...about,
    // States which program made the results of a given day.
    detail: { ...about.detail, version: VERSION, commit: COMMIT },
    at: new Date(),
    action: 'gateway.start',
    outcome: 'success',
  });
  const feeds = (await repositoriesOf(config, certificates)).map(({ name, send, close }) => {
    const common = { database, subjectsOf: auditSubjects(database), site: siteOf(config), logger };
    const feed = startAuditFeed({ ...common, name, send });
    return async () => {
      await feed.stop();
      close();
    };
  });
  return {
    write,
    refusals,
    lastEntryAt,
    async stop() {
      await refusals.stop();
      await write({ ...about, at: new Date(), action: 'gateway.stop', outcome: 'success' });
      await sealing.stop();
      for (const end of feeds) await end();
    },
  };
}

export function auditOperationsOn(database: Database, config: AuditConfig): AuditOperations {
  const identifiers = identifiersOf(config);
  const formats: AuditFormats = {
    dicom: dicomAuditMessage,
    fhir: (facts) => JSON.stringify(auditEvent(facts, identifiers)),
    jsonl: ({ site: _site, ...facts }) => JSON.stringify(facts),
  };
  return createAuditOperations({
    database,
    dataDir: config.dataDir,
    subjectsOf: auditSubjects(database),
    site: siteOf(config),
    formats,
  });
}

interface Repository {
  name: string;
  send(events: readonly AuditFacts[]): Promise<void>;
  close(): void;
}

async function repositoriesOf(
  config: AuditConfig,
  certificates: ClientCertificates,
): Promise<Repository[]> {
  const { syslog, fhir } = config.audit;
  return [
    ...(syslog ? [syslogRepository(syslog, certificates)] : []),
    ...(fhir ? [await fhirRepository(fhir, config, certificates)] : []),
  ];
}

function syslogRepository(
  settings: NonNullable<Config['audit']['syslog']>,
  certificates: ClientCertificates,
): Repository {
  const { transport, host, tls } = settings;
  const sender =
    transport === 'tls'
      ? syslogOverTls(settings, () => tlsOptions({ ...tls, certificates }, host))
      : syslogOverUdp(settings);
  return {
    name: 'syslog',
    send: (events) =>
      sender.send(
        events.map((facts) =>
          syslogMessage(dicomAuditMessage(facts), {
            at: facts.at,
            hostName: facts.site.hostName,
            processId: process.pid,
          }),
        ),
      ),
    close: sender.close,
  };
}

async function fhirRepository(
  settings: NonNullable<Config['audit']['fhir']>,
  config: AuditConfig,
  certificates: ClientCertificates,
): Promise<Repository> {
  const { connectFhir } = await import('../../../fhir/client/client.ts');
  const server = connectFhir(settings, certificates);
  const identifiers = identifiersOf(config);
  const ending = new AbortController();
  return {
    name: 'fhir',
    async send(events) {
      for (const facts of events) {
        await server.create(auditEvent(facts, identifiers), ending.signal);
      }
    },
    close: () => ending.abort(),
  };
}

/**
 * Returns the identifier systems for messages to the audit repository. In these messages, patients
 * have the same identifiers as in the EHR.
 */
function identifiersOf({ destinations }: AuditConfig) {
  const ehr = destinations.find((destination) => destination.type === 'fhir');
  return { requestSystem: REQUEST_SYSTEM, patientSystems: ehr?.patientIdentifierSystems };
}

function siteOf({ audit, dicom }: AuditConfig): AuditSite {
  return {
    sourceId: audit.sourceId ?? hostname(),
    siteId: audit.siteId,
    aeTitle: dicom.aeTitle,
    hostName: hostname(),
  };
}

/**
 * Returns what a destination is called in the audit trail: its AE title, or its name in the
 * configuration.
 */
export function auditedActor({ destinations }: Pick<Config, 'destinations'>, name: string): string {
  const found = destinations.find((destination) => destination.name === name);
  return found?.type === 'dicom' ? `ae:${found.aeTitle}` : `node:${name}`;
}
