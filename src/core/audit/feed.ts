import type { Database, Queryable } from '../../platform/database/port.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { type Rounds, startRounds } from '../../platform/rounds.ts';
import { type AuditRow, auditRows } from './audit.ts';
import { type AuditFacts, type AuditSite, type AuditSubject, factsOf } from './facts.ts';
import { sealedUpTo } from './seal.ts';

const EVERY_MILLISECONDS = 1000;
const BATCH = 100;
const LEASE_SECONDS = 120;
/**
 * Maximum wait in milliseconds after a repository fails. The wait doubles with each failure until
 * it reaches this limit.
 */
const LONGEST_WAIT_MILLISECONDS = 60_000;

/**
 * Finds the patient and study of each row that concerns a study, by our own study id or by the
 * request.
 */
export type SubjectsOf = (
  rows: readonly Pick<AuditRow, 'id' | 'study_id' | 'request_id'>[],
) => Promise<ReadonlyMap<string, AuditSubject>>;

interface FeedParts {
  /** Name under which the database records how far the events have been sent. */
  name: string;
  database: Database;
  subjectsOf: SubjectsOf;
  site: AuditSite;
  /** Sends events in order. Rejects if they must be sent again. */
  send(events: readonly AuditFacts[]): Promise<void>;
  logger: Logger;
}

/**
 * Sends all sealed rows to an audit repository, in order, each at least once. The database records
 * the last row that the repository has received. A repository that was unreachable therefore gets
 * the later rows once it is back, without a separate spool. Only one process of an installation
 * sends at a time.
 */
export function startAuditFeed(parts: FeedParts): Rounds {
  const { name, logger } = parts;
  let stopped = false;
  const rounds = startRounds({
    async work() {
      while ((await tellBatch(parts)) === BATCH && !stopped);
    },
    pauseMilliseconds: (failures) =>
      Math.min(LONGEST_WAIT_MILLISECONDS, EVERY_MILLISECONDS * 2 ** failures),
    onError(error, failures) {
      logger.event('audit_repository_away', { err: error, repository: name, failures });
    },
  });
  return {
    stop() {
      stopped = true;
      return rounds.stop();
    },
  };
}

async function tellBatch({ name, database, subjectsOf, site, send }: FeedParts): Promise<number> {
  const after = await claim(database, name);
  if (after === null) return 0;
  let told = after;
  try {
    const until = await sealedUpTo(database);
    const rows = await auditRows(database, { after, until, limit: BATCH });
    const last = rows.at(-1);
    if (!last) return 0;
    const subjects = await subjectsOf(rows);
    await send(rows.map((row) => factsOf(row, subjects.get(row.id) ?? null, site)));
    told = BigInt(last.id);
    return rows.length;
  } finally {
    await database.query(
      'UPDATE audit_feeds SET last_row = $2, lease_until = NULL WHERE name = $1',
      [name, String(told)],
    );
  }
}

/**
 * Claims the feed for `LEASE_SECONDS`.
 * @returns the number of the last row that the repository has received; null while another process
 * is sending.
 */
async function claim(database: Queryable, name: string): Promise<bigint | null> {
  await database.query('INSERT INTO audit_feeds (name) VALUES ($1) ON CONFLICT DO NOTHING', [name]);
  const { rows } = await database.query<{ last_row: string }>(
    `UPDATE audit_feeds SET lease_until = now() + make_interval(secs => $2)
     WHERE name = $1 AND (lease_until IS NULL OR lease_until < now())
     RETURNING last_row::text`,
    [name, LEASE_SECONDS],
  );
  return rows[0] ? BigInt(rows[0].last_row) : null;
}
