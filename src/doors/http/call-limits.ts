import type { Config } from '../../../config/schema.ts';
import {
  digestOf,
  KEYS_BY_DIGEST,
  type Principal,
  type StoredKey,
  usedBy,
} from '../../core/accounts/keys.ts';
import { batched } from '../../platform/database/batched.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';

const WINDOW_SECONDS = 60;

interface Allowance {
  allowed: boolean;
  /** Number of calls that can be made immediately. */
  remaining: number;
  /** Seconds until the full quota is available again. */
  resetSeconds: number;
  /** Seconds until the next call is allowed; 0 when it is allowed now. */
  retrySeconds: number;
  quota: number;
}

/**
 * Limits for each key. Calls are counted across all processes of the installation, open streams
 * only in this process.
 */
export interface CallLimits {
  /** Counts a call unless the limit has been reached. */
  take(keyId: string): Promise<Allowance>;
  /**
   * Looks up an API key and counts a call made with it, in one statement for all concurrent calls.
   * The key is looked up for every call, so that a revocation takes effect at once.
   * @throws SonogateError `invalid_key` if the key is unknown, revoked or expired.
   */
  admit(key: string, at: Date): Promise<{ principal: Principal; allowance: Allowance }>;
  /**
   * Counts a stream as open until the returned function is called.
   * @throws SonogateError `rate_limited`
   */
  openStream(keyId: string): () => void;
  /**
   * Accepts a submission if fewer than `queuedPerKey` of the key's requests are waiting.
   * @throws SonogateError `rate_limited`
   */
  requireRoom(keyId: string): Promise<void>;
}

interface CallLimitParts {
  database: Queryable;
  config: Pick<Config['http'], 'callsPerMinute' | 'openStreamsPerKey'> &
    Partial<Pick<Config['http'], 'queuedPerKey'>>;
  /** Defaults to the database's clock, which all processes share. */
  now?: () => Date;
}

/**
 * Creates a token bucket for each key: a minute's calls can be made at once, and the bucket refills
 * evenly.
 */
export function createCallLimits({ database, config, now }: CallLimitParts): CallLimits {
  const { callsPerMinute: quota, openStreamsPerKey, queuedPerKey } = config;
  const perSecond = quota / WINDOW_SECONDS;

  const allowanceOf = (allowed: boolean, calls: number): Allowance => ({
    allowed,
    remaining: Math.floor(calls),
    resetSeconds: Math.ceil((quota - calls) / perSecond),
    retrySeconds: calls >= 1 ? 0 : Math.ceil((1 - calls) / perSecond),
    quota,
  });

  /**
   * Runs a statement with the distinct values of `askers` as `$1`, and the number of calls of each
   * as `$2`.
   */
  const takeCalls = async <Row extends Bucket>(
    statement: string,
    name: string,
    askers: readonly string[],
  ): Promise<Row[]> => {
    const calls = new Map<string, number>();
    for (const asker of askers) calls.set(asker, (calls.get(asker) ?? 0) + 1);
    const { rows } = await database.query<Row>(
      statement,
      [[...calls.keys()], [...calls.values()], quota, perSecond, now?.() ?? null],
      name,
    );
    return rows;
  };

  /**
   * Tells one caller whether its call is allowed. `granted` is the number of calls that the
   * statement allowed to all callers with the same key together.
   */
  const giveCall = (bucket: Bucket): Allowance => {
    bucket.granted -= 1;
    return allowanceOf(bucket.granted >= 0, bucket.calls_left + Math.max(0, bucket.granted));
  };

  const admitted = batched(async (digests: readonly string[]) => {
    const rows = await takeCalls<StoredKey & Bucket>(ADMIT, 'admit-calls', digests);
    const keys = new Map(rows.map((row) => [row.sha256, row]));
    return digests.map((digest) => {
      const key = keys.get(digest);
      return key ? { key, allowance: giveCall(key) } : null;
    });
  });

  return {
    take: batched(async (keyIds: readonly string[]) => {
      const rows = await takeCalls<Bucket & { key_id: string }>(TAKE, 'take-calls', keyIds);
      const buckets = new Map(rows.map((row) => [row.key_id, row]));
      return keyIds.map((id) => {
        const bucket = buckets.get(id);
        if (!bucket) throw new Error(`no bucket of ${id}`);
        return giveCall(bucket);
      });
    }),
    admit: async (key, at) => {
      const found = await admitted(digestOf(key));
      if (!found) throw new SonogateError('invalid_key');
      return { principal: await usedBy(database, found.key, at), allowance: found.allowance };
    },
    openStream: countStreams(openStreamsPerKey),
    requireRoom: queuedPerKey === undefined ? async () => {} : limitWaiting(database, queuedPerKey),
  };
}

