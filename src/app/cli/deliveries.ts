import type { DeliveryState } from '../../core/outbox/delivery.ts';
import type { CommandAnswer } from '../../operations/commands.ts';
import { ERRORS } from '../../platform/errors/catalogue.ts';
import { withMeaning } from '../../platform/errors/connection-failures.ts';
import { type AnswerForm, answer } from './answer.ts';
import { UsageError } from './exit-status.ts';
import { runCommand } from './operations.ts';

type Delivery = CommandAnswer<'deliveries.list'>[number];
type Breaker = CommandAnswer<'deliveries.breakers'>[number];

interface DeliveryListOptions extends AnswerForm {
  destination?: string;
  state?: DeliveryState;
  code?: string;
  request?: string;
  last?: number;
}

/**
 * Lists the destinations whose circuit breaker is not closed, and then the deliveries, newest
 * first.
 */
export async function listDeliveries({
  request,
  last,
  json,
  ...filter
}: DeliveryListOptions): Promise<void> {
  const parameters = {
    ...filter,
    ...(request !== undefined && { requestId: request }),
    ...(last !== undefined && { limit: last }),
  };
  const rows = await runCommand('deliveries.list', parameters);
  const breakers = await runCommand('deliveries.breakers', {});
  const alone = breakers.filter(({ state }) => state !== 'closed');
  const lines = [...alone.map(describeBreaker), ...rows.map(describeDelivery)];
  answer(
    { ...(json && { json }) },
    { deliveries: rows, breakers },
    lines.length > 0 ? lines : ['no deliveries'],
  );
}

export function describeBreaker(row: Breaker): string {
  const { destination, state, opened_at, probe_at, code } = row;
  const next =
    state === 'open' ? `probed again at ${timeOf(probe_at)}` : 'one delivery is being tried';
  return `${destination} keeps failing, sending paused since ${timeOf(opened_at)}: ${ERRORS[code].title}; ${next}`;
}

/**
 * Describes one delivery on one line: the object, its destination, the state of the delivery and
 * the reason for it.
 */
export function describeDelivery(row: Delivery): string {
  const what = `${row.request_id ?? row.kind} ${row.object} → ${row.destination}`;
  const instead = row.alternate_of ? ` (instead of ${row.alternate_of})` : '';
  const why = row.code
    ? `; ${ERRORS[row.code].title} (${row.code}): ${withMeaning(row.detail ?? '')}`
    : '';
  return `${row.id}  ${what}${instead}: ${standingOf(row)}${why}`;
}

function standingOf({
  state,
  attempt,
  code,
  detail,
  not_sent,
  next_at,
  committed_at,
  closed,
}: Delivery): string {
  switch (state) {
    case 'pending':
      if (attempt === 0) return 'waiting in the queue';
      return `failed ${attempt === 1 ? 'once' : `${attempt} times`}, again at ${timeOf(next_at)}`;
    case 'sending':
      return `being sent, attempt ${attempt}`;
    case 'delivered':
      if (not_sent) return detail ?? 'not sent';
      return committed_at ? 'delivered and committed' : 'delivered';
    case 'dead':
      return 'failed permanently, action needed';
    case 'diverted':
      return ERRORS[code ?? 'internal'].retry === 'ambiguous'
        ? 'diverted to another destination; the original one may have received it, too'
        : 'diverted to another destination';
    case 'closed':
      return `closed by ${closed?.by} at ${timeOf(closed?.at ?? null)}: ${closed?.reason}`;
  }
}

function timeOf(time: string | null): string {
  return time === null ? 'once' : time.replace(/\.\d+Z$/, 'Z');
}

interface ReplayOptions extends AnswerForm {
  destination?: string;
  toAlternate?: boolean;
  to?: string;
}

/**
 * Sends one dead or closed delivery, or all dead ones of a destination, to the same destination
 * again, or dead and waiting ones to another. With neither an id nor a destination, lists the
 * deliveries.
 * @throws UsageError for options that contradict each other, so that nothing is sent to an
 * unintended destination.
 */
export async function replay(id: string | undefined, options: ReplayOptions): Promise<void> {
  const { destination, toAlternate = false, to, ...form } = options;
  if (id !== undefined && destination !== undefined) {
    throw new UsageError('give the id of a delivery or --destination, not both');
  }
  if (id === undefined && to !== undefined) throw new UsageError('--to needs the id of a delivery');
  if (to !== undefined && toAlternate)
    throw new UsageError('give --to or --to-alternate, not both');
  if (id === undefined && destination === undefined && toAlternate) {
    throw new UsageError('--to-alternate needs the id of a delivery or --destination');
  }
  if (id !== undefined && (toAlternate || to !== undefined)) {
    const parameters = { id, destination: to ?? null };
    const row = await runCommand('deliveries.divert', parameters);
    answer(form, row, [
      `${row.object} will be sent to ${row.destination} instead, as delivery ${row.id}`,
    ]);
  } else if (id !== undefined) {
    const row = await runCommand('deliveries.replay', { id });
    answer(form, row, [`${row.object} will be sent to ${row.destination} again`]);
  } else if (destination !== undefined) {
    const command = toAlternate ? 'deliveries.divert-all' : 'deliveries.replay-all';
    const many = await runCommand(command, { destination });
    const where = toAlternate ? `the alternate of ${destination}` : `${destination} again`;
    const what = many === 1 ? 'delivery goes' : 'deliveries go';
    answer(form, { deliveries: many }, [`${many} ${what} to ${where}`]);
  } else {
    await listDeliveries(form);
  }
}

/** Closes a dead delivery that its receiver will never get. */
export async function closeDelivery(
  id: string,
  { reason, ...form }: AnswerForm & { reason: string },
): Promise<void> {
  const row = await runCommand('deliveries.close', { id, reason });
  answer(form, row, [`${row.object} is closed and will not be sent to ${row.destination}`]);
}
