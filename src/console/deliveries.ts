import { z } from 'zod';
import type { Config } from '../../config/schema.ts';
import type { Queryable } from '../database/port.ts';
import { catalogueEntry, type ErrorCode } from '../errors/catalogue.ts';
import type { DeliveryRow } from '../outbox/deliveries.ts';
import { HELD_FOR_A_PERSON } from '../outbox/held.ts';
import { DELIVERY_STATES } from '../outbox/states.ts';
import type { ConsoleRole, Delivery, Page } from './contract.ts';
import type { ConsoleDeps } from './deps.ts';
import { readsFreeText } from './roles.ts';
import { DEFAULT_LIMIT, HIGHEST_LIMIT } from './worklist-query.ts';

const name = z.string().min(1).max(200);

export const pageLimit = z.coerce.number().int().min(1).max(HIGHEST_LIMIT).default(DEFAULT_LIMIT);

export const deliveryQuery = z.strictObject({
  destination: name.optional(),
  state: z.enum(DELIVERY_STATES).optional(),
  request: name.optional(),
  cursor: name.optional(),
  limit: pageLimit,
});

interface ListedDelivery extends DeliveryRow {
  key: string | null;
  held: boolean;
}

/** Results and forwarded objects; webhooks are the business of their account. */
const SELECT = `
  SELECT d.*, ${HELD_FOR_A_PERSON} AS held,
    coalesce((SELECT coalesce(r.source ->> 'study', r.id) FROM requests r WHERE r.id = d.request_id),
      (SELECT i.study_id::text FROM instances i
        WHERE d.request_id IS NULL AND i.id::text = d.object)) AS key
  FROM deliveries d WHERE d.kind <> 'webhook'`;

type DeliveryDeps = Pick<ConsoleDeps, 'database' | 'config'>;

/** Newest first. */
export async function listDeliveries(
  role: ConsoleRole,
  { destination, state, request, cursor, limit }: z.infer<typeof deliveryQuery>,
  { database, config }: DeliveryDeps,
): Promise<Page<Delivery>> {
  const values: unknown[] = [limit + 1];
  const conditions = [
    [destination, 'd.destination ='],
    [state, 'd.state ='],
    [request, 'd.request_id ='],
    [cursor, 'd.id <'],
  ].flatMap(([value, test]) => {
    if (value === undefined) return [];
    values.push(value);
    return ` AND ${test} $${values.length}`;
  });
  const { rows } = await database.query<ListedDelivery>(
    `${SELECT}${conditions.join('')} ORDER BY d.id DESC LIMIT $1`,
    values,
  );
  const page = rows.slice(0, limit);
  return {
    rows: page.map((row) => shownDelivery(row, role, config)),
    nextCursor: rows.length > page.length ? (page.at(-1)?.id ?? null) : null,
  };
}

/** Those of a study: of its requests, and of its received objects. Oldest first. */
export async function listDeliveriesOf(
  requestIds: readonly string[],
  studyId: string | null,
  role: ConsoleRole,
  { database, config }: DeliveryDeps,
): Promise<Delivery[]> {
  const { rows } = await database.query<ListedDelivery>(
    `${SELECT} AND (d.request_id = ANY ($1::text[]) OR (d.request_id IS NULL
       AND d.object IN (SELECT id::text FROM instances WHERE study_id = $2::uuid)))
     ORDER BY d.id LIMIT 500`,
    [requestIds, studyId],
  );
  return rows.map((row) => shownDelivery(row, role, config));
}

/** Those with these ids, in no order. */
export async function readDeliveries(
  database: Queryable,
  ids: readonly string[],
): Promise<ListedDelivery[]> {
  const { rows } = await database.query<ListedDelivery>(`${SELECT} AND d.id = ANY ($1::text[])`, [
    ids,
  ]);
  return rows;
}

export function shownDelivery(
  row: ListedDelivery,
  role: ConsoleRole,
  { destinations }: Pick<Config, 'destinations'>,
): Delivery {
  const { state, kind } = row;
  const free = readsFreeText(role);
  return {
    id: row.id,
    requestId: row.request_id,
    key: row.key,
    kind: kind === 'webhook' ? 'dicom' : kind,
    destination: row.destination,
    // Of a forward it is our own id of the received object.
    object: kind === 'forward' ? 'received object' : row.object,
    state,
    attempts: row.attempt,
    createdAt: row.created_at.toISOString(),
    nextAttemptAt: state === 'pending' ? row.next_at.toISOString() : null,
    givesUpAt: row.give_up_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    committedAt: row.committed_at?.toISOString() ?? null,
    error: row.code && shownError(row.code, free ? row.detail : null),
    outcome: state === 'delivered' && free ? row.detail : null,
    held: row.held,
    alternates: mayBeDiverted(row) ? alternatesOf(row.destination, destinations) : [],
  };
}

const mayBeDiverted = ({ state, kind }: DeliveryRow): boolean =>
  (state === 'dead' || state === 'pending') && (kind === 'dicom' || kind === 'forward');

/** Other PACS of the site. */
function alternatesOf(destination: string, destinations: Config['destinations']): string[] {
  return destinations
    .filter(({ type, name: other }) => type !== 'fhir' && other !== destination)
    .map(({ name: other }) => other);
}

/** An error in plain words, from the catalogue; `detail` is what was said when it happened. */
export function shownError(code: ErrorCode, detail: string | null): NonNullable<Delivery['error']> {
  const { title, operator } = catalogueEntry(code);
  return { code, title, advice: operator, detail };
}
