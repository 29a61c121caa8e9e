import { z } from 'zod';
import { specialtyOf } from '../../../pipelines/concepts/specialty.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { weeksAndDays } from '../../../pipelines/result/render/obstetric/shared.ts';
import { countingValues } from '../../../pipelines/result/standing.ts';
import { readsFreeText, sees } from '../../core/accounts/roles.ts';
import { AFTER_SIGNATURE, TO_CLIENTS } from '../../core/outbox/delivery.ts';
import { HELD_FOR_A_PERSON } from '../../core/outbox/held.ts';
import { REQUEST_STATUS, type RequestStatus, type Stage } from '../../core/requests/request.ts';
import { SEEN_SECONDS } from '../../core/reviews/review-rows.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { inParallel } from '../../platform/in-parallel.ts';
import { isStorableTime } from '../http/parse.ts';
import type { ConsoleRole, Glance, ReviewState, RowState, WorklistRow } from './contract.ts';
import type { ShowSubject } from './identity.ts';
import { keyValuesOf, keyValueText } from './key-values.ts';
import { destinationText } from './pages/object-names.ts';
import type { StatedAge } from './wording.ts';

/** A worklist row with all related data, before it is reduced to what a role may see. */
export interface ListedRow {
  key: string;
  study_id: string | null;
  request_id: string | null;
  state: RowState;
  source: string;
  endpoint: string | null;
  tags: string[];
  arrived_at: Date;
  changed_at: Date;
  /** The study's identity; null for a request without a study. */
  identity: DicomIdentity | null;
  reason: string | null;
  instance_count: number | null;
  complete_after: Date | null;
  next_attempt_at: Date | null;
  /** Status of the newest request; null before the first request. */
  status: RequestStatus | null;
  stage: Stage | null;
  fault_detail: string | null;
  test: boolean | null;
  files: number | null;
  /** Options of the newest request; they contain the stated gestational age. */
  options: unknown;
  glance: Glance | null;
  review: ReviewState;
  withdrawn: boolean;
  /** Destinations that receive the result only once it is signed. */
  after_signature: string[];
  /** When the newest result is purged; null before there is one. */
  expires_at: Date | null;
  readers: string[];
  flags: {
    request: string;
    display: string | null;
    at: string;
    /** Who acknowledged the flags of this request, and when; null when nobody has. */
    person: string | null;
    seen_at: string | null;
  }[];
  deliveries: WorklistRow['deliveries'];
  next_delivery: { destination: string; nextAt: string } | null;
}

/**
 * SQL: the critical flags of a study, or of a request without a study. For a study, these are the
 * flags of its current requests; a request is current until its rule has a result for a later
 * revision of the study. A flag's text is null once it has been purged.
 */
const FLAGS = `
  SELECT coalesce(jsonb_agg(jsonb_build_object('request', e.request_id, 'display', e.data ->> 'display',
    'at', e.at, 'person', a.person, 'seen_at', a.at)
    ORDER BY e.request_id DESC, e.seq), '[]') AS flags
  FROM request_events e LEFT JOIN triage_acknowledgements a USING (request_id)
  WHERE e.name = 'triage' AND e.request_id = ANY (CASE WHEN w.study_id IS NULL
    THEN ARRAY[w.request_id] ELSE current_requests(w.study_id) END)`;

const DELIVERIES = `
  SELECT jsonb_build_object(
      'waiting', count(*) FILTER (WHERE d.state IN ('pending', 'sending')),
      'delivered', count(*) FILTER (WHERE d.state = 'delivered' AND NOT d.not_sent),
      'dead', count(*) FILTER (WHERE d.state = 'dead' AND NOT ${HELD_FOR_A_PERSON}),
      'held', count(*) FILTER (WHERE ${HELD_FOR_A_PERSON})) AS deliveries,
    (array_agg(jsonb_build_object('destination', d.destination, 'nextAt', d.next_at)
      ORDER BY d.next_at) FILTER (WHERE d.state = 'pending'))[1] AS next_delivery
  FROM deliveries d WHERE d.request_id = w.request_id AND d.kind NOT IN ${TO_CLIENTS}`;

