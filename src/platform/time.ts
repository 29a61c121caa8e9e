import type { Queryable } from './database/port.ts';
import { type Rounds, startRounds } from './rounds.ts';

/** A day of 24 hours, in milliseconds; days of a calendar are counted in UTC. */
export const DAY_MS = 86_400_000;

/**
 * How often the database is asked for the time; clocks drift by only milliseconds between two
 * queries.
 */
const EVERY_MILLISECONDS = 60_000;

export interface SiteClock extends Rounds {
  now: () => Date;
}

/**
 * The clock of the database, which all machines of a site share: a deadline that one listener sets
 * is judged by another. Between two queries it advances with the time that passes here, whatever
 * happens to the clock of this machine, and also while the database is away.
 * @throws the database's error when it cannot be asked at first.
 */
export async function openSiteClock(
  database: Queryable,
  everyMilliseconds = EVERY_MILLISECONDS,
): Promise<SiteClock> {
  /** Milliseconds from the time of this process to that of the database. */
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
  // The database read its clock between the question and the answer, so the middle of the two is
  // used.
  return row.at.getTime() - (asked + performance.now()) / 2;
}

/** A day of 24 hours, in milliseconds; days of a calendar are counted in UTC. */
export const MS_PER_DAY = 86_400_000;
