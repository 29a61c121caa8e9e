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
import type { Logger } from '../../../platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../../platform/rounds.ts';
import type { Channel } from './channel.ts';
import {
  isStateReport,
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

interface FeedParts {
  database: Queryable;
  core: Pick<RequestCore, 'changes' | 'endpoints'>;
  logger: Logger;
  now: () => Date;
}

/**
 * Compares the steps of the queue with the last reported states, and sends event reports to the
 * open channels of this process. It runs only while a channel is open. Subscriptions are read in
 * each round, because another process may have changed them.
 */
export class EventFeed {
  readonly #parts: FeedParts;
  readonly #began: Date;
  readonly #listeners = new Set<Listener>();
  /** Steps by account and request id. */
  readonly #accounts = new Map<string, Map<string, Step>>();
  /** Ids of the requests that have changed since the last round. */
  readonly #changed = new Set<string>();
  #rounds: Rounds | null = null;
  #unwatch = () => {};
  #roundCount = 0;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#began = parts.now();
  }

  /** Sends events to a channel until the returned function is called. */
  open(channel: Channel): () => void {
    const listener: Listener = { channel, openedAt: this.#parts.now(), subscriptions: null };
    this.#listeners.add(listener);
    if (!this.#rounds) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  #start(): void {
    const { core, logger } = this.#parts;
    this.#unwatch = core.changes.watchAll((id) => this.#changed.add(id));
    this.#rounds = startRounds({
      work: () => this.#round(),
      pauseMilliseconds: ROUND_MS,
      ...logRounds(logger, 'event reports', (error) =>
        logger.event('event_reports_failed', { err: error }),
      ),
    });
  }

  #stop(): void {
    void this.#rounds?.stop();
    this.#rounds = null;
    this.#unwatch();
    this.#accounts.clear();
    this.#changed.clear();
  }

  #finderOf(accountId: string): Finder {
    const endpoints = this.#parts.core.endpoints().map(({ id }) => id);
    return { accountId, test: null, endpoints };
  }

  async #round(): Promise<void> {
    const ids = [...this.#changed];
    this.#changed.clear();
    this.#roundCount += 1;
    const open = [...this.#listeners];
    const begun = await this.#readSubscriptions(open);
    const reported = new WeakMap<Channel, Set<string>>();
    for (const accountId of new Set(open.map(({ channel }) => channel.accountId))) {
      await this.#followAccount(accountId, ids, open, reported);
    }
    for (const accountId of this.#accounts.keys()) {
      if (!open.some(({ channel }) => channel.accountId === accountId)) {
        this.#accounts.delete(accountId);
      }
    }
    for (const [accountId, own] of Map.groupBy(begun, ({ channel }) => channel.accountId)) {
      const steps = await this.#subscribedSteps(accountId, own);
      for (const one of own) {
        const known = reported.get(one.channel);
        for (const row of this.#initialSteps(one, steps)) {
          // A step whose state has just been reported to the channel needs no initial report.
          if (!known?.has(row.id)) one.channel.send(stateReport(row));
        }
      }
    }
  }

  async #followAccount(
    accountId: string,
    ids: readonly string[],
    open: readonly Listener[],
    reported: WeakMap<Channel, Set<string>>,
  ): Promise<void> {
    const { database, now } = this.#parts;
    const since = new Date(now().getTime() - BEHIND_MS);
    const steps =
      this.#accounts.get(accountId) ?? (await this.#stepsAtOpening(accountId, since, open));
    this.#accounts.set(accountId, steps);
    const whole = this.#roundCount % WHOLE_LOOK_ROUNDS === 0;
    const looked = [...steps.values()].filter(
      ({ row, state }) => !isFinal(state) && (whole || row.status === 'succeeded'),
    );
    const wanted = [...new Set([...ids, ...looked.map(({ row }) => row.id)])];
    const rows = await stepsChanged(database, this.#finderOf(accountId), { ids: wanted, since });
    for (const row of rows) {
      const last = steps.get(row.id) ?? null;
      // A step that was never reported is usually new. This one ended long ago and has merely
      // changed since, for example because its result was purged, so it is not reported.
      if (!last && isFinal(row.state) && row.created_at < since) continue;
      const reports = reportsSince(last, row);
      steps.set(row.id, { row, ...reportedOf(row) });
      for (const { channel, subscriptions } of open) {
        if (channel.accountId !== accountId || !subscriptions || !mayKnow(channel, row)) continue;
        const step = { uid: workitemUid(row), createdAt: row.created_at };
        if (reports.length === 0 || !isSubscribed(subscriptions, step)) continue;
        for (const report of reports) channel.send(report);
        if (!reports.some(isStateReport)) continue;
        reported.set(channel, (reported.get(channel) ?? new Set()).add(row.id));
      }
    }
    // A final step is kept for as long as the query for new steps still returns it, so that it is
    // not reported again.
    for (const [id, { row, state }] of steps) {
      if (isFinal(state) && row.created_at < since) steps.delete(id);
    }
  }

  /** Returns the steps that existed when the account's first channel was opened. */
  async #stepsAtOpening(
    accountId: string,
    since: Date,
    open: readonly Listener[],
  ): Promise<Map<string, Step>> {
    const own = open.filter(({ channel }) => channel.accountId === accountId);
    const opened = Math.min(...own.map(({ openedAt }) => openedAt.getTime()));
    const rows = await openSteps(this.#parts.database, this.#finderOf(accountId), since);
    const there = rows.filter(({ created_at }) => created_at.getTime() < opened);
    return new Map(there.map((row) => [row.id, { row, ...reportedOf(row) }]));
  }

  /**
   * Reads the subscriptions of the open channels.
   * @returns the subscriptions that are new to a channel.
   */
  async #readSubscriptions(open: readonly Listener[]): Promise<Begun[]> {
    const begun: Begun[] = [];
    const channels = open.map(({ channel }) => channel);
    const found = await subscriptionsOf(this.#parts.database, channels);
    for (const listener of open) {
      const { channel, subscriptions: former } = listener;
      const own = found.filter(
        ({ account_id, ae_title }) =>
          account_id === channel.accountId && ae_title === channel.aeTitle,
      );
      listener.subscriptions = new Map(own.map((one) => [one.target, one]));
      if (!former && own.some(({ changed_at }) => changed_at < this.#began)) {
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

  /** Returns the steps to which new subscriptions to a single workitem refer, keyed by UID. */
  async #subscribedSteps(
    accountId: string,
    begun: readonly Begun[],
  ): Promise<Map<string, WorkitemRow>> {
    const targets = begun.map(({ subscription }) => subscription.target);
    const uids = targets.filter((target) => target !== WORKLIST_UID);
    if (uids.length === 0) return new Map();
    const rows = await findWorkitems(this.#parts.database, this.#finderOf(accountId), uids);
    return new Map(rows.map((row) => [workitemUid(row), row]));
  }

  /**
   * Returns the steps whose current state is reported when a subscription begins (PS3.4 table
   * CC.2.3-2).
   */
  #initialSteps(
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
    const steps = [...(this.#accounts.get(channel.accountId)?.values() ?? [])];
    return steps.flatMap(({ row }) => (isFinal(row.state) ? [] : row)).filter(mayKnowOf);
  }
}

const mayKnow = ({ test }: Channel, row: WorkitemRow): boolean => row.test === test;
