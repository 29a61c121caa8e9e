import type { Config } from '../../../config/schema.ts';
import { createArchiveOperations } from '../../../dimse/archive/operations.ts';
import { httpAccess } from '../../../fhir/client/authorization.ts';
import { createHoldQueue } from '../../../fhir/deliver/holds.ts';
import { createKey, listKeys, revokeKey, rotateKey } from '../../core/accounts/keys.ts';
import { acknowledgeFlags } from '../../core/alerts/alerts.ts';
import { createAuditWriter } from '../../core/audit/audit.ts';
import { openBlobStore } from '../../core/files/open-blob-store.ts';
import { createReceivedObjects, type ReceivedObjects } from '../../core/files/received-objects.ts';
import { closeDelivery } from '../../core/outbox/close.ts';
import { type DeliveryRow, sendAgain } from '../../core/outbox/deliveries.ts';
import { withdrawalReceivers } from '../../core/outbox/withdrawals.ts';
import { listMerges, separatePatients } from '../../core/patients/merges.ts';
import { withdrawResult } from '../../core/requests/withdrawal.ts';
import type { RetentionParts } from '../../core/studies/retention.ts';
import { fixedRules, type RulesSource } from '../../core/studies/rules/rules-source.ts';
import { subjectOfRequest } from '../../core/studies/subject.ts';
import { commandsOn, type RunByName } from '../../operations/commands.ts';
import { createDeliveryOperations } from '../../operations/deliveries.ts';
import type { Operations, StoredOperations } from '../../operations/operations.ts';
import {
  createQuarantineOperations,
  createRetentionOperations,
  createRuleOperations,
  createStudyOperations,
} from '../../operations/studies.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { openDatabase } from '../../platform/database/open.ts';
import type { PooledDatabase } from '../../platform/database/pooled.ts';
import { type Database, withinTransaction } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { type Logger, silentLogger } from '../../platform/logging/logger.ts';
import { openSiteClock } from '../../platform/time.ts';
import { ClientCertificates } from '../../platform/tls/client-files.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { auditOperationsOn } from './audit.ts';

export async function openCommands(
  config: Config,
): Promise<{ run: RunByName; close(): Promise<void> }> {
  const database = await openDatabase({ ...config, logger: silentLogger });
  await migrate(database);
  const blobs = await openBlobStore(config);
  const objects = createReceivedObjects(config.dataDir, blobs);
  const certificates = new ClientCertificates();
  const rules = fixedRules(config.routing);
  const clock = await openSiteClock(database);
  const { now } = clock;
  const logger = silentLogger;
  const common = { database, objects, certificates, logger, now };
  const operations = operationsOn({ ...common, config, rules });
  return {
    run: commandsOn(operations, createAuditWriter(database)),
    close: async () => {
      await clock.stop();
      blobs.close();
      await database.close();
    },
  };
}

export function operationsOn({
  database,
  objects,
  certificates,
  config,
  rules,
  logger,
  now,
}: {
  database: PooledDatabase;
  objects: ReceivedObjects;
  certificates: ClientCertificates;
  config: Config;
  rules: RulesSource;
  logger: Logger;
  now: () => Date;
}): Operations {
  const studies = { database, objects, rules };
  const stored = { objects, config, rules };
  const logClosed = ({ id, destination, object, code }: DeliveryRow) =>
    logger.event('delivery_closed', {
      delivery: id,
      destination,
      object,
      ...(code && { code }),
    });
  return {
    ...storedOperationsOn({ ...stored, database, onClosed: logClosed }),
    async together(work) {
      // What is closed is logged once the transaction is committed.
      const closed: DeliveryRow[] = [];
      const answer = await database.transaction((tx) => {
        const onClosed = (row: DeliveryRow) => closed.push(row);
        const within = { ...stored, database: withinTransaction(tx), onClosed };
        return work(storedOperationsOn(within), createAuditWriter(tx));
      });
      closed.forEach(logClosed);
      return answer;
    },
    rules: createRuleOperations({ ...studies, config, endpoints: ENDPOINTS }),
    quarantine: createQuarantineOperations({
      ...{ dataDir: config.dataDir, sources: config.sources },
      ...{ database, objects, logger, now },
    }),
    archives: createArchiveOperations(config, {
      database,
      access: httpAccess(certificates),
      certificates,
      writeAudit: createAuditWriter(database),
      logger,
    }),
    retention: createRetentionOperations(retentionOf(config, { database, objects, now })),
    audit: auditOperationsOn(database, config),
    async doctor(peer) {
      if (peer === null) {
        const { examineWith } = await import('../doctor/doctor.ts');
        return examineWith({ ...config, routing: rules.current() });
      }
      const { checkPeer } = await import('../doctor/peers.ts');
      return checkPeer(peer, config);
    },
  };
}

/** Creates the operations that change only the database. */
function storedOperationsOn({
  database,
  objects,
  config,
  rules,
  onClosed,
}: {
  database: Database;
  objects: ReceivedObjects;
  config: Config;
  rules: RulesSource;
  onClosed: (delivery: DeliveryRow) => void;
}): StoredOperations {
  const giveUpSeconds = config.delivery.giveUpAfterHours * 3600;
  return {
    keys: {
      create: (key) => createKey(database, key),
      list: () => listKeys(database),
      rotate: (id, overlapHours) =>
        rotateKey(database, { id, overlapHours, accountId: null, testOnly: false }),
      revoke: (id) => revokeKey(database, id),
    },
    studies: createStudyOperations({ database, objects, rules }),
    deliveries: createDeliveryOperations(config, database, onClosed),
    holds: createHoldQueue({
      database,
      subjectOf: (requestId) => subjectOfRequest(database, requestId),
      sendAgain: (tx, id) => sendAgain(tx, id, ['dead', 'pending'], giveUpSeconds),
      async close(tx, id, closing) {
        const closed = await closeDelivery(tx, id, closing);
        if (closed) onClosed(closed);
      },
    }),
    alerts: {
      async acknowledge({ request, person }) {
        if (await acknowledgeFlags(database, request, { person, at: new Date() })) return;
        const detail = `There are no critical flags for a request ${request}.`;
        throw new SonogateError('not_found', detail);
      },
    },
    results: {
      async withdraw({ request, ...command }) {
        const { withdrawal } = await withdrawResult(database, request, command, {
          at: new Date(),
          giveUpSeconds,
        });
        return { ...withdrawal, receivers: await withdrawalReceivers(database, request) };
      },
    },
    patients: {
      merges: () => listMerges(database),
      separate: (id) => database.transaction((tx) => separatePatients(tx, id, new Date())),
    },
  };
}

/** Returns how long received studies are kept, and where their removal is recorded. */
export function retentionOf(
  { dataDir, retention }: Config,
  parts: { database: PooledDatabase; objects: ReceivedObjects; now: () => Date },
): RetentionParts {
  const { intakeDays = null, quarantineDays = null } = retention;
  return { ...parts, dataDir, intakeDays, quarantineDays };
}
