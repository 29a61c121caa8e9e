import { routingSchema } from '../../config/routing-schema.ts';
import type { Config } from '../../config/schema.ts';
import { createArchiveOperations } from '../../dimse/archive/operations.ts';
import { explainStudy } from '../../dimse/explain.ts';
import { retentionOperations } from '../../dimse/retention-service.ts';
import { fixedRules, type RulesSource } from '../../dimse/routing/rules-source.ts';
import { completeNow, dryRun, releaseStudy, rerunStudy } from '../../dimse/study-commands.ts';
import { subjectOfRequest } from '../../dimse/subject.ts';
import { createHoldOperations } from '../../fhir/hold-operations.ts';
import { createHoldQueue } from '../../fhir/hold-queue.ts';
import { httpAccess } from '../../fhir/http-access.ts';
import { createOperations } from '../admin/operations.ts';
import type { AdminOperations } from '../admin/socket.ts';
import { createAuditWriter } from '../audit/audit.ts';
import { auditedOperations } from '../audit/audited-operations.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase, type PooledDatabase } from '../database/open.ts';
import { openBlobStore } from '../files/open-blob-store.ts';
import type { ReceivedObjects } from '../files/port.ts';
import { createReceivedObjects } from '../files/received-objects.ts';
import { silentLogger } from '../logging/logger.ts';
import { sendAgain } from '../outbox/deliveries.ts';
import { createDeliveryOperations } from '../outbox/delivery-operations.ts';
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
  const operations = createOperations({
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
