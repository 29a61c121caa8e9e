import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../../config/schema.ts';
import { DatabaseUnreachableError, type PooledDatabase } from '../../platform/database/pooled.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { catalogueEntry, type ErrorCode, SonogateError } from '../../platform/errors/catalogue.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { logRounds } from '../../platform/rounds.ts';
import {
  BLOCKED_BY_BREAKER,
  closeWithoutTrial,
  mayBeObjectFailure,
  peerAfter,
  recordPeerFailure,
  recordPeerSuccess,
} from './breaker.ts';
import {
  type DeliveryRow,
  holdDestination,
  MAYBE_RECEIVED,
  markDead,
  markDelivered,
  NOTHING_AHEAD,
  OF_WITHDRAWN_RESULT,
  releaseDelivery,
  rescheduleDelivery,
} from './deliveries.ts';
import {
  type Deliverer,
  type Delivery,
  type DeliveryKind,
  failed,
  OUTBOX_CHANNEL,
  type SendOutcome,
  TO_CLIENTS,
} from './delivery.ts';
import { divert } from './divert.ts';
import { createProbes } from './probes.ts';
import { NOT_SENT_WITHDRAWN } from './withdrawals.ts';

/**
 * Returns the seconds to wait after attempt number `attempt` (the first is 1), with full jitter: a
 * random time up to min(cap, base * 2^(attempt - 1)). Deliveries that failed at the same time are
 * therefore not repeated at the same time (M. Brooker, "Exponential Backoff And Jitter", AWS
 * Architecture Blog, 2015). `random` is uniform in [0, 1).
 */
export function backoffSeconds(
  attempt: number,
  { baseSeconds, capSeconds }: { baseSeconds: number; capSeconds: number },
  random: number,
): number {
  return random * Math.min(capSeconds, baseSeconds * 2 ** (attempt - 1));
}

/**
 * A delivery claimed by this process. Its counts restart from zero when a person sends the delivery
 * again.
 */
type ClaimedDelivery = Delivery & {
  /**
   * Number of attempts including this one, but not those lost because our own process or database
   * failed.
   */
  tries: number;
  /** Number of earlier failures that the object itself may have caused. */
  ownFailures: number;
  /** True if the result was withdrawn before this attempt, so that it must not be sent. */
  withdrawn: boolean;
};

/**
 * Claims, with a lease, the delivery of the given `kinds` that has waited longest and whose
 * destination is not in `busy`. If this process dies, the delivery is due again when the lease
 * expires, and the lost attempt does not count in the retry schedule.
 */
export async function claimDelivery(
  database: Queryable,
  kinds: readonly DeliveryKind[],
  busy: readonly string[],
  leaseSeconds: number,
): Promise<ClaimedDelivery | null> {
  const { rows } = await database.query<ClaimedDelivery>(
    `UPDATE deliveries d SET state = 'sending', attempt = attempt + 1,
       maybe_received = ${MAYBE_RECEIVED},
       lost_attempts = lost_attempts + (state = 'sending')::integer,
       lease_until = now() + make_interval(secs => $3)
     WHERE id = (
       SELECT id FROM deliveries d
       WHERE kind = ANY ($1::text[]) AND NOT destination = ANY ($2::text[])
         AND ((state = 'pending' AND next_at <= now())
           OR (state = 'sending' AND lease_until < now()))
         AND NOT EXISTS (SELECT 1 FROM destination_holds h
           WHERE h.destination = d.destination AND h.until > now())
         AND NOT ${BLOCKED_BY_BREAKER} AND ${NOTHING_AHEAD}
       ORDER BY next_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING id, request_id AS "requestId", kind, destination, object,
       result_revision AS "resultRevision", attempt,
       attempt - attempts_before - lost_attempts AS tries, own_failures AS "ownFailures",
       ${OF_WITHDRAWN_RESULT} AS withdrawn`,
    [kinds, busy, leaseSeconds],
  );
  return rows[0] ?? null;
}

/**
 * Renews the lease of a delivery that is being sent.
 * @returns false if the delivery no longer belongs to this attempt.
 */