const READERS = `
  SELECT coalesce(array_agg(DISTINCT reader ORDER BY reader), '{}') AS readers FROM review_readers
  WHERE request_id = w.request_id AND seen_at > now() - make_interval(secs => ${SEEN_SECONDS})`;

/** Returns the rows with these keys, in the same order; keys without a row are omitted. */
export async function readRows(database: Queryable, keys: readonly string[]): Promise<ListedRow[]> {
  if (keys.length === 0) return [];
  const { rows } = await database.query<ListedRow>(
    `SELECT w.key, w.study_id, w.request_id, w.state, w.source, w.endpoint, w.tags, w.arrived_at,
       w.changed_at, s.identity, s.reason, s.instance_count, s.complete_after, s.next_attempt_at,
       r.status, r.stage, r.fault ->> 'detail' AS fault_detail, r.test,
       r.input -> 'options' AS options,
       jsonb_array_length(r.files) AS files, g.glance, coalesce(v.state, 'draft') AS review,
       coalesce(r.withdrawal IS NOT NULL, false) AS withdrawn,
       ${AFTER_SIGNATURE} AS after_signature, r.expires_at, here.readers, flags.flags,
       sent.deliveries, sent.next_delivery
     FROM worklist w
       LEFT JOIN studies s ON s.id = w.study_id
       LEFT JOIN requests r ON r.id = w.request_id
       LEFT JOIN result_glances g ON g.request_id = w.request_id
       LEFT JOIN reviews v ON v.request_id = w.request_id,
       LATERAL (${FLAGS}) flags, LATERAL (${DELIVERIES}) sent, LATERAL (${READERS}) here
     WHERE w.key = ANY ($1::text[])`,
    [keys],
  );
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return keys.flatMap((key) => byKey.get(key) ?? []);
}

export function showRow(row: ListedRow, role: ConsoleRole, showSubject: ShowSubject): WorklistRow {
  const { waitsFor, waitsUntil } = waiting(row);
  return {
    key: row.key,
    subject: row.identity && showSubject(role, row.identity),
    state: row.state,
    // Both texts may quote header values, so not every role may read them.
    reason: (readsFreeText(role) ? (row.reason ?? row.fault_detail) : null) ?? neverSigned(row),
    source: row.source,
    endpoint: row.endpoint,
    specialty: specialtyOf(row.endpoint),
    requestId: row.request_id,
    objects: row.instance_count ?? row.files ?? 0,
    tags: row.tags,
    test: row.test ?? false,
    arrivedAt: row.arrived_at.toISOString(),
    changedAt: row.changed_at.toISOString(),
    waitsFor,
    waitsUntil: waitsUntil?.toISOString() ?? null,
    stage: row.stage && shownStage(row.stage),
    critical: row.flags.map((flag) => ({
      text: flag.display ?? 'Critical flag (purged)',
      at: new Date(flag.at).toISOString(),
      requestId: flag.request,
      seenBy: flag.person,
    })),
    acknowledged: acknowledgedBy(row),
    glance: row.glance,
    review: row.status !== 'succeeded' ? null : row.withdrawn ? 'withdrawn' : row.review,
    // As in the timeline, the people reading a result are shown only to roles that may see
    // patients' names or operate the gateway.
    readers: readsFreeText(role) ? row.readers : [],
    deliveries: row.deliveries,
  };
}

/** Returns the latest acknowledgement of a row's flags; null while a flag is unacknowledged. */
export function acknowledgedBy({ flags }: ListedRow): WorklistRow['acknowledged'] {
  const seen = flags
    .flatMap(({ person, seen_at: at }) => (person !== null && at !== null ? [{ person, at }] : []))
    .map(({ person, at }) => ({ person, at: new Date(at).toISOString() }))
    .toSorted((a, b) => a.at.localeCompare(b.at));
  return seen.length === flags.length ? (seen.at(-1) ?? null) : null;
}

const shownStage = ({ label, progress, eta_s }: Stage): WorklistRow['stage'] => ({
  label,
  progress,
  etaSeconds: eta_s,
});

