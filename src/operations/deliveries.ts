import { z } from 'zod';
import type { Config } from '../../config/schema.ts';
import { listBreakers } from '../core/outbox/breaker.ts';
import { listDeliveries, replayAll, replayDelivery } from '../core/outbox/deliveries.ts';
import { DELIVERY_STATES } from '../core/outbox/delivery.ts';
import { divertAll, divertByHand } from '../core/outbox/divert.ts';
import type { Database } from '../platform/database/port.ts';
import { SonogateError } from '../platform/errors/catalogue.ts';
import type { AdminOperations } from './socket.ts';

const filter = z.strictObject({
  requestId: z.string().optional(),
  destination: z.string().optional(),
  state: z.enum(DELIVERY_STATES).optional(),
  code: z.string().optional(),
  limit: z.number().int().positive().max(10_000).default(100),
});
const byId = z.strictObject({ id: z.string() });
const byDestination = z.strictObject({ destination: z.string() });
const diversion = byId.extend({ destination: z.string().nullable().default(null) });

/**
 * What commands may ask of the outbox. A running one is told by the database that something is due
 * again.
 */
export function createDeliveryOperations(
  { destinations, delivery }: Pick<Config, 'destinations' | 'delivery'>,
  database: Database,
): AdminOperations {
  const giveUpSeconds = delivery.giveUpAfterHours * 3600;
  const pacs = destinations.filter((each) => each.type !== 'fhir');

  const alternateOf = (name: string): string => {
    const alternate = pacs.find((each) => each.name === name)?.alternate;
    if (alternate !== undefined) return alternate;
    throw new SonogateError('not_found', `${name} has no \`alternate\`: name a destination.`);
  };
  const requirePacs = (name: string): string => {
    if (pacs.some((each) => each.name === name)) return name;
    throw new SonogateError('not_found', `No destination "${name}" takes DICOM objects.`);
  };

  return {
    'deliveries.list': async (parameters) => listDeliveries(database, filter.parse(parameters)),
    'deliveries.breakers': async () => listBreakers(database),
    'deliveries.replay': async (parameters) =>
      replayDelivery(database, byId.parse(parameters).id, giveUpSeconds),
    'deliveries.replay-all': async (parameters) =>
      replayAll(database, byDestination.parse(parameters).destination, giveUpSeconds),
    'deliveries.divert': async (parameters) => {
      const { id, destination } = diversion.parse(parameters);
      const [row] = await listDeliveries(database, { id, limit: 1 });
      if (!row) throw new SonogateError('not_found', `There is no delivery ${id}.`);
      const to = destination === null ? alternateOf(row.destination) : requirePacs(destination);
      return divertByHand(database, id, to, giveUpSeconds);
    },
    'deliveries.divert-all': async (parameters) => {
      const { destination } = byDestination.parse(parameters);
      return divertAll(database, destination, alternateOf(destination), giveUpSeconds);
    },
  };
}