async function renewDelivery(database: Queryable, { id, attempt }: Delivery): Promise<boolean> {
  const { rowCount } = await database.query(
    `UPDATE deliveries SET lease_until = now() + make_interval(secs => $3)
     WHERE id = $1 AND attempt = $2 AND state = 'sending'`,
    [id, attempt, LEASE_SECONDS],
  );
  return rowCount === 1;
}

/**
 * SQL interval: a delivery that became due within this time may have been missed by the last claim.
 */
const JUST_NOW = "interval '0.2 seconds'";

/**
 * Returns the seconds until there may be something to send: until a delivery to a destination
 * outside `busy` becomes due, a lease expires or a hold ends. Zero or less if that has just
 * happened; null if nothing is expected.
 *
 * Deliveries and leases that were due more than `JUST_NOW` ago are ignored. The last claim skipped
 * these deliveries because they wait for others, and the outbox wakes when those end.
 */
async function secondsUntilDue(
  database: Queryable,
  kinds: readonly DeliveryKind[],
  busy: readonly string[],
): Promise<number | null> {
  const { rows } = await database.query<{ seconds: number | null }>(
    `SELECT EXTRACT(EPOCH FROM LEAST(
       (SELECT min(next_at) FROM deliveries WHERE state = 'pending'
          AND next_at > now() - ${JUST_NOW}
          AND kind = ANY ($1::text[]) AND NOT destination = ANY ($2::text[])),
       (SELECT min(lease_until) FROM deliveries WHERE state = 'sending'
          AND lease_until > now() - ${JUST_NOW}
          AND kind = ANY ($1::text[]) AND NOT destination = ANY ($2::text[])),
       (SELECT min(until) FROM destination_holds WHERE until > now())) - now())::float8 AS seconds`,
    [kinds, busy],
  );
  return rows[0]?.seconds ?? null;
}

/** Seconds after which a delivery is due again if its sender has not renewed the lease. */
const LEASE_SECONDS = 30;
const RENEW_MILLISECONDS = (LEASE_SECONDS * 1000) / 3;

/** Longest time in seconds between checks for due deliveries, in case a notification was lost. */
const RECHECK_SECONDS = 5;

/**
 * Maximum number of concurrent sends per kind. Clients may register any number of webhook
 * destinations, and unresponsive ones must not use up all connections.
 */
export const MAX_CONCURRENT_DELIVERIES = 32;

/** Milliseconds before retrying to record an outcome that the database did not accept. */
const RECORD_AGAIN_MILLISECONDS = 500;

/**
 * The attempt was interrupted on our side: the gateway is stopping, or its database is unreachable.
 */
interface Interrupted {
  outcome: 'interrupted';
  failure: { code: ErrorCode; detail: string } | null;
}

/**
 * Shortest wait in seconds. Without it, the outbox would try without a pause to claim a due
 * delivery that another process is claiming.
 */
const SHORTEST_WAIT_SECONDS = 0.05;

/**
 * Makes waiting deliveries due at once after the clock was set back. Otherwise they would wait
 * longer than planned, by the time that the clock was set back. Deliveries to API clients that have
 * failed before keep their due times, because their retry schedule lasts for days anyway. Several
 * processes may call this for the same change.
 */
export async function endWaits(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query(
      `UPDATE deliveries SET next_at = now() WHERE state = 'pending' AND next_at > now()
         AND (kind NOT IN ${TO_CLIENTS} OR attempt = attempts_before)`,
    );
    await tx.query(
      `UPDATE deliveries SET lease_until = now() + make_interval(secs => $1)
       WHERE state = 'sending' AND lease_until > now() + make_interval(secs => $1)`,
      [LEASE_SECONDS],
    );
    await tx.query('DELETE FROM destination_holds');
    await tx.query(
      `UPDATE destination_breakers SET probe_at = now() WHERE state = 'open' AND probe_at > now()`,
    );
    await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, '']);
  });
}

