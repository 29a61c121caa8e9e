import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Queryable } from '../database/port.ts';
import { ifMissing } from '../errors/if-missing.ts';
import type { Logger } from '../logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../rounds.ts';
import { type Seal, sealRows } from './chain.ts';
import { auditRows } from './row.ts';
import { auditFolder, loadSealKey, type SealKey } from './seal-key.ts';
import { lastSeal, storeSeal } from './seal-store.ts';

const EVERY_MILLISECONDS = 1000;
/** Rows of one seal; what is more follows in the next. */
const MOST_ROWS = 5000;
/** A writer that holds the audit open longer is not waited for: the next second will do. */
const LOCK_TIMEOUT_MILLISECONDS = 200;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Seals all rows that are there. Rows get their ids before they are committed; the lock is had only
 * when no transaction that has written to the audit is still open, so that no row can come to lie
 * below a sealed one later. Of several processes one seals at a time.
 * @returns the seal; null when there was nothing to seal, or others were writing or sealing.
 */
export async function sealAudit(database: Database, key: SealKey, at: Date): Promise<Seal | null> {
  try {
    return await database.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MILLISECONDS}`);
      await tx.query('LOCK TABLE audit_seals IN EXCLUSIVE MODE');
      const before = await lastSeal(tx);
      const after = before?.lastRow ?? 0n;
      if (!(await hasRowsAfter(tx, after))) return null;
      await tx.query('LOCK TABLE audit IN SHARE MODE');
      const all = { after, until: HIGHEST, limit: MOST_ROWS };
      const seal = sealRows(await auditRows(tx, all), before, { ...key, at });
      await storeSeal(tx, seal);
      return seal;
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return null;
    throw error;
  }
}

/** The highest id of a bigint column. */
const HIGHEST = 2n ** 63n - 1n;

async function hasRowsAfter(tx: Queryable, after: bigint): Promise<boolean> {
  const { rows } = await tx.query('SELECT 1 FROM audit WHERE id > $1 LIMIT 1', [String(after)]);
  return rows.length > 0;
}

/** Where the chain stood when this data folder last sealed: outside the database, on purpose. */
export interface Checkpoint {
  seal: string;
  head: string;
}

const CHECKPOINT = 'checkpoint.json';

/** Null before the first seal. */
export async function readCheckpoint(dataDir: string): Promise<Checkpoint | null> {
  const path = join(auditFolder(dataDir), CHECKPOINT);
  const text = await ifMissing(readFile(path, 'utf8'), null);
  return text === null ? null : (JSON.parse(text) as Checkpoint);
}

async function writeCheckpoint(dataDir: string, { id, head }: Seal): Promise<void> {
  const path = join(auditFolder(dataDir), CHECKPOINT);
  const checkpoint: Checkpoint = { seal: String(id), head: head.toString('hex') };
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(checkpoint));
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

/** Seals every second until stopped, and once more then. */
export async function startSealing(parts: {
  database: Database;
  dataDir: string;
  logger: Logger;
  now?: () => Date;
}): Promise<Rounds> {
  const { database, dataDir, logger, now = () => new Date() } = parts;
  const key = await loadSealKey(dataDir);
  return startRounds({
    async work() {
      const made = await sealAudit(database, key, now());
      if (made) await writeCheckpoint(dataDir, made);
    },
    pauseMilliseconds: EVERY_MILLISECONDS,
    onceMoreAtStop: true,
    ...logRounds(logger, 'sealing of the audit', (error) =>
      logger.error({ err: error }, 'the audit could not be sealed, will retry'),
    ),
  });
}
