import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { DAY_MS } from '../../platform/time.ts';
import { unendedSince } from './find.ts';

/** Well-known UID of the subscription to all workitems (PS3.4 CC.2.3.2). */
export const WORKLIST_UID = '1.2.840.10008.5.1.4.34.5';
/** Well-known UID of a subscription to the workitems that match a filter. */
export const FILTERED_WORKLIST_UID = '1.2.840.10008.5.1.4.34.5.1';

/** Maximum number of subscriptions of an account. */
const MOST_SUBSCRIPTIONS = 10_000;

/** The AE that receives event reports. */
export interface Subscriber {
  accountId: string;
  aeTitle: string;
}

export interface Subscription {
  account_id: string;
  ae_title: string;
  /** UID of a workitem, or `WORKLIST_UID`. */
  target: string;
  subscribed: boolean;
  deletion_lock: boolean;
  suspended_at: Date | null;
  changed_at: Date;
}

/**
 * Subscribes to a workitem or to the worklist (PS3.4 table CC.2.3-2). A deletion lock is always
 * granted, because workitems are never deleted.
 * @throws SonogateError `rate_limited`
 */
export async function subscribe(
  database: Queryable,
  { accountId, aeTitle }: Subscriber,
  { target, deletionLock, at }: { target: string; deletionLock: boolean; at: Date },
): Promise<void> {
  const { rowCount } = await database.query(
    `INSERT INTO workitem_subscriptions AS kept
       (account_id, ae_title, target, subscribed, deletion_lock, changed_at)
     SELECT $1, $2, $3, true, $4, $5
     WHERE EXISTS (SELECT 1 FROM workitem_subscriptions
         WHERE account_id = $1 AND ae_title = $2 AND target = $3)
       OR (SELECT count(*) FROM workitem_subscriptions WHERE account_id = $1) < $6
     ON CONFLICT (account_id, ae_title, target) DO UPDATE SET subscribed = true,
       deletion_lock = excluded.deletion_lock, suspended_at = NULL,
       changed_at = excluded.changed_at`,
    [accountId, aeTitle, target, deletionLock, at, MOST_SUBSCRIPTIONS],
  );
  if (rowCount === 1 && target === WORKLIST_UID) {
    // The new subscription covers all workitems, so earlier exceptions to it are removed.
    await database.query(
      `DELETE FROM workitem_subscriptions
       WHERE account_id = $1 AND ae_title = $2 AND NOT subscribed`,
      [accountId, aeTitle],
    );
  }
  if (rowCount === 1) return;
  throw new SonogateError(
    'rate_limited',
    `An account may have at most ${MOST_SUBSCRIPTIONS} subscriptions.`,
  );
}

/**
 * Ends a subscription. For the worklist, this ends all of the AE's subscriptions. If an AE that is
 * subscribed to the worklist unsubscribes from one workitem, this is recorded as an exception,
 * because the subscription to the worklist would otherwise include the workitem.
 * @returns false if there was no subscription.
 */
export async function unsubscribe(
  database: Queryable,
  { accountId, aeTitle }: Subscriber,
  { target, at }: { target: string; at: Date },
): Promise<boolean> {
  const own = 'account_id = $1 AND ae_title = $2';
  if (target === WORKLIST_UID) {
    const { rowCount } = await database.query(`DELETE FROM workitem_subscriptions WHERE ${own}`, [
      accountId,
      aeTitle,
    ]);
    return (rowCount ?? 0) > 0;
  }
  const { rows } = await database.query<{ ended: boolean }>(
    `WITH global AS (
       SELECT 1 FROM workitem_subscriptions WHERE ${own} AND target = '${WORKLIST_UID}'
     ), excepted AS (
       INSERT INTO workitem_subscriptions AS kept
         (account_id, ae_title, target, subscribed, deletion_lock, changed_at)
       SELECT $1, $2, $3, false, false, $4 FROM global
       ON CONFLICT (account_id, ae_title, target) DO UPDATE SET subscribed = false,
         changed_at = excluded.changed_at WHERE kept.subscribed
       RETURNING 1
     ), removed AS (
       DELETE FROM workitem_subscriptions WHERE ${own} AND target = $3 AND subscribed
         AND NOT EXISTS (SELECT 1 FROM global)
       RETURNING 1
     )
     SELECT EXISTS (SELECT 1 FROM excepted) OR EXISTS (SELECT 1 FROM removed) AS ended`,
    [accountId, aeTitle, target, at],
  );
  return rows[0]?.ended ?? false;
}

/**
 * Suspends the subscription to the worklist: workitems created later are not included.
 * @returns false if there was no subscription.
 */
export async function suspend(
  database: Queryable,
  { accountId, aeTitle }: Subscriber,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await database.query(
    `UPDATE workitem_subscriptions SET suspended_at = coalesce(suspended_at, $3)
     WHERE account_id = $1 AND ae_title = $2 AND target = '${WORKLIST_UID}'`,
    [accountId, aeTitle, at],
  );
  return rowCount === 1;
}

/** Days after the end of a step for which subscriptions to it are kept. */
const KEPT_DAYS = 7;

/** Removes subscriptions to individual workitems that ended long ago or no longer exist. */
export async function removeEndedSubscriptions(database: Queryable, now: Date): Promise<void> {
  const { rows } = await database.query<{ target: string }>(
    'SELECT DISTINCT target FROM workitem_subscriptions WHERE target <> $1',
    [WORKLIST_UID],
  );
  const before = new Date(now.getTime() - KEPT_DAYS * DAY_MS);
  const targets = rows.map(({ target }) => target);
  const current = await unendedSince(database, targets, before);
  await database.query('DELETE FROM workitem_subscriptions WHERE target = ANY ($1::text[])', [
    targets.filter((target) => !current.has(target)),
  ]);
}

export async function subscriptionsOf(
  database: Queryable,
  subscribers: readonly Subscriber[],
): Promise<Subscription[]> {
  const { rows } = await database.query<Subscription>(
    `SELECT account_id, ae_title, target, subscribed, deletion_lock, suspended_at, changed_at
     FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS u (account, ae)) AS asked
       JOIN workitem_subscriptions ON account_id = asked.account AND ae_title = asked.ae`,
    [subscribers.map(({ accountId }) => accountId), subscribers.map(({ aeTitle }) => aeTitle)],
    'list-workitem-subscriptions',
  );
  return rows;
}

/**
 * Returns true if a subscriber receives the events of a workitem. A subscription to the workitem
 * takes precedence over one to the worklist.
 */
export function isSubscribed(
  subscriptions: ReadonlyMap<string, Subscription>,
  { uid, createdAt }: { uid: string; createdAt: Date },
): boolean {
  const own = subscriptions.get(uid);
  if (own) return own.subscribed;
  const global = subscriptions.get(WORKLIST_UID);
  if (!global) return false;
  return global.suspended_at === null || createdAt <= global.suspended_at;
}
