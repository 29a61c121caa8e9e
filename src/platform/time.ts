import type { Queryable } from './database/port.ts';
import { type Rounds, startRounds } from './rounds.ts';

/** Milliseconds of a day of 24 hours; days of a calendar are counted in UTC. */
export const DAY_MS = 86_400_000;

/**
 * Milliseconds between two queries for the time of the database. Between two queries clocks drift
 * by only some milliseconds.
 */
const EVERY_MILLISECONDS = 60_000;

export interface SiteClock extends Rounds {
  now: () => Date;
}

/**
 * Opens the clock of the database, which all machines of a site share, because one machine checks
 * the deadlines that another has set. Between two queries the clock advances with the time that
 * passes here, even if the clock of this machine is changed or the database cannot be reached.
 * @throws the database's error when the first query fails.
 */
export async function openSiteClock(
  database: Queryable,
  everyMilliseconds = EVERY_MILLISECONDS,
): Promise<SiteClock> {
  /** Milliseconds by which the clock of the database is ahead of the clock of this process. */
  let ahead = await milliseconds(database);
  const rounds = startRounds({
    async work() {
      ahead = await milliseconds(database);
    },
    pauseMilliseconds: everyMilliseconds,
    onError: () => {},
  });
  return { now: () => new Date(performance.now() + ahead), stop: () => rounds.stop() };
}

async function milliseconds(database: Queryable): Promise<number> {
  const asked = performance.now();
  const { rows } = await database.query<{ at: Date }>('SELECT clock_timestamp() AS at');
  const [row] = rows;
  if (!row) throw new Error('the database did not say what time it is');
  // The database read its clock between the query and the answer, so the middle of these two times
  // is used.
  return row.at.getTime() - (asked + performance.now()) / 2;
}