/** Returns what a row is waiting for; `waitsUntil` is null if the wait has no limit. */
function waiting(row: ListedRow): { waitsFor: string | null; waitsUntil: Date | null } {
  switch (row.state) {
    case 'receiving':
      return { waitsFor: 'more objects', waitsUntil: row.complete_after };
    case 'complete':
      return {
        waitsFor: row.reason === null ? 'its rules' : 'the next attempt',
        waitsUntil: row.next_attempt_at,
      };
    case 'held':
      return { waitsFor: 'a person to release it', waitsUntil: null };
    case 'queued':
      return { waitsFor: 'a worker', waitsUntil: null };
    case 'preparing':
    case 'running':
      return { waitsFor: 'its result', waitsUntil: null };
    default:
      return afterwards(row);
  }
}

function afterwards(row: ListedRow): ReturnType<typeof waiting> {
  const { deliveries, next_delivery: next, after_signature: kept } = row;
  if (deliveries.held > 0) return { waitsFor: 'a person to confirm the patient', waitsUntil: null };
  if (next)
    return {
      waitsFor: `delivery to ${destinationText(next.destination)}`,
      waitsUntil: new Date(next.nextAt),
    };
  if (row.state === 'succeeded' && !row.withdrawn && !isSigned(row.review) && kept.length > 0) {
    const waitsFor = `a signature before it goes to ${kept.join(', ')}`;
    return { waitsFor, waitsUntil: row.expires_at };
  }
  return { waitsFor: null, waitsUntil: null };
}

/**
 * Returns a sentence on the destinations that received nothing because the result was purged before
 * it was signed; null if there are none.
 */
const neverSigned = ({
  state,
  review,
  withdrawn,
  after_signature: kept,
}: ListedRow): string | null =>
  state === 'expired' && !withdrawn && !isSigned(review) && kept.length > 0
    ? `It was never signed, so it did not go to ${kept.join(', ')}.`
    : null;

const isSigned = (review: ReviewState): boolean => review === 'signed' || review === 'amended';

/**
 * All states of a row: first those of a study for which no request was submitted, then those of a
 * request.
 */
export const ROW_STATES = [
  'receiving',
  'complete',
  'held',
  'unrouted',
  'ignored',
  'refused',
  'routed',
  ...REQUEST_STATUS,
] as const satisfies readonly RowState[];

export const DEFAULT_LIMIT = 50;
export const HIGHEST_LIMIT = 200;
/**
 * Maximum number of critical rows listed above all others. Older critical rows are sorted by time
 * like any other row.
 */
const MOST_CRITICAL = 100;

const text = z.string().min(1).max(200);

export const worklistQuery = z.strictObject({
  state: z
    .union([z.enum(ROW_STATES).transform((one) => [one]), z.array(z.enum(ROW_STATES))])
    .optional(),
  source: text.optional(),
  endpoint: text.optional(),
  tag: text.optional(),
  critical: z.literal('1').optional(),
  signature: z.enum(['signed', 'unsigned']).optional(),
  q: text.optional(),
  cursor: z.string().max(200).transform(readCursor).optional(),
  limit: z.coerce.number().int().min(1).max(HIGHEST_LIMIT).default(DEFAULT_LIMIT),
});
type WorklistFilter = z.infer<typeof worklistQuery>;

interface Place {
  arrivedAt: string;
  key: string;
}

/**
 * SQL: the arrival time with microseconds, as stored, so that rows that arrived in the same
 * millisecond keep their order.
 */
const PLACE = `to_char(arrived_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place`;

/**
 * Returns the keys of one worklist page, newest first. Paging is by keyset: a page does not shift
 * while new rows arrive, and the last page takes no longer than the first. The newest rows with
 * unacknowledged critical flags are listed on the first page only, above all others.
 */
