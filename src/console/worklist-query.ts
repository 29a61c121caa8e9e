import { z } from 'zod';
import type { Queryable } from '../database/port.ts';
import type { ConsoleRole, RowState } from './contract.ts';
import { sees } from './roles.ts';

/** Every state of a row: those of a study that was not submitted, and those of a request. */
const ROW_STATES = [
  'receiving',
  'complete',
  'held',
  'unrouted',
  'ignored',
  'refused',
  'routed',
  'queued',
  'preparing',
  'running',
  'succeeded',
  'failed',
  'canceled',
  'rejected',
  'expired',
] as const satisfies readonly RowState[];

export const DEFAULT_LIMIT = 50;
export const HIGHEST_LIMIT = 200;
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
  q: text.optional(),
  cursor: z.string().max(200).transform(readCursor).optional(),
  limit: z.coerce.number().int().min(1).max(HIGHEST_LIMIT).default(DEFAULT_LIMIT),
});
export type WorklistFilter = z.infer<typeof worklistQuery>;

/** The place of a row in the worklist: when it arrived, and its key. */
interface Place {
  arrivedAt: string;
  key: string;
}

/** Microseconds as the database has them: two rows of one millisecond keep their order. */
const PLACE = `to_char(arrived_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place`;

/**
 * Keys of one page of the worklist, newest first, by keyset: a page is stable under what arrives
 * meanwhile, and as quick at the end as at the beginning. Rows with critical flags that nobody has
 * acknowledged come on the first page, all of them, and are not repeated.
 */
export async function listKeys(
  database: Queryable,
  role: ConsoleRole,
  filter: WorklistFilter,
): Promise<{ critical: string[]; keys: string[]; nextCursor: string | null }> {
  const searching = filter.q !== undefined && sees(role) === 'identity';
  const words = searching ? await wordsOf(database, filter.q ?? '') : null;
  const { from, conditions, values } = conditionsOf(filter, words);
  const page = async (extra: string, limit: number) => {
    const where = [...conditions, extra].join(' AND ');
    const { rows } = await database.query<{ key: string; place: string }>(
      `SELECT key, ${PLACE} FROM ${from} WHERE ${where}
       ORDER BY arrived_at DESC, key DESC LIMIT ${limit}`,
      values,
    );
    return rows;
  };
  const critical = filter.cursor ? [] : await page('critical', MOST_CRITICAL);
  if (filter.critical) return { critical: keysOf(critical), keys: [], nextCursor: null };
  const found = await page('NOT critical', filter.limit + 1);
  const rows = found.slice(0, filter.limit);
  const last = rows.at(-1);
  return {
    critical: keysOf(critical),
    keys: keysOf(rows),
    nextCursor: found.length > rows.length && last ? `${last.place} ${last.key}` : null,
  };
}

const keysOf = (rows: readonly { key: string }[]): string[] => rows.map(({ key }) => key);

/** @param words of the identity to search for; null: not by words. */
function conditionsOf(
  { state, source, endpoint, tag, q, cursor }: WorklistFilter,
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
  if (cursor) {
    values.push(cursor.arrivedAt, cursor.key);
    const [arrivedAt, key] = [values.length - 1, values.length];
    conditions.push(`(arrived_at, key) < ($${arrivedAt}::timestamptz, $${key}::text)`);
  }
  if (!q) return { from: 'worklist', conditions, values };
  const [search, named] = [values.push(q.trim()), words !== null && values.push(words)];
  const hits = searched(`$${search}`, named ? `$${named}` : null);
  // A fence for the planner: hits are few and found by their own indexes, not along the time.
  const from = `(SELECT * FROM worklist WHERE ${hits} OFFSET 0) AS worklist`;
  return { from, conditions, values };
}

/**
 * Hits of a UID, an id or a tag as it is, for every role. Words of the identity are compared for
 * those only who see it: to others a hit would tell what they may not read. One look into each
 * index; joined by OR they would be looked for row by row.
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
  return `key IN (${hits.join(' UNION ')})`;
}

/**
 * Each word of a search as the beginning of a word of the identity, parted as worklist_words() parts
 * them; '' without a word, which matches nothing. Asked for by itself, since the planner takes the
 * index only for words that it knows.
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

/** As `nextCursor` is written. @returns what the schema refuses when it was not made here. */
function readCursor(cursor: string, context: z.RefinementCtx): Place {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) (\S+)$/.exec(cursor);
  if (match?.[1] && match[2]) return { arrivedAt: match[1], key: match[2] };
  context.addIssue({ code: 'custom', message: 'the `nextCursor` of a page before' });
  return z.NEVER;
}