interface Bucket {
  calls_left: number;
  granted: number;
}

/**
 * SQL: takes calls from the buckets of several keys, which are in `asked (id, n)`. The buckets are
 * locked in a fixed order, so that two processes that take calls from the same buckets cannot
 * deadlock.
 */
const TAKE_ASKED = `
  INSERT INTO call_buckets AS kept (key_id, calls_left, filled_at, granted)
  SELECT id, $3::float8 - LEAST(n, $3), COALESCE($5, now()), LEAST(n, $3) FROM asked ORDER BY id
  ON CONFLICT (key_id) DO UPDATE SET (calls_left, filled_at, granted) = (
    SELECT there - allowed, excluded.filled_at, allowed
    FROM (SELECT LEAST($3, kept.calls_left + $4::float8 * GREATEST(0,
            EXTRACT(EPOCH FROM excluded.filled_at - kept.filled_at))::float8) AS there) AS bucket,
      asked, LATERAL (SELECT LEAST(n, floor(there))::integer AS allowed) AS decision
    WHERE id = kept.key_id)
  RETURNING key_id, calls_left, granted`;

const TAKE = `
  WITH asked AS (SELECT * FROM unnest($1::text[], $2::integer[]) AS asked (id, n))
  ${TAKE_ASKED}`;

/** SQL: like `TAKE`, but for the digests of keys. Returns the keys with their buckets. */
const ADMIT = `
  WITH keys AS MATERIALIZED (${KEYS_BY_DIGEST}),
  asked AS (
    SELECT id, n FROM keys JOIN unnest($1::text[], $2::integer[]) AS calls (sha256, n) USING (sha256)
  ), taken AS (${TAKE_ASKED})
  SELECT keys.*, calls_left, granted FROM keys JOIN taken ON key_id = id`;

/** Milliseconds for which a count of waiting requests may be used for further submissions. */
const COUNTED_FOR_MS = 1000;

/**
 * Counting up to a thousand waiting requests costs more than the rest of a submission. A count is
 * therefore used for a second, and every submission to this process is added to it. It may then
 * include requests that no longer wait, so they are counted again before a submission is refused.
 */
function limitWaiting(database: Queryable, most: number): CallLimits['requireRoom'] {
  const counts = new Map<string, { waiting: number; at: number }>();
  const counting = new Map<string, Promise<void>>();

  const count = async (keyId: string): Promise<void> => {
    const at = performance.now();
    const { rows } = await database.query<{ waiting: number }>(
      `SELECT count(*)::int AS waiting FROM (SELECT 1 FROM requests
       WHERE key_id = $1 AND status = 'queued' LIMIT $2) AS queued`,
      [keyId, most],
      'count-queued',
    );
    counts.set(keyId, { waiting: rows[0]?.waiting ?? 0, at });
  };

  return async (keyId) => {
    const last = counts.get(keyId);
    if (!last || last.waiting >= most || performance.now() - last.at > COUNTED_FOR_MS) {
      const underWay = counting.get(keyId) ?? count(keyId).finally(() => counting.delete(keyId));
      counting.set(keyId, underWay);
      await underWay;
    }
    const now = counts.get(keyId);
    if (now && now.waiting < most) {
      now.waiting += 1;
      return;
    }
    throw new SonogateError('rate_limited', `A key may have at most ${most} waiting requests.`);
  };
}

function countStreams(openStreamsPerKey: number): CallLimits['openStream'] {
  const streams = new Map<string, number>();
  return (keyId) => {
    const open = streams.get(keyId) ?? 0;
    if (open >= openStreamsPerKey) {
      throw new SonogateError(
        'rate_limited',
        `A key may have at most ${openStreamsPerKey} open streams.`,
      );
    }
    streams.set(keyId, open + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (streams.get(keyId) ?? 1) - 1;
      if (left > 0) streams.set(keyId, left);
      else streams.delete(keyId);
    };
  };
}

/** Returns the header fields defined in draft-ietf-httpapi-ratelimit-headers-10. */
export function rateLimitHeaders({ quota, remaining, resetSeconds }: Allowance) {
  return {
    'RateLimit-Policy': `"calls";q=${quota};w=${WINDOW_SECONDS}`,
    RateLimit: `"calls";r=${remaining};t=${resetSeconds}`,
  };
}
