import { type Config, sendsIdentity } from '../../config/schema.ts';
import { listBreakers } from '../core/outbox/breaker.ts';
import { closeByHand } from '../core/outbox/close.ts';
import {
  type DeliveryRow,
  listDeliveries,
  replayAll,
  replayDelivery,
} from '../core/outbox/deliveries.ts';
import { divertAll, divertByHand } from '../core/outbox/divert.ts';
import { requireNoIdentifiers } from '../core/requests/identifiers.ts';
import type { Database } from '../platform/database/port.ts';
import { SonogateError } from '../platform/errors/catalogue.ts';
import { InvalidInputError } from '../platform/errors/problem.ts';
import type { DeliveryOperations } from './operations.ts';

/**
 * Creates the operations on deliveries. A running outbox is notified by the database when
 * deliveries become due again.
 * @param onClosed called for each delivery that a person closes.
 */
export function createDeliveryOperations(
  { destinations, delivery }: Pick<Config, 'destinations' | 'delivery'>,
  database: Database,
  onClosed: (delivery: DeliveryRow) => void,
): DeliveryOperations {
  const giveUpSeconds = delivery.giveUpAfterHours * 3600;
  const pacs = destinations.filter(sendsIdentity);

  const alternateOf = (name: string): string => {
    const alternate = pacs.find((each) => each.name === name)?.alternate;
    if (alternate !== undefined) return alternate;
    throw new SonogateError('not_found', `${name} has no \`alternate\`; state a destination.`);
  };
  const requirePacs = (name: string): string => {
    if (pacs.some((each) => each.name === name)) return name;
    throw new SonogateError(
      'not_found',
      `There is no destination "${name}" that accepts DICOM objects.`,
    );
  };

  /**
   * Destinations removed from the settings, and those of webhooks, are only known from their
   * deliveries.
   */
  const requireDeliveryTo = async (destination: string): Promise<void> => {
    const [any] = await listDeliveries(database, { destination, limit: 1 });
    if (any) return;
    const names = destinations.map(({ name }) => name).join(', ') || 'none';
    throw new SonogateError(
      'not_found',
      `There is no destination "${destination}". Destinations: ${names}.`,
    );
  };

  return {
    list: (filter) => listDeliveries(database, filter),
    breakers: () => listBreakers(database),
    replay: (id) => replayDelivery(database, id, giveUpSeconds),
    async replayAll(destination) {
      const replayed = await replayAll(database, destination, giveUpSeconds);
      const known = destinations.some(({ name }) => name === destination);
      if (replayed === 0 && !known) await requireDeliveryTo(destination);
      return replayed;
    },
    async divert(id, destination) {
      const [row] = await listDeliveries(database, { id, limit: 1 });
      if (!row) throw new SonogateError('not_found', `There is no delivery ${id}.`);
      const to = destination === null ? alternateOf(row.destination) : requirePacs(destination);
      return divertByHand(database, id, to, giveUpSeconds);
    },
    divertAll: (destination) =>
      divertAll(database, destination, alternateOf(destination), giveUpSeconds),
    async close({ id, person, reason }) {
      requireReason(reason);
      const closing = { at: new Date().toISOString(), by: person, reason };
      const closed = await closeByHand(database, id, closing);
      onClosed(closed);
      return closed;
    },
  };
}

/** Maximum number of characters of the reason for which a delivery is closed. */
export const LONGEST_CLOSING_REASON = 500;

/**
 * @throws InvalidInputError unless the reason is a single line that identifies nobody: the audit
 * contains it, and API clients can read it.
 */
function requireReason(reason: string): void {
  requireNoIdentifiers(reason, '/reason');
  if (!/\p{Cc}/u.test(reason)) return;
  throw new InvalidInputError([{ pointer: '/reason', detail: 'Write the reason on one line.' }]);
}
