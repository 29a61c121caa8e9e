import type { Source } from '../../../config/schema.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { secondsAfter } from '../../platform/time.ts';

/**
 * The signals that make a study count as complete. The row of the study stores the signal with
 * `complete_after`.
 *
 *   quiet-time             no object has arrived for a while
 *   association-release    the last association that sent objects was released
 *   performed-procedure    the cart reported the step as completed (MPPS, PS3.4 F.7)
 *   instance-availability  a PACS reported that it has the study (IAN, PS3.4 R)
 *   expected-count         all objects of the archive have arrived
 *   command                a person completed or released the study
 *   rerun                  a person, or the policy of the source, had it interpreted again
 */
export const COMPLETION_SIGNAL = [
  'quiet-time',
  'association-release',
  'performed-procedure',
  'instance-availability',
  'expected-count',
  'command',
  'rerun',
] as const;
export type CompletionSignal = (typeof COMPLETION_SIGNAL)[number];

/** Signals that are only guesses, because no system has stated how many objects the study has. */
export const UNCERTAIN_SIGNALS: readonly CompletionSignal[] = ['quiet-time', 'association-release'];

/** Settings for studies of a source that is no longer configured. */
const FORGOTTEN_SOURCE: Pick<Source, 'completion' | 'rerun'> = {
  completion: { signal: 'quiet-time', quietSeconds: 30, afterReleaseSeconds: 5 },
  rerun: 'when-content-changed',
};

/** Returns when a study counts as complete if nothing more arrives after `lastArrival`. */
export function quietDeadline(sources: readonly Source[], source: string, lastArrival: Date): Date {
  return secondsAfter(lastArrival, settingsOf(sources, source).completion.quietSeconds);
}

/**
 * Returns when a study counts as complete after the last association that sent objects was
 * released; null if this source does not use a release as a completion signal.
 */
export function releaseDeadline(
  sources: readonly Source[],
  source: string,
  released: Date,
): Date | null {
  const { signal, afterReleaseSeconds } = settingsOf(sources, source).completion;
  return signal === 'association-release' ? secondsAfter(released, afterReleaseSeconds) : null;
}

/**
 * Returns when a study counts as complete once all objects listed by a cart or PACS have arrived.
 */
export function expectedDeadline(sources: readonly Source[], source: string, now: Date): Date {
  return secondsAfter(now, settingsOf(sources, source).completion.afterReleaseSeconds);
}

/** Returns the source's policy for interpreting a study again when objects arrive late. */
export function rerunPolicy(sources: readonly Source[], source: string): Source['rerun'] {
  return settingsOf(sources, source).rerun;
}

function settingsOf(
  sources: readonly Source[],
  name: string,
): Pick<Source, 'completion' | 'rerun'> {
  return sources.find((source) => source.name === name) ?? FORGOTTEN_SOURCE;
}

/** A study, and when it counts as complete. */
export interface Completion {
  studyId: string;
  completeAfter: Date;
}

/**
 * Brings forward the time at which studies that are still receiving objects count as complete;
 * never postpones it. A certain signal always replaces an uncertain one as the recorded reason. If
 * the uncertain signal gave the earlier time, that time is kept.
 */
export async function hastenCompletion(
  database: Queryable,
  completions: readonly Completion[],
  because: CompletionSignal,
): Promise<void> {
  await database.query(
    // The rows are locked in the same order as for received objects (record-arrival.ts), so that
    // the two cannot deadlock.
    `WITH locked AS (
       SELECT id FROM studies WHERE id = ANY ($1::uuid[]) AND state = 'receiving'
       ORDER BY study_instance_uid FOR UPDATE)
     UPDATE studies s SET complete_after = LEAST(complete_after, n.at), complete_because = $3
     FROM unnest($1::uuid[], $2::timestamptz[]) AS n (id, at) JOIN locked USING (id)
     WHERE s.id = n.id AND (complete_after > n.at OR (complete_because = ANY ($4::text[]) AND $5))`,
    [
      completions.map(({ studyId }) => studyId),
      completions.map(({ completeAfter }) => completeAfter),
      because,
      UNCERTAIN_SIGNALS,
      !UNCERTAIN_SIGNALS.includes(because),
    ],
  );
}

/**
 * Seconds by which the arrival time of an object may be in the future. More than that means the
 * clock was set back.
 */
const CLOCK_SKEW_SECONDS = 10;

/**
 * Moves deadlines back after the clock was set back, so that the time from a study's last object to
 * each deadline stays the same. Otherwise a deadline could be hours away.
 */
async function keepDistance(database: Queryable, now: Date): Promise<void> {
  await database.query(
    `WITH moved AS (
       SELECT id, revision, last_received_at - $1::timestamptz AS distance FROM studies
       WHERE state IN ('receiving', 'complete')
         AND last_received_at > $1::timestamptz + make_interval(secs => $2)
       FOR UPDATE),
     counts AS (
       UPDATE archive_counts c SET ask_at = ask_at - distance, hold_until = hold_until - distance
       FROM moved m WHERE c.study_id = m.id AND c.revision = m.revision),
     orders AS (
       UPDATE order_searches o SET deadline = deadline - distance,
         taken_until = taken_until - distance
       FROM moved m WHERE o.study_id = m.id AND o.revision = m.revision AND o.state = 'searching'),
     priors AS (
       UPDATE prior_searches p SET deadline = deadline - distance,
         taken_until = taken_until - distance
       FROM moved m WHERE p.study_id = m.id AND p.revision = m.revision AND p.state = 'searching')
     UPDATE studies s SET complete_after = complete_after - distance,
       next_attempt_at = next_attempt_at - distance, last_received_at = $1::timestamptz
     FROM moved m WHERE s.id = m.id`,
    [now, CLOCK_SKEW_SECONDS],
  );
}

/** Returns true if any study is still receiving objects or is waiting to be routed. */
export async function hasOpenStudies(database: Queryable): Promise<boolean> {
  const { rows } = await database.query<{ open: boolean }>(
    "SELECT EXISTS (SELECT 1 FROM studies WHERE state IN ('receiving', 'complete')) AS open",
  );
  return rows[0]?.open === true;
}

/**
 * Moves studies whose `complete_after` has passed from `receiving` to `complete`. If no signal
 * shows that all objects have arrived, a study also waits for any object that its cart is still
 * sending (receptions.ts), because it may belong to the study.
 */
export async function completeDueStudies(
  database: Database,
  now: Date,
  outstanding: () => string[] = () => [],
): Promise<void> {
  await keepDistance(database, now);
  await database.query(
    `UPDATE studies s SET state = 'complete', next_attempt_at = $1
     WHERE state = 'receiving' AND complete_after <= $1
       AND study_instance_uid <> ALL ($3::text[])
       AND NOT (complete_because = ANY ($2::text[]) AND EXISTS (
         SELECT 1 FROM receptions_under_way r
         WHERE r.source = s.source AND r.calling_ae_title = s.calling_ae_title
           AND r.began_at <= s.complete_after AND r.silent_after > $1))`,
    // `outstanding` is called after `now` was read, so it includes every object acknowledged before
    // `now`. An object acknowledged later is too late for the deadlines that have passed.
    [now, UNCERTAIN_SIGNALS, outstanding()],
  );
}