export async function listKeys(
  database: Queryable,
  role: ConsoleRole,
  filter: WorklistFilter,
): Promise<{ critical: string[]; keys: string[]; nextCursor: string | null }> {
  const searching = filter.q !== undefined && sees(role) === 'identity';
  const words = searching ? await wordsOf(database, filter.q ?? '') : null;
  const { from, conditions, values } = conditionsOf(filter, words);
  const { rows: critical } = await database.query<{ key: string }>(
    `SELECT key FROM ${from} WHERE ${[...conditions, 'critical'].join(' AND ')}
     ORDER BY arrived_at DESC, key DESC LIMIT ${MOST_CRITICAL}`,
    values,
  );
  const above = keysOf(critical);
  const rest = [...conditions, ...(filter.critical ? ['critical'] : [])];
  const pageValues = [...values, above];
  rest.push(`key <> ALL ($${pageValues.length}::text[])`);
  if (filter.cursor) {
    pageValues.push(filter.cursor.arrivedAt, filter.cursor.key);
    const [arrivedAt, key] = [pageValues.length - 1, pageValues.length];
    rest.push(`(arrived_at, key) < ($${arrivedAt}::timestamptz, $${key}::text)`);
  }
  const { rows: found } = await database.query<{ key: string; place: string }>(
    `SELECT key, ${PLACE} FROM ${from} WHERE ${rest.join(' AND ')}
     ORDER BY arrived_at DESC, key DESC LIMIT ${filter.limit + 1}`,
    pageValues,
  );
  const rows = found.slice(0, filter.limit);
  const last = rows.at(-1);
  return {
    critical: filter.cursor ? [] : above,
    keys: keysOf(rows),
    nextCursor: found.length > rows.length && last ? `${last.place} ${last.key}` : null,
  };
}

const keysOf = (rows: readonly { key: string }[]): string[] => rows.map(({ key }) => key);

/** SQL: whether a person has signed the row's result. */
const SIGNED = `EXISTS (SELECT 1 FROM reviews v WHERE v.request_id = worklist.request_id
  AND v.state IN ('signed', 'amended'))`;

const WITHDRAWN = `EXISTS (SELECT 1 FROM requests r WHERE r.id = worklist.request_id
  AND r.withdrawal IS NOT NULL)`;

/**
 * Returns the SQL conditions for a filter, except its cursor.
 * @param words identity words to search for, as a tsquery; null to search without them.
 */
function conditionsOf(
  { state, source, endpoint, tag, signature, q }: WorklistFilter,
  words: string | null,
): { from: string; conditions: string[]; values: unknown[] } {
  const conditions: string[] = ['true'];
  const values: unknown[] = [];
  const add = (condition: (value: string) => string, value: unknown) => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (state) add((value) => `state = ANY (${value}::text[])`, state);
  if (source) add((value) => `source = ${value}`, source);
  if (endpoint) add((value) => `endpoint = ${value}`, endpoint);
  if (tag) add((value) => `tags @> ARRAY[${value}::text]`, tag);
  if (signature === 'signed') conditions.push(`${SIGNED} AND NOT ${WITHDRAWN}`);
  if (signature === 'unsigned') {
    conditions.push(`state = 'succeeded' AND NOT ${SIGNED} AND NOT ${WITHDRAWN}`);
  }
  if (!q) return { from: 'worklist', conditions, values };
  const [search, named] = [values.push(q.trim()), words !== null && values.push(words)];
  const hits = searched(`$${search}`, named ? `$${named}` : null);
  // A search has few hits, and its own indexes find them faster than the time index does. OFFSET 0
  // keeps the planner from moving conditions into the subquery.
  const from = `(SELECT * FROM worklist WHERE ${hits} OFFSET 0) AS worklist`;
  return { from, conditions, values };
}

/**
 * SQL: rows with this UID, id or tag. Identity words are compared only for roles that see identity:
 * to other roles, a match would reveal data that they may not read. Each comparison is a separate
 * query on its own index; with OR, the database would check each row. The keys are collected in an
 * array, for which the planner expects few rows. For a subquery, it expects so many that it would
 * read the whole worklist.
 */
function searched(value: string, words: string | null): string {
  const conditions = [
    `key = ${value}`,
    `request_id = ${value}`,
    `tags @> ARRAY[${value}::text]`,
    `study_id = (SELECT id FROM studies WHERE study_instance_uid = ${value})`,
    ...(words === null ? [] : [`words @@ ${words}::tsquery`]),
  ];
  const hits = conditions.map((condition) => `SELECT key FROM worklist WHERE ${condition}`);
  return `key = ANY (ARRAY(${hits.join(' UNION ')}))`;
}

/**
 * Returns a tsquery in which each search word is a prefix. The words are split as worklist_words()
 * splits the identity. If there are none, the tsquery is '', which matches nothing. This is a
 * separate query, because the planner uses the index only for constant words.
 */
