import { routingSchema } from '../../../config/routing.ts';
import type { Config } from '../../../config/schema.ts';
import { createArchiveOperations } from '../../../dimse/archive/operations.ts';
import { httpAccess } from '../../../fhir/client/authorization.ts';
import { createHoldOperations, createHoldQueue } from '../../../fhir/deliver/holds.ts';
import { createAuditWriter } from '../../core/audit/audit.ts';
import { openBlobStore } from '../../core/files/open-blob-store.ts';
import type { ReceivedObjects } from '../../core/files/received-objects.ts';
import { createReceivedObjects } from '../../core/files/received-objects.ts';
import { sendAgain } from '../../core/outbox/deliveries.ts';
import { completeNow, dryRun, releaseStudy, rerunStudy } from '../../core/studies/commands.ts';
import { explainStudy } from '../../core/studies/explain.ts';
import { subjectOfRequest } from '../../core/studies/patient.ts';
import { retentionOperations } from '../../core/studies/retention.ts';
import { fixedRules, type RulesSource } from '../../core/studies/rules/rules-source.ts';
import { auditedOperations } from '../../operations/audited.ts';
import { createDeliveryOperations } from '../../operations/deliveries.ts';
import { createKeyOperations } from '../../operations/keys.ts';
import type { AdminOperations } from '../../operations/socket.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { openDatabase, type PooledDatabase } from '../../platform/database/open.ts';
import { silentLogger } from '../../platform/logging/logger.ts';
import { auditOperationsOn } from './audit.ts';

/** The operations alone, for a command that finds no gateway running. */
export async function openOperations(
  config: Config,
): Promise<{ operations: AdminOperations; close(): Promise<void> }> {
  const database = await openDatabase({ ...config, logger: silentLogger });
  await migrate(database);
  const blobs = await openBlobStore(config);
  const objects = createReceivedObjects(config.dataDir, blobs);
  return {
    operations: operationsOn(database, objects, config, fixedRules(config.routing)),
    close: async () => {
      blobs.close();
      await database.close();
    },
  };
}

/** What commands and the console may ask of the gateway, audited. */
export function operationsOn(
  database: PooledDatabase,
  objects: ReceivedObjects,
  config: Config,
  rules: RulesSource,
): AdminOperations {
  const now = () => ({ routing: rules.current(), at: new Date() });
  const giveUpSeconds = config.delivery.giveUpAfterHours * 3600;
  const writeAudit = createAuditWriter(database);
  const operations = createKeyOperations({
    database,
    studies: {
      explain: (key) => explainStudy(database, key, { ...now(), objects }),
      completeNow: (key) => completeNow(database, key, new Date()),
      release: (key, rule) => releaseStudy(database, key, rule, now()),
      rerun: (key) => rerunStudy(database, key, new Date()),
      dryRun: (routing, last) =>
        dryRun(database, {
          ...now(),
          ...(routing !== null && { routing: routingSchema.parse(routing) }),
          objects,
          last,
        }),
    },
    more: {
      ...createDeliveryOperations(config, database),
      ...createHoldOperations(
        createHoldQueue({
          database,
          subjectOf: (requestId) => subjectOfRequest(database, requestId),
          sendAgain: (tx, id) => sendAgain(tx, id, ['dead', 'pending'], giveUpSeconds),
        }),
      ),
      ...createArchiveOperations(config, {
        database,
        access: httpAccess,
        writeAudit,
        logger: silentLogger,
      }),
    },
  });
  const all = {
    ...operations,
    ...auditOperationsOn(database, config),
    ...retentionOperations(retentionOf(config, database, objects)),
  };
  return auditedOperations(all, writeAudit);
}

/** How long received studies are kept, and what is told of their removal. */
export function retentionOf(
  { dataDir, retention }: Config,
  database: PooledDatabase,
  objects: ReceivedObjects,
) {
  const { intakeDays = null, quarantineDays = null } = retention;
  const writeAudit = createAuditWriter(database);
  return { database, dataDir, objects, intakeDays, quarantineDays, writeAudit };
}
