import { z } from 'zod';
import { type Config, sendsIdentity } from '../../../config/schema.ts';
import { specialtyOf } from '../../../pipelines/concepts/specialty.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import { readsFreeText } from '../../core/accounts/roles.ts';
import { destinationOf, listOf } from '../../core/alerts/alerts.ts';
import type { DeliveryRow } from '../../core/outbox/deliveries.ts';
import {
  DELIVERY_KINDS,
  DELIVERY_STATES,
  type DeliveryKind,
  TO_CLIENTS,
} from '../../core/outbox/delivery.ts';
import { HELD_FOR_A_PERSON } from '../../core/outbox/held.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { catalogueEntry, type ErrorCode } from '../../platform/errors/catalogue.ts';
import type { ConsoleDeps } from './context.ts';
import type { ConsoleRole, Delivery, Destination, Page, Peer } from './contract.ts';
import { DEFAULT_LIMIT, HIGHEST_LIMIT } from './worklist.ts';

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
  identity: DicomIdentity | null;
  endpoint: string | null;
  held: boolean;
}

/**
 * SQL: deliveries of results, forwarded objects and mails. Webhooks and notifications of
 * subscriptions are excluded, because they belong to an account rather than to the installation.
 */
const SELECT = `
  SELECT d.*, ${HELD_FOR_A_PERSON} AS held, coalesce(s.id::text, d.request_id) AS key,
    s.identity, r.endpoint
  FROM deliveries d LEFT JOIN requests r ON r.id = d.request_id
    LEFT JOIN studies s ON s.id = coalesce((r.source ->> 'study')::uuid,
      (SELECT i.study_id FROM instances i WHERE d.request_id IS NULL AND i.id::text = d.object))
  WHERE d.kind NOT IN ${TO_CLIENTS}`;

type DeliveryDeps = Pick<ConsoleDeps, 'database' | 'config' | 'showSubject'>;

/**
 * Lists deliveries, newest first. The ids of webhooks, which are not listed, sort after all others.
 * The condition on the id keeps the database from reading every webhook before the first row.
 */
export async function listDeliveries(
  role: ConsoleRole,
  { destination, state, request, cursor, limit }: z.infer<typeof deliveryQuery>,
  deps: DeliveryDeps,
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
  const { rows } = await deps.database.query<ListedDelivery>(
    `${SELECT} AND d.id < 'whd_'${conditions.join('')} ORDER BY d.id DESC LIMIT $1`,
    values,
  );
  const page = rows.slice(0, limit);
  return {
    rows: page.map((row) => shownDelivery(row, role, deps)),
    nextCursor: rows.length > page.length ? (page.at(-1)?.id ?? null) : null,
  };
}

/**
 * Lists at most 500 deliveries of a study: first those of its requests, then those of its received
 * objects, of which there can be many. Each group is sorted with the oldest delivery first.
 */
export async function listDeliveriesOf(
  requestIds: readonly string[],
  studyId: string | null,
  role: ConsoleRole,
  deps: DeliveryDeps,
): Promise<Delivery[]> {
  const { rows } = await deps.database.query<ListedDelivery>(
    `${SELECT} AND (d.request_id = ANY ($1::text[]) OR (d.request_id IS NULL
       AND d.object IN (SELECT id::text FROM instances WHERE study_id = $2::uuid)))
     ORDER BY d.request_id IS NULL, d.id LIMIT 500`,
    [requestIds, studyId],
  );
  return rows.map((row) => shownDelivery(row, role, deps));
}

/** Returns the deliveries with these ids, in no particular order. */
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
  { config, showSubject }: Pick<DeliveryDeps, 'config' | 'showSubject'>,
): Delivery {
  const { state, kind, identity } = row;
  const free = readsFreeText(role);
  return {
    id: row.id,
    requestId: row.request_id,
    key: row.key,
    subject: identity && showSubject(role, identity),
    endpoint: row.endpoint,
    specialty: specialtyOf(row.endpoint),
    kind: shownKind(kind),
    destination: row.destination,
    // For a forwarded object, `row.object` is only our internal id, so words replace it.
    object: FORWARDED[kind] ?? row.object,
    signedRevision: row.result_revision,
    state,
    attempts: row.attempt,
    createdAt: row.created_at.toISOString(),
    nextAttemptAt: state === 'pending' ? row.next_at.toISOString() : null,
    endedAt: row.ended_at?.toISOString() ?? null,
    committedAt: row.committed_at?.toISOString() ?? null,
    error: row.code && shownError(row.code, free ? row.detail : null),
    outcome: state === 'delivered' && free ? row.detail : null,
    notSent: state === 'delivered' && row.not_sent,
    held: row.held,
    closed: free ? row.closed : null,
    alternates: mayBeDiverted(row) ? alternatesOf(row.destination, config.destinations) : [],
  };
}