interface OutboxOptions {
  database: PooledDatabase;
  deliverers: readonly Deliverer[];
  config: Pick<Config, 'delivery'>;
  /**
   * Maps a destination to its alternate. A dead delivery is diverted to it, and so are waiting ones
   * once the breaker has been open for a long time.
   */
  alternates?: ReadonlyMap<string, string>;
  logger: Logger;
}

/**
 * Starts sending every due delivery through the deliverer of its kind: one at a time to each
 * destination, but to all destinations in parallel, so that an unreachable destination does not
 * delay the others. If a destination fails several times in a row, its breaker opens, and the
 * destination is probed from time to time (breaker.ts).
 */
export async function startOutbox(options: OutboxOptions): Promise<Outbox> {
  const outbox = new RunningOutbox(options);
  await outbox.start();
  return outbox;
}

export interface Outbox {
  /** Aborts the sends in progress. Unconfirmed deliveries are sent again after the next startup. */
  stop(): Promise<void>;
  /** Looks at once for due deliveries. A notification on `OUTBOX_CHANNEL` does the same. */
  wake(): void;
}

class RunningOutbox implements Outbox {
  readonly #database: PooledDatabase;
  readonly #deliverers: ReadonlyMap<DeliveryKind, Deliverer>;
  readonly #settings: Config['delivery'];
  readonly #alternates: ReadonlyMap<string, string>;
  readonly #logger: Logger;
  readonly #probes: ReturnType<typeof createProbes>;
  readonly #rounds: ReturnType<typeof logRounds>;

  readonly #stopping = new AbortController();
  /** The sends in progress, by destination. */
  readonly #sending = new Map<string, { kind: DeliveryKind; ended: Promise<void> }>();
  #timer: NodeJS.Timeout | undefined;
  #pass: Promise<void> | null = null;
  /** True if a delivery may have become due since the current pass began to look. */
  #again = false;
  #failures = 0;
  #unlisten: () => Promise<void> = async () => {};

