import type { Queryable } from './database/port.ts';
import { type Rounds, startRounds } from './rounds.ts';

/** Milliseconds in a day of 24 hours. Calendar days are counted in UTC. */
export const DAY_MS = 86_400_000;

export const secondsAfter = (at: Date, seconds: number): Date =>
  new Date(at.getTime() + seconds * 1000);

/**
 * Milliseconds between queries for the database time. Between two queries, clocks drift by only a
 * few milliseconds.
 */
const EVERY_MILLISECONDS = 60_000;

/**
 * Smallest change of the database clock, in milliseconds, that counts as a jump. NTP corrects
 * smaller differences gradually, and between two queries clocks drift far less.
 */
const JUMP_MILLISECONDS = 60_000;

export interface SiteClock extends Rounds {
  now: () => Date;
}

/**
 * Opens the clock of the database, which all hosts of an installation share: one host checks
 * deadlines set by another. Between queries, the clock advances with the time that elapses locally,
 * even if this host's clock is changed or the database is unreachable.
 * @param options.lastSeen a time that the clock showed before this start. If it is in the future, the
 * clock was set back in the meantime.
 * @param options.onJump called with the seconds by which the database clock was set ahead, or back if
 * negative; called again if it rejects.
 * @throws the database error if the first query fails.
 */
export async function openSiteClock(
  database: Queryable,
  {
    everyMilliseconds = EVERY_MILLISECONDS,
    lastSeen = null,
    onJump,
  }: {
    everyMilliseconds?: number;
    lastSeen?: Date | null;
    onJump?: (seconds: number) => Promise<void>;
  } = {},
): Promise<SiteClock> {
  /** Milliseconds to add to `performance.now()` to get the time of the database. */
  let ahead = await milliseconds(database);
  const sinceSeen = lastSeen ? performance.now() + ahead - lastSeen.getTime() : 0;
  if (sinceSeen <= -JUMP_MILLISECONDS) await onJump?.(Math.round(sinceSeen / 1000));
  const rounds = startRounds({
    async work() {
      const found = await milliseconds(database);
      const change = found - ahead;
      if (Math.abs(change) >= JUMP_MILLISECONDS) await onJump?.(Math.round(change / 1000));
      ahead = found;
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
  if (!row) throw new Error('the database returned no time');
  // The database read its clock between the query and the response, so the midpoint of these two
  // times is used.
  return row.at.getTime() - (asked + performance.now()) / 2;
}