/**
 * The console does not list notices to clients, and lists a withdrawal under the kind of its
 * receiver.
 */
function shownKind(kind: DeliveryKind): Delivery['kind'] {
  switch (kind) {
    case 'fhir-withdrawal':
      return 'fhir';
    case 'hl7v2-withdrawal':
      return 'hl7v2';
    case 'dicom-withdrawal':
    case 'webhook':
    case 'subscription':
      return 'dicom';
    default:
      return kind;
  }
}

const FORWARDED: Partial<Record<DeliveryKind, string>> = {
  forward: 'received object',
  deidentified: 'de-identified copy',
};

const mayBeDiverted = ({ state, kind }: DeliveryRow): boolean =>
  (state === 'dead' || state === 'pending') && DELIVERY_KINDS[kind].mayBeDiverted;

function alternatesOf(destination: string, destinations: Config['destinations']): string[] {
  return destinations
    .filter((other) => sendsIdentity(other) && other.name !== destination)
    .map(({ name: other }) => other);
}

/**
 * Describes an error in plain words, from the catalogue; `detail` is the message of this particular
 * failure.
 */
export function shownError(code: ErrorCode, detail: string | null): NonNullable<Delivery['error']> {
  const { title, operator } = catalogueEntry(code);
  return { code, title, advice: operator, detail };
}

type PeerDeps = Pick<ConsoleDeps, 'database' | 'config'>;

interface Counts {
  destination: string;
  waiting: number;
  sending: number;
  dead: number;
  held: number;
}

interface LastError {
  destination: string;
  code: ErrorCode;
  detail: string | null;
  at: Date;
}

/**
 * Lists every configured destination and mailing list, and former ones that still have open or dead
 * deliveries.
 */
export async function listDestinations(role: ConsoleRole, deps: PeerDeps): Promise<Destination[]> {
  const { config } = deps;
  const [open, day, taken, errors, alone] = await Promise.all([
    rowsOf<Counts>(
      deps,
      `SELECT destination,
         (count(*) FILTER (WHERE state = 'pending' AND NOT held))::int AS waiting,
         (count(*) FILTER (WHERE state = 'sending'))::int AS sending,
         (count(*) FILTER (WHERE state = 'dead' AND NOT held))::int AS dead,
         (count(*) FILTER (WHERE held))::int AS held
       FROM (SELECT d.destination, d.state, ${HELD_FOR_A_PERSON} AS held
         FROM deliveries d
         WHERE d.kind NOT IN ${TO_CLIENTS} AND d.state IN ('pending', 'sending', 'dead')) AS open
       GROUP BY destination`,
    ),
    rowsOf<{ destination: string; delivered: number }>(
      deps,
      `SELECT destination, count(*)::int AS delivered FROM deliveries
       WHERE state = 'delivered' AND kind NOT IN ${TO_CLIENTS} AND ended_at > now() - interval '1 day'
       GROUP BY destination`,
    ),
    lastTaken(deps),
    lastErrors(deps),
    rowsOf<{ destination: string; until: Date }>(
      deps,
      'SELECT destination, until FROM destination_holds WHERE until > now()',
    ),
  ]);
  const names = new Set([
    ...config.destinations.map(({ name }) => name),
    ...(config.alerts?.lists ?? []).map(destinationOf),
    ...open.map(({ destination }) => destination),
  ]);
  const of = <Row extends { destination: string }>(rows: readonly Row[], name: string) =>
    rows.find(({ destination }) => destination === name);
  return [...names].map((name) => {
    const counts = of(open, name);
    const error = of(errors, name);
    const set = config.destinations.find((destination) => destination.name === name);
    return {
      name,
      ...kindAndAddress(name, set, role, config),
      waiting: counts?.waiting ?? 0,
      sending: counts?.sending ?? 0,
      dead: counts?.dead ?? 0,
      held: counts?.held ?? 0,
      deliveredLastDay: of(day, name)?.delivered ?? 0,
      lastDeliveredAt: of(taken, name)?.at.toISOString() ?? null,
      lastError: error ? shownError(error.code, readsFreeText(role) ? error.detail : null) : null,
      leftAloneUntil: of(alone, name)?.until.toISOString() ?? null,
    };
  });
}

