import type { RequestCore } from '../../../core/requests/core.ts';
import {
  type Finder,
  findWorkitems,
  openSteps,
  stepsChanged,
} from '../../../core/workitems/find.ts';
import {
  isSubscribed,
  type Subscription,
  subscriptionsOf,
  WORKLIST_UID,
} from '../../../core/workitems/subscriptions.ts';
import { isFinal, type WorkitemRow, workitemUid } from '../../../core/workitems/workitem.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { EVENTS } from '../../../platform/logging/events.ts';
import type { Logger } from '../../../platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../../platform/rounds.ts';
import type { Channel } from './channel.ts';
import {
  type Reported,
  reportedOf,
  reportsSince,
  scpStatusReport,
  stateReport,
} from './event-report.ts';

/** Milliseconds between two checks of the queue. */
const ROUND_MS = 1000;
/** Number of rounds after which all open steps are checked, in case a notification was lost. */
const WHOLE_LOOK_ROUNDS = 5;
/**
 * How far back each round looks for new requests, in milliseconds. Ids contain a time, and the
 * clocks of other processes may be behind ours.
 */
const BEHIND_MS = 60_000;

interface Listener {
  channel: Channel;
  openedAt: Date;
  /** Null until the subscriptions are first read. */
  subscriptions: Map<string, Subscription> | null;
}

/** A subscription that has newly begun on a channel. */
interface Begun {
  channel: Channel;
  subscription: Subscription;
  /** Whether the channel was open before the client subscribed. */
  wasOpen: boolean;
}

interface Step extends Reported {
  row: WorkitemRow;
}

interface EventFeed {
  /** Sends events to a channel until the returned function is called. */
  open(channel: Channel): () => void;
}

/**
 * Compares the steps of the queue with the last reported states, and sends event reports to the
 * open channels of this process. It runs only while a channel is open. Subscriptions are read in
 * each round, because another process may have changed them.
 */
