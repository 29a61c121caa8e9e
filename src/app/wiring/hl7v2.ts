import type { Config } from '../../../config/schema.ts';
import { removeOldOrders } from '../../core/studies/received-orders.ts';
import { forgetAnswers } from '../../doors/hl7v2/receive/answer.ts';
import { listenForMessages } from '../../doors/hl7v2/receive/listener.ts';
import type { Database } from '../../platform/database/port.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { DAY_MS } from '../../platform/time.ts';
import type { AuditService } from './audit.ts';
import { startCleaning } from './cleaning.ts';

/** Receives HL7 version 2 messages, and removes orders and responses older than `keepDays`. */
export async function startHl7v2(
  config: Pick<Config, 'shutdown'> & { hl7v2: NonNullable<Config['hl7v2']> },
  parts: {
    database: Database;
    audit: Pick<AuditService, 'write' | 'refusals'>;
    logger: Logger;
    now: () => Date;
  },
): Promise<{ port: number; stop(): Promise<void> }> {
  const { database, audit, logger, now } = parts;
  const { hl7v2: settings, shutdown } = config;
  const listener = await listenForMessages({
    settings,
    database,
    writeAudit: audit.write,
    refusals: audit.refusals,
    logger,
    now,
  });
  const cleaning = startCleaning(
    async () => {
      const before = new Date(now().getTime() - settings.keepDays * DAY_MS);
      await removeOldOrders(database, before);
      await forgetAnswers(database, before);
    },
    (err) => logger.event('hl7_not_cleaned', { err }),
    logger,
  );
  return {
    port: listener.port,
    async stop() {
      await cleaning.stop();
      await listener.close(shutdown.graceSeconds);
    },
  };
}
