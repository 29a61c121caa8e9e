import type { Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { newId } from '../../platform/ids.ts';
import { type DeliveryRow, requireDeliverable } from './deliveries.ts';
import { MAY_BE_DIVERTED, OUTBOX_CHANNEL } from './delivery.ts';

/**
 * Diverts a dead or waiting delivery to another destination: a new delivery replaces it
 * (`alternate_of`), and the state of the old delivery becomes `diverted`. After an ambiguous
 * failure, the first peer may have the object too; the old row keeps its error code to show this.
 * Nothing is diverted if the other destination already has a delivery of the same object, or if the
 * delivery is itself a replacement. The old row is locked first, because an outbox that claims it
 * at the same moment would send it as well.
 * @returns the new delivery; null if nothing was diverted.
 */
export async function divert(
  tx: Queryable,
  id: string,
  alternate: string,
  giveUpSeconds: number,
): Promise<DeliveryRow | null> {
  const { rows } = await tx.query<DeliveryRow>(
    `INSERT INTO deliveries (id, request_id, kind, destination, object, study, revision, rank,
       give_up_at, alternate_of, result_revision)
     SELECT $2, request_id, kind, $3, object, study, revision, rank,
       now() + make_interval(secs => $4), id, result_revision
     FROM deliveries WHERE id = $1 AND state IN ('dead', 'pending') AND alternate_of IS NULL
       AND kind IN ${MAY_BE_DIVERTED} AND destination <> $3
     FOR UPDATE
     ON CONFLICT DO NOTHING RETURNING *`,
    [id, newId('dlv'), alternate, giveUpSeconds],
  );
  const [made] = rows;
  if (!made) return null;
  await tx.query(`UPDATE deliveries SET state = 'diverted', ended_at = now() WHERE id = $1`, [id]);
  await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, made.id]);
  return made;
}

/**
 * Diverts the deliveries waiting for a destination whose breaker has been open for longer than
 * `patienceSeconds`: at most 1000 in one call.
 * @returns the number of diverted deliveries.
 */
export async function divertOverdue(
  database: Database,
  { destination, alternate }: { destination: string; alternate: string },
  { patienceSeconds, giveUpSeconds }: { patienceSeconds: number; giveUpSeconds: number },
): Promise<number> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `SELECT d.id FROM deliveries d JOIN destination_breakers b USING (destination)
       WHERE d.destination = $1 AND d.state = 'pending' AND d.alternate_of IS NULL
         AND d.kind IN ${MAY_BE_DIVERTED} AND b.state = 'open'
         AND b.opened_at <= now() - make_interval(secs => $2)
         AND NOT EXISTS (SELECT 1 FROM deliveries other WHERE other.destination = $3
           AND other.object = d.object AND other.request_id IS NOT DISTINCT FROM d.request_id
           AND other.result_revision = d.result_revision)
       ORDER BY d.id LIMIT 1000 FOR UPDATE OF d SKIP LOCKED`,
      [destination, patienceSeconds, alternate],
    );
    return divertEach(tx, rows, alternate, giveUpSeconds);
  });
}

/**
 * Diverts every dead or waiting delivery from a destination to its alternate, at a person's
 * request.
 * @returns the number of diverted deliveries.
 */
export function divertAll(
  database: Database,
  destination: string,
  alternate: string,
  giveUpSeconds: number,
): Promise<number> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `SELECT id FROM deliveries WHERE destination = $1 AND state IN ('dead', 'pending')
         AND alternate_of IS NULL AND kind IN ${MAY_BE_DIVERTED}
       ORDER BY id FOR UPDATE SKIP LOCKED`,
      [destination],
    );
    return divertEach(tx, rows, alternate, giveUpSeconds);
  });
}

async function divertEach(
  tx: Queryable,
  rows: readonly { id: string }[],
  alternate: string,
  giveUpSeconds: number,
): Promise<number> {
  let diverted = 0;
  for (const { id } of rows) {
    if (await divert(tx, id, alternate, giveUpSeconds)) diverted += 1;
  }
  return diverted;
}

/**
 * Diverts one delivery at a person's request.
 * @throws SonogateError `not_found` if the delivery is neither dead nor waiting, or if `divert`
 * does not divert it; `result_withdrawn`.
 */
export function divertByHand(
  database: Database,
  id: string,
  alternate: string,
  giveUpSeconds: number,
): Promise<DeliveryRow> {
  return database.transaction(async (tx) => {
    await requireDeliverable(tx, id);
    const made = await divert(tx, id, alternate, giveUpSeconds);
    if (made) return made;
    throw new SonogateError(
      'not_found',
      `No dead or waiting delivery ${id} can be sent to ${alternate}; it may already have been sent there.`,
    );
  });
}
