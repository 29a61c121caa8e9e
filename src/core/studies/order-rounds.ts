import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import { DatabaseUnreachableError } from '../../platform/database/pooled.ts';
import type { Database } from '../../platform/database/port.ts';
import { ERRORS, SonogateError } from '../../platform/errors/catalogue.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds, whileRenewing } from '../../platform/rounds.ts';
import { secondsAfter } from '../../platform/time.ts';
import { chooseOrder, type OrderAnswer, orderKeys, TOO_LATE, type Worklist } from './order.ts';

interface OrderRoundParts {
  worklists: readonly Worklist[];
  database: Database;
  /** Writes the audit entry of a query; `found` is null if the worklist did not answer. */
  queried: (worklist: string, found: number | null) => Promise<void>;
  logger: Logger;
  now: () => Date;
}

const ROUND_MILLISECONDS = 500;
/**
 * Maximum number of concurrent searches. With several, an unresponsive worklist delays only a few
 * studies.
 */
const SEARCHES = 4;
/**
 * Seconds for which a claim or a renewal reserves a search for a process. After that, another
 * process may claim the search, for example because the first one was killed.
 */
const LEASE_SECONDS = 30;
const RENEW_MILLISECONDS = (LEASE_SECONDS * 1000) / 3;

/**
 * Searches for the orders that studies are waiting for. A search ends at its deadline, even if the
 * gateway was stopped in the meantime.
 */
export function startOrderRounds(parts: OrderRoundParts): Rounds {
  const stopping = new AbortController();
  const loops = parts.worklists.length === 0 ? 0 : SEARCHES;
  const { onError, onRecovery } = logRounds(parts.logger, 'orders', (error) =>
    parts.logger.event('order_round_failed', { err: error }),
  );
  const rounds = Array.from({ length: loops }, () =>
    startRounds({
      async work() {
        while (!stopping.signal.aborted && (await searchNext(parts, stopping.signal)));
      },
      pauseMilliseconds: ROUND_MILLISECONDS,
      onError,
      onRecovery,
    }),
  );
  return {
    async stop() {
      stopping.abort();
      await Promise.all(rounds.map((one) => one.stop()));
    },
  };
}

interface SearchRow {
  study_id: string;
  revision: number;
  deadline: Date;
  identity: DicomIdentity;
}

/**
 * Carries out the next search.
 * @returns true if there was one.
 */
async function searchNext(parts: OrderRoundParts, stopping: AbortSignal): Promise<boolean> {
  const { database, now } = parts;
  const { rows } = await database.query<SearchRow>(
    `UPDATE order_searches o SET taken_until = $2 FROM studies s
     WHERE s.id = o.study_id AND (o.study_id, o.revision) = (
       SELECT study_id, revision FROM order_searches
       WHERE state = 'searching' AND deadline > $1 AND (taken_until IS NULL OR taken_until < $1)
       ORDER BY deadline LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING o.study_id, o.revision, o.deadline, s.identity`,
    [now(), secondsAfter(now(), LEASE_SECONDS)],
  );
  const [row] = rows;
  if (!row) return false;
  const renew = () =>
    database.query(
      `UPDATE order_searches SET taken_until = $3 WHERE study_id = $1 AND revision = $2
         AND state = 'searching' AND taken_until IS NOT NULL`,
      [row.study_id, row.revision, secondsAfter(now(), LEASE_SECONDS)],
    );
  const answer = await whileRenewing({ renew, everyMilliseconds: RENEW_MILLISECONDS }, () =>
    findOrder(row, parts, stopping),
  );
  if (stopping.aborted) {
    // Lets the next process search at once, so that the study need not wait for the claim to
    // expire.
    await database.query(
      `UPDATE order_searches SET taken_until = NULL
       WHERE study_id = $1 AND revision = $2 AND state = 'searching'`,
      [row.study_id, row.revision],
    );
    return false;
  }
  await database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `UPDATE order_searches SET state = $3, detail = $4, joined = $5
       WHERE study_id = $1 AND revision = $2 AND state = 'searching'`,
      [row.study_id, row.revision, answer.state, answer.detail, answer.order],
    );
    if (rowCount !== 1) return;
    await tx.query(
      `UPDATE studies SET next_attempt_at = $3
       WHERE id = $1 AND revision = $2 AND state = 'complete' AND next_attempt_at > $3`,
      [row.study_id, row.revision, now()],
    );
  });
  return true;
}

/**
 * Queries the worklists in turn and stops at the first that has the order, even if it has it for
 * another patient. Each worklist gets an equal share of the remaining time, so that an unresponsive
 * one leaves time for the next.
 */
async function findOrder(
  { study_id: study, identity, deadline }: SearchRow,
  { worklists, queried, logger, now }: OrderRoundParts,
  stopping: AbortSignal,
): Promise<OrderAnswer> {
  const wanted = orderKeys(identity);
  if ('why' in wanted)
    return { state: 'none', detail: `Not searched for: ${wanted.why}.`, order: null };
  const unavailable = (detail: string): OrderAnswer => ({
    state: 'unavailable',
    detail,
    order: null,
  });
  const answers: OrderAnswer[] = [];
  for (const [index, worklist] of worklists.entries()) {
    const { name } = worklist;
    const left = deadline.getTime() - now().getTime();
    if (stopping.aborted || left <= 0) {
      answers.push(unavailable(TOO_LATE));
      break;
    }
    const late = AbortSignal.timeout(Math.ceil(left / (worklists.length - index)));
    let found: Awaited<ReturnType<Worklist['orders']>> | null = null;
    try {
      found = await worklist.orders(wanted.keys, AbortSignal.any([stopping, late]));
    } catch (error) {
      // The received orders are in our own database. If it is unreachable, the search is repeated
      // when its claim has expired.
      if (error instanceof DatabaseUnreachableError) throw error;
      // If the query was interrupted because the gateway is stopping, the worklist is not at fault.
      if (!stopping.aborted) {
        const code = error instanceof SonogateError ? error.code : 'internal';
        logger.event('worklist_failed', { worklist: name, study, code, error: String(error) });
        const why = late.aborted
          ? `${name} did not respond in time`
          : `${name} could not be queried (${ERRORS[code].title})`;
        answers.push(unavailable(`Not available: ${why}.`));
      }
    }
    if (!worklist.isLocal) await queried(name, found?.length ?? null);
    if (!found) continue;
    const answer = chooseOrder(identity, wanted.keys, found, name);
    if (answer.state === 'refused') {
      logger.event('order_refused', { worklist: name, study, why: answer.detail ?? '' });
    }
    if (answer.state !== 'none') return answer;
    answers.push(answer);
  }
  // "No order" is reported only if every worklist has answered.
  const failed = answers.find(({ state }) => state === 'unavailable');
  return failed ?? answers[0] ?? { state: 'none', detail: 'No worklist to query.', order: null };
}