async function wordsOf(database: Queryable, search: string): Promise<string> {
  const { rows } = await database.query<{ words: string }>(
    `SELECT coalesce(string_agg('''' || replace(word, '''', '''''') || ''':*', ' & '), '') AS words
     FROM unnest(tsvector_to_array(
       worklist_words(jsonb_build_object('PatientName', $1::text)))) AS word`,
    [search],
  );
  return rows[0]?.words ?? '';
}

/** True for an existing time: the database refuses 30 February, which Date reads as 2 March. */
function isInstant(text: string): boolean {
  const at = new Date(text);
  return isStorableTime(at) && at.toISOString().slice(0, 19) === text.slice(0, 19);
}

/** Parses a `nextCursor`, and reports any other text as a validation error. */
function readCursor(cursor: string, context: z.RefinementCtx): Place {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) (\S+)$/.exec(cursor);
  if (match?.[1] && match[2] && isInstant(match[1])) return { arrivedAt: match[1], key: match[2] };
  context.addIssue({ code: 'custom', message: 'the `nextCursor` of an earlier page' });
  return z.NEVER;
}

const MOST_VALUES = 4;
/** Id of the section that summarizes all others. */
const REPORT = 'report';
const AT_A_TIME = 4;

/**
 * Summarizes a result for its row: its first values, its abnormal findings, and how many of its
 * sections were assessed.
 */
export function glanceOf(result: Result, gestationalAge: StatedAge | null = null): Glance {
  const { measurements, sections, findings } = result;
  const asked = sections.filter(({ id, status }) => id !== REPORT && status !== 'not_requested');
  const assessed = asked.filter(({ status }) => status === 'complete' || status === 'partial');
  const toConfirm = countingValues(measurements).filter(({ quality }) => quality === 'review');
  return {
    age: gestationalAge && weeksAndDays(gestationalAge.days),
    values: keyValuesOf(result).slice(0, MOST_VALUES).map(keyValueText),
    toConfirm: toConfirm.length,
    abnormal: findings.flatMap(({ severity, text }) => (severity === 'info' ? [] : [text])),
    assessed: assessed.length,
    sections: asked.length,
  };
}

/** Returns the rows with their results' glances; missing glances are created and stored. */
export async function withGlances(
  rows: readonly ListedRow[],
  parts: { database: Queryable; result(requestId: string): Promise<unknown> },
): Promise<ListedRow[]> {
  const lacking = rows.filter(({ status, glance }) => status === 'succeeded' && !isWhole(glance));
  const made = new Map<string, Glance>();
  await inParallel(lacking, AT_A_TIME, async ({ request_id, options }) => {
    const id = request_id ?? '';
    // The core checked the result against the envelope schema before storing it.
    const result = (await parts.result(id).catch(() => null)) as Result | null;
    if (!result || !Array.isArray(result.measurements)) return;
    const glance = glanceOf(result, statedAge(options));
    made.set(id, glance);
    await keepGlance(parts.database, id, glance);
  });
  return rows.map((row) => ({ ...row, glance: made.get(row.request_id ?? '') ?? row.glance }));
}

/**
 * Whether a glance contains the findings. Glances from an earlier release lack them and are created
 * again.
 */
const isWhole = (glance: Partial<Glance> | null): boolean => glance?.abnormal !== undefined;

/** Returns the gestational age stated in a request; null if none is stated. */
export function statedAge(options: unknown): StatedAge | null {
  const dating = isObject(options) ? options.dating : null;
  if (!isObject(dating) || typeof dating.ga_days !== 'number') return null;
  return { days: dating.ga_days, basis: String(dating.basis ?? '') };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Stores a glance, unless the request's result has just been purged. */
async function keepGlance(database: Queryable, id: string, glance: Glance): Promise<void> {
  await database.query(
    `INSERT INTO result_glances (request_id, glance)
     SELECT id, $2::jsonb FROM requests WHERE id = $1 AND status = 'succeeded'
     ON CONFLICT (request_id) DO UPDATE SET glance = excluded.glance`,
    [id, JSON.stringify(glance)],
  );
}