/**
 * Returns a destination's kind and address from its settings (`set`). Mailing lists have no such
 * settings; their addresses come from `alerts`.
 */
function kindAndAddress(
  name: string,
  set: Target | undefined,
  role: ConsoleRole,
  { alerts }: Pick<Config, 'alerts'>,
): Pick<Destination, 'kind' | 'address'> {
  if (set) return { kind: set.type, address: addressOf(set, role) };
  const list = alerts && listOf(alerts, name);
  if (!list) return { kind: 'no longer configured', address: '' };
  return { kind: 'mail', address: readsFreeText(role) ? list.to.join(', ') : '' };
}

async function rowsOf<Row extends object>({ database }: PeerDeps, text: string): Promise<Row[]> {
  return (await database.query<Row>(text)).rows;
}

const callersText = (titles: readonly string[]): string =>
  titles.map((title) => (title === '*' ? 'any AE title' : title)).join(', ');

/** Lists every node that sends to us or to which we send. */
export async function listPeers(role: ConsoleRole, deps: PeerDeps): Promise<Peer[]> {
  const { database, config } = deps;
  const [taken, errors, { rows: received }] = await Promise.all([
    lastTaken(deps),
    lastErrors(deps),
    database.query<{ source: string; at: Date }>(
      'SELECT source, max(arrived_at) AS at FROM worklist WHERE study_id IS NOT NULL GROUP BY source',
    ),
  ]);
  const sources = config.sources.map(
    (source): Peer => ({
      name: source.name,
      kind: 'source',
      address: `${callersText(source.callingAeTitles)} from ${source.addresses.join(', ')}`,
      tls: config.dicom.tls !== undefined,
      objects: [],
      lastExchangeAt: received.find((row) => row.source === source.name)?.at.toISOString() ?? null,
      lastError: null,
      lastErrorAt: null,
      callable: source.node !== undefined,
    }),
  );
  const destinations = config.destinations.map((destination): Peer => {
    const error = errors.find((row) => row.destination === destination.name);
    return {
      name: destination.name,
      kind:
        destination.type === 'fhir' || destination.type === 'hl7v2' ? destination.type : 'dicom',
      address: addressOf(destination, role),
      tls: isEncrypted(destination),
      objects: objectsOf(destination),
      lastExchangeAt:
        taken.find((row) => row.destination === destination.name)?.at.toISOString() ?? null,
      lastError: error ? shownError(error.code, readsFreeText(role) ? error.detail : null) : null,
      lastErrorAt: error?.at.toISOString() ?? null,
      callable: true,
    };
  });
  return [...sources, ...destinations];
}

type Target = Config['destinations'][number];

function objectsOf(destination: Target): string[] {
  if ('objects' in destination) return [...destination.objects];
  return destination.type === 'fhir' ? ['fhir-bundle'] : ['oru-r01'];
}

const isEncrypted = (destination: Target): boolean =>
  'baseUrl' in destination
    ? destination.baseUrl.startsWith('https:')
    : destination.type === 'local' || destination.tls !== undefined;

/**
 * Returns a destination's address; '' for a local destination, and for roles that may not see
 * addresses.
 */
function addressOf(destination: Target, role: ConsoleRole): string {
  if (!readsFreeText(role) || destination.type === 'local') return '';
  if ('baseUrl' in destination) return destination.baseUrl;
  const address = `${destination.host}:${destination.port}`;
  return destination.type === 'hl7v2' ? address : `${destination.aeTitle}@${address}`;
}

async function lastTaken({ database }: PeerDeps): Promise<{ destination: string; at: Date }[]> {
  const { rows } = await database.query<{ destination: string; at: Date }>(
    `SELECT DISTINCT ON (destination) destination, ended_at AS at FROM deliveries
     WHERE state = 'delivered' AND kind NOT IN ${TO_CLIENTS} AND ended_at > now() - interval '7 days'
     ORDER BY destination, ended_at DESC`,
  );
  return rows;
}

/**
 * Returns each destination's last error. Only open and dead deliveries are read, because a
 * delivered one has no error.
 */
async function lastErrors({ database }: PeerDeps): Promise<LastError[]> {
  const { rows } = await database.query<LastError>(
    `SELECT DISTINCT ON (destination) destination, code, detail,
       coalesce(ended_at, next_at) AS at
     FROM deliveries WHERE state IN ('pending', 'sending', 'dead') AND kind NOT IN ${TO_CLIENTS}
       AND code IS NOT NULL
     ORDER BY destination, coalesce(ended_at, next_at) DESC`,
  );
  return rows;
}