  constructor({ database, deliverers, config, alternates = new Map(), logger }: OutboxOptions) {
    this.#database = database;
    this.#deliverers = new Map(deliverers.map((deliverer) => [deliverer.kind, deliverer]));
    this.#settings = config.delivery;
    this.#alternates = alternates;
    this.#logger = logger;
    this.#probes = createProbes({
      database,
      deliverers,
      settings: config.delivery,
      alternates,
      logger,
      stopping: this.#stopping.signal,
    });
    this.#rounds = logRounds(logger, 'outbox', (error) =>
      logger.event('outbox_unreadable', { error: String(error) }),
    );
  }

  async start(): Promise<void> {
    this.#unlisten = await this.#database.listen(OUTBOX_CHANNEL, () => this.wake());
    this.wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#unlisten();
    await this.#pass;
    await Promise.all([...this.#sending.values()].map(({ ended }) => ended));
    await this.#probes.settled();
    clearTimeout(this.#timer);
  }

  wake(): void {
    this.#again = true;
    this.#pass ??= this.#look().finally(() => {
      this.#pass = null;
    });
  }

  get #stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  get #giveUpSeconds(): number {
    return this.#settings.giveUpAfterHours * 3600;
  }

  get #busyDestinations(): string[] {
    return [...this.#sending.keys()];
  }

  get #freeKinds(): DeliveryKind[] {
    const busy = [...this.#sending.values()];
    return [...this.#deliverers.keys()].filter(
      (kind) => busy.filter((send) => send.kind === kind).length < MAX_CONCURRENT_DELIVERIES,
    );
  }

  async #look(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      clearTimeout(this.#timer);
      let due = RECHECK_SECONDS;
      try {
        const probe = await this.#probes.tend();
        await this.#claimAll();
        // Busy destinations are left out, because the outbox wakes when a send to one of them ends.
        const next = await secondsUntilDue(this.#database, this.#freeKinds, this.#busyDestinations);
        due = Math.min(next ?? RECHECK_SECONDS, probe ?? RECHECK_SECONDS);
        if (this.#failures > 0) this.#rounds.onRecovery();
        this.#failures = 0;
      } catch (error) {
        this.#failures += 1;
        this.#rounds.onError(error, this.#failures);
      }
      const wait = Math.max(SHORTEST_WAIT_SECONDS, Math.min(due, RECHECK_SECONDS));
      if (!this.#stopped) this.#timer = setTimeout(() => this.wake(), wait * 1000);
    }
  }

  async #claimAll(): Promise<void> {
    while (!this.#stopped) {
      const delivery = await claimDelivery(
        this.#database,
        this.#freeKinds,
        this.#busyDestinations,
        LEASE_SECONDS,
      );
      if (!delivery) return;
      const { destination, kind } = delivery;
      const ended = this.#attempt(delivery).finally(() => {
        this.#sending.delete(destination);
        this.wake();
      });
      this.#sending.set(destination, { kind, ended });
    }
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const lease = new AbortController();
    const renew = setInterval(() => {
      renewDelivery(this.#database, delivery).then(
        (ours) => ours || lease.abort(),
        () => {},
      );
    }, RENEW_MILLISECONDS);
    try {
      const signal = AbortSignal.any([this.#stopping.signal, lease.signal]);
      await this.#record(delivery, await this.#send(delivery, signal));
    } catch (error) {
      // The row stays in the state `sending`, so the delivery is due again when its lease expires.
      this.#logger.event('delivery_unrecorded', {
        delivery: delivery.id,
        error: String(error),
      });
    } finally {
      clearInterval(renew);
    }
  }

  async #send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<SendOutcome | Interrupted> {
    if (delivery.withdrawn) {
      return { outcome: 'delivered', notSent: true, detail: NOT_SENT_WITHDRAWN };
    }
    try {
      const deliverer = this.#deliverers.get(delivery.kind);
      if (!deliverer) throw new Error(`no deliverer of kind ${delivery.kind}`);
      // The outbox may have been stopped between claiming the delivery and this moment.
      signal.throwIfAborted();
      const sent = await deliverer.send(delivery, signal);
      // A send that we aborted ourselves is not a failure of the peer.
      return sent.outcome === 'failed' && sent.failure !== 'permanent' && signal.aborted
        ? { outcome: 'interrupted', failure: sent }
        : sent;
    } catch (error) {
      // A send that we aborted may throw the reason of its signal.
      if (error instanceof DatabaseUnreachableError || signal.aborted) {
        return { outcome: 'interrupted', failure: null };
      }
      if (error instanceof SonogateError) {
        return failed(error.code, error.detail);
      }
      this.#logger.event('delivery_threw', { delivery: delivery.id, error: String(error) });
      return failed(
        'internal',
        'The delivery failed because of an unexpected error in the gateway.',
      );
    }
  }

  /** Records an outcome. While the database is unreachable, recording is retried. */
  async #record(delivery: ClaimedDelivery, outcome: SendOutcome | Interrupted): Promise<void> {
    for (;;) {
      try {
        return await this.#settle(delivery, outcome);
      } catch (error) {
        if (!(error instanceof DatabaseUnreachableError) || this.#stopped) throw error;
        const { signal } = this.#stopping;
        await delay(RECORD_AGAIN_MILLISECONDS, null, { signal }).catch(() => {});
      }
    }
  }

  async #settle(delivery: ClaimedDelivery, outcome: SendOutcome | Interrupted): Promise<void> {
    if (outcome.outcome === 'delivered') {
      if (await markDelivered(this.#database, delivery, outcome)) {
        const event = outcome.notSent ? 'delivery_not_sent' : 'delivered';
        this.#logger.event(event, fieldsOf(delivery));
      } else {
        const error = 'The lease had expired, and another process has claimed the delivery.';
        this.#logger.event('delivery_unrecorded', { delivery: delivery.id, error });
      }
      if (outcome.notSent) await closeWithoutTrial(this.#database, delivery.destination);
      else await this.#noteWorks(delivery);
    } else if (outcome.outcome === 'interrupted') {
      const wait = this.#stopped ? 0 : this.#settings.retryBaseSeconds;
      await releaseDelivery(this.#database, delivery, outcome.failure, wait);
      this.#logger.event('delivery_interrupted', fieldsOf(delivery));
    } else {
      const peer = peerAfter(outcome.code);
      if (peer === 'fails') await this.#noteFails(delivery, outcome.code);
      if (peer === 'works') await this.#noteWorks(delivery);
      await this.#settleFailure(delivery, outcome);
      if (peer === null) await closeWithoutTrial(this.#database, delivery.destination);
    }
  }

  async #settleFailure(
    delivery: ClaimedDelivery,
    { code, detail, failure, retryAfter }: Extract<SendOutcome, { outcome: 'failed' }>,
  ): Promise<void> {
    const again = failure === 'permanent' ? null : this.#waitAfter(delivery, code);
    const wait = again === null ? null : Math.max(retryAfter ?? 0, again);
    // All of this is in one transaction, because the process may crash in between. A dead delivery
    // might then not be diverted, and other deliveries might be sent to a destination that asked
    // for a pause.
    const { state, instead } = await this.#database.transaction(async (tx) => {
      const failed = { code, detail, own: mayBeObjectFailure(code) };
      const state =
        wait === null
          ? await markDead(tx, delivery, code, detail)
          : await rescheduleDelivery(tx, delivery, failed, wait);
      if (wait !== null && retryAfter !== undefined) {
        await holdDestination(tx, delivery.destination, retryAfter);
      }
      return { state, instead: state === 'dead' ? await this.#divert(tx, delivery) : null };
    });
    if (state === 'pending') {
      const seconds = Math.round(wait ?? 0);
      this.#logger.event('delivery_retried', { ...fieldsOf(delivery), code, wait: seconds });
    } else if (state === 'dead') {
      const event = failure === 'permanent' ? 'delivery_dead' : 'delivery_given_up';
      this.#logger.event(event, { ...fieldsOf(delivery), code });
    }
    if (instead) {
      const { id, destination: alternate } = instead;
      const fields = { delivery: delivery.id, instead: id, alternate };
      this.#logger.event('destination_diverted', fields);
    }
  }

  /** Returns the seconds until the next attempt; null if there is no further attempt. */
  #waitAfter({ kind, tries, ownFailures }: ClaimedDelivery, code: ErrorCode): number | null {
    if (ownFailures + 1 >= (catalogueEntry(code).tries ?? Number.POSITIVE_INFINITY)) return null;
    const deliverer = this.#deliverers.get(kind);
    if (deliverer?.retryWait) return deliverer.retryWait(tries, Math.random());
    const { retryBaseSeconds: baseSeconds, retryCapSeconds: capSeconds } = this.#settings;
    return backoffSeconds(tries, { baseSeconds, capSeconds }, Math.random());
  }

  /**
   * Returns true if a breaker protects the destination of a delivery. Kinds of delivery with their
   * own retry schedule need none, because their attempts are far enough apart.
   */
  #hasBreaker({ kind }: Delivery): boolean {
    return this.#deliverers.get(kind)?.retryWait === undefined;
  }

  async #noteWorks(delivery: Delivery): Promise<void> {
    const { destination } = delivery;
    if (this.#hasBreaker(delivery) && (await recordPeerSuccess(this.#database, destination))) {
      this.#logger.event('destination_works', { destination });
    }
  }

  async #noteFails(delivery: Delivery, code: ErrorCode): Promise<void> {
    if (!this.#hasBreaker(delivery)) return;
    const { destination } = delivery;
    const state = await recordPeerFailure(
      this.#database,
      destination,
      code,
      this.#settings.breaker,
    );
    if (state === 'open') {
      this.#logger.event('destination_left_alone', { destination, code });
    }
  }

  async #divert(tx: Queryable, { id, destination }: Delivery): Promise<DeliveryRow | null> {
    const alternate = this.#alternates.get(destination);
    return alternate === undefined ? null : divert(tx, id, alternate, this.#giveUpSeconds);
  }
}

/** Returns the fields that identify a delivery in the log. */
function fieldsOf({ id, requestId, destination, object }: Delivery) {
  return { delivery: id, request: requestId ?? '', destination, object };
}