export function createEventFeed({
  database,
  core,
  logger,
  now,
}: {
  database: Queryable;
  core: Pick<RequestCore, 'changes' | 'endpoints'>;
  logger: Logger;
  now: () => Date;
}): EventFeed {
  const began = now();
  const listeners = new Set<Listener>();
  /** Steps by account and request id. */
  const accounts = new Map<string, Map<string, Step>>();
  const dirty = new Set<string>();
  let rounds: Rounds | null = null;
  let unwatch = () => {};
  let count = 0;

  const finderOf = (accountId: string): Finder => ({
    accountId,
    test: null,
    endpoints: core.endpoints().map(({ id }) => id),
  });

  async function work(): Promise<void> {
    const ids = [...dirty];
    dirty.clear();
    count += 1;
    const open = [...listeners];
    const begun = await readSubscriptions(open);
    const told = new WeakMap<Channel, Set<string>>();
    for (const accountId of new Set(open.map(({ channel }) => channel.accountId))) {
      await followAccount(accountId, ids, open, told);
    }
    for (const accountId of accounts.keys()) {
      if (!open.some(({ channel }) => channel.accountId === accountId)) accounts.delete(accountId);
    }
    for (const [accountId, own] of Map.groupBy(begun, ({ channel }) => channel.accountId)) {
      const steps = await stepsOf(accountId, own);
      for (const one of own) {
        const known = told.get(one.channel);
        for (const row of initialSteps(one, steps)) {
          // A step that has just been reported to the channel needs no initial report.
          if (!known?.has(row.id)) one.channel.send(stateReport(row));
        }
      }
    }
  }

  async function followAccount(
    accountId: string,
    ids: readonly string[],
    open: readonly Listener[],
    told: WeakMap<Channel, Set<string>>,
  ): Promise<void> {
    const since = new Date(now().getTime() - BEHIND_MS);
    const steps = accounts.get(accountId) ?? (await stepsAtOpening(accountId, since, open));
    accounts.set(accountId, steps);
    const whole = count % WHOLE_LOOK_ROUNDS === 0;
    const looked = [...steps.values()].filter(
      ({ row, state }) => !isFinal(state) && (whole || row.status === 'succeeded'),
    );
    const wanted = [...new Set([...ids, ...looked.map(({ row }) => row.id)])];
    const rows = await stepsChanged(database, finderOf(accountId), { ids: wanted, since });
    for (const row of rows) {
      const last = steps.get(row.id) ?? null;
      // This step is not new: it ended long ago and changed again, for example because its result
      // was purged.
      if (!last && isFinal(row.state) && row.created_at < since) continue;
      const reports = reportsSince(last, row);
      steps.set(row.id, { row, ...reportedOf(row) });
      for (const { channel, subscriptions } of open) {
        if (channel.accountId !== accountId || !subscriptions || !mayKnow(channel, row)) continue;
        const step = { uid: workitemUid(row), createdAt: row.created_at };
        if (reports.length === 0 || !isSubscribed(subscriptions, step)) continue;
        for (const report of reports) channel.send(report);
        told.set(channel, (told.get(channel) ?? new Set()).add(row.id));
      }
    }
    // A final step is kept for as long as the query for new steps still returns it.
    for (const [id, { row, state }] of steps) {
      if (isFinal(state) && row.created_at < since) steps.delete(id);
    }
  }

  /** Returns the steps that existed when the account's first channel was opened. */
  async function stepsAtOpening(
    accountId: string,
    since: Date,
    open: readonly Listener[],
  ): Promise<Map<string, Step>> {
    const own = open.filter(({ channel }) => channel.accountId === accountId);
    const opened = Math.min(...own.map(({ openedAt }) => openedAt.getTime()));
    const rows = await openSteps(database, finderOf(accountId), since);
    const there = rows.filter(({ created_at }) => created_at.getTime() < opened);
    return new Map(there.map((row) => [row.id, { row, ...reportedOf(row) }]));
  }

  /**
   * Reads the subscriptions of the open channels.
   * @returns the subscriptions that are new to a channel.
   */
  async function readSubscriptions(open: readonly Listener[]): Promise<Begun[]> {
    const begun: Begun[] = [];
    const found = await subscriptionsOf(
      database,
      open.map(({ channel }) => channel),
    );
    for (const listener of open) {
      const { channel, subscriptions: former } = listener;
      const own = found.filter(
        ({ account_id, ae_title }) =>
          account_id === channel.accountId && ae_title === channel.aeTitle,
      );
      listener.subscriptions = new Map(own.map((one) => [one.target, one]));
      if (!former && own.some(({ changed_at }) => changed_at < began)) {
        channel.send(scpStatusReport('RESTARTED'));
      }
      for (const subscription of own) {
        const known = former?.get(subscription.target);
        const isNew = known?.changed_at.getTime() !== subscription.changed_at.getTime();
        if (isNew && subscription.subscribed) {
          begun.push({ channel, subscription, wasOpen: former !== null });
        }
      }
    }
    return begun;
  }

  /** Returns, by UID, the steps to which the new single-workitem subscriptions refer. */
  async function stepsOf(
    accountId: string,
    begun: readonly Begun[],
  ): Promise<Map<string, WorkitemRow>> {
    const targets = begun.map(({ subscription }) => subscription.target);
    const uids = targets.filter((target) => target !== WORKLIST_UID);
    if (uids.length === 0) return new Map();
    const rows = await findWorkitems(database, finderOf(accountId), uids);
    return new Map(rows.map((row) => [workitemUid(row), row]));
  }

  /**
   * Returns the steps whose current state is reported when a subscription begins (PS3.4 table
   * CC.2.3-2).
   */
  function initialSteps(
    { channel, subscription, wasOpen }: Begun,
    single: ReadonlyMap<string, WorkitemRow>,
  ): WorkitemRow[] {
    const { target, deletion_lock: lock } = subscription;
    const mayKnowOf = (row: WorkitemRow) => mayKnow(channel, row);
    if (target !== WORKLIST_UID) {
      const row = single.get(target);
      return row ? [row].filter(mayKnowOf) : [];
    }
    if (!lock || !wasOpen) return [];
    const steps = [...(accounts.get(channel.accountId)?.values() ?? [])];
    return steps.flatMap(({ row }) => (isFinal(row.state) ? [] : row)).filter(mayKnowOf);
  }

  return {
    open(channel) {
      const listener: Listener = { channel, openedAt: now(), subscriptions: null };
      listeners.add(listener);
      if (!rounds) {
        unwatch = core.changes.watchAll((id) => dirty.add(id));
        rounds = startRounds({
          work,
          pauseMilliseconds: ROUND_MS,
          ...logRounds(logger, 'event reports', (error) =>
            logger.event(EVENTS.eventReportsFailed, { err: error }),
          ),
        });
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        void rounds?.stop();
        rounds = null;
        unwatch();
        accounts.clear();
        dirty.clear();
      };
    },
  };
}

const mayKnow = ({ test }: Channel, row: WorkitemRow): boolean => row.test === test;
