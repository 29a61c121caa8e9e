import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { ReceivedObject } from '../files/received-objects.ts';
import {
  ATTRIBUTES,
  attributeOf,
  isAnsweredAt,
  KEYWORDS,
  type Keyword,
  type Level,
} from './attributes.ts';
import { condition } from './matching.ts';

/**
 * A query for the studies received by this gateway and for the results it stores (`destinations` of
 * type `local`). They belong to the installation's own account.
 */

interface Query {
  level: Level;
  /** Matching keys, with values written as in a C-FIND identifier; '' matches everything. */
  keys: Readonly<Partial<Record<Keyword, string>>>;
  limit: number;
  offset?: number;
}

/**
 * One study, series or object with all attributes that have a value. Multiple values form an array.
 */
export type Match = Readonly<Partial<Record<Keyword, string | readonly string[]>>>;

/**
 * SQL condition: the row is the newest copy of its object. Objects that were sent again have
 * several rows.
 */
const NEWEST = `NOT EXISTS (SELECT 1 FROM instances n WHERE n.study_id = i.study_id
  AND n.sop_instance_uid = i.sop_instance_uid AND n.ordinal > i.ordinal)`;

const COUNTS = `SELECT count(DISTINCT i.header ->> 'seriesInstanceUid')::text AS series,
    count(DISTINCT i.sop_instance_uid)::text AS objects,
    array_agg(DISTINCT i.header ->> 'modality') AS modalities,
    array_agg(DISTINCT i.header ->> 'sopClassUid') AS classes`;

/**
 * Returns the matches of a query, newest study first, and whether there are more than `limit`.
 * @throws SonogateError `invalid_query` for a key that cannot be matched at this level.
 */
export async function find(
  database: Queryable,
  { level, keys, limit, offset = 0 }: Query,
): Promise<{ matches: Match[]; more: boolean }> {
  const values: unknown[] = [];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const where: string[] = ['true'];
  for (const keyword of KEYWORDS) {
    const value = keys[keyword];
    if (value === undefined) continue;
    const { below } = attributeOf(keyword);
    const isCounted = isCountedAt(keyword, level);
    if (!isAnsweredAt(keyword, level) || !(isCounted || below)) {
      throw new SonogateError('invalid_query', `${keyword} is not a key at level ${level}.`);
    }
    const one = condition(keyword, value, parameter, isCounted ? undefined : below);
    if (one !== null) where.push(one);
  }
  const shown = KEYWORDS.filter(
    (keyword) => isAnsweredAt(keyword, level) && isCountedAt(keyword, level),
  );
  const { rows } = await database.query<Record<Keyword, string | string[] | null>>(
    `SELECT ${shown.map((keyword) => `${attributeOf(keyword).sql} AS "${keyword}"`).join(', ')}
     ${SOURCE[level](where.join(' AND '))} LIMIT ${parameter(limit + 1)} OFFSET ${parameter(offset)}`,
    values,
  );
  const matches = rows.slice(0, limit).map(matchOf);
  return { matches, more: rows.length > limit };
}

/** SQL for the rows of each level: studies, the first object of each series, or objects. */
const SOURCE: Readonly<Record<Level, (where: string) => string>> = {
  STUDY: (where) => `FROM studies s
     CROSS JOIN LATERAL (${COUNTS} FROM instances i WHERE i.study_id = s.id) c
     WHERE c.objects <> '0' AND ${where} ORDER BY s.first_received_at DESC, s.id`,
  SERIES: (where) => `FROM studies s
     CROSS JOIN LATERAL (SELECT min(o.ordinal) AS first,
         count(DISTINCT o.sop_instance_uid)::text AS objects
       FROM instances o WHERE o.study_id = s.id GROUP BY o.header ->> 'seriesInstanceUid') c
     JOIN instances i ON i.study_id = s.id AND i.ordinal = c.first
     WHERE ${where} ORDER BY s.first_received_at DESC, s.id, i.ordinal`,
  IMAGE: (where) => `FROM instances i JOIN studies s ON s.id = i.study_id
     WHERE ${NEWEST} AND ${where} ORDER BY s.first_received_at DESC, s.id, i.ordinal`,
};

/**
 * Returns true if an attribute may be returned at a level. Counts are returned only at their own
 * level, because at a lower level they would cost a scan for each row.
 */
const isCountedAt = (keyword: Keyword, level: Level): boolean =>
  !COUNTED.has(keyword) || ATTRIBUTES[keyword].level === level;
const COUNTED: ReadonlySet<Keyword> = new Set([
  'ModalitiesInStudy',
  'SOPClassesInStudy',
  'NumberOfStudyRelatedSeries',
  'NumberOfStudyRelatedInstances',
  'NumberOfSeriesRelatedInstances',
]);

function matchOf(row: Record<Keyword, string | string[] | null>): Match {
  return Object.fromEntries(
    Object.entries(row).flatMap(([keyword, value]): [string, string | string[]][] => {
      if (!Array.isArray(value)) return value ? [[keyword, value]] : [];
      const present = value.filter((one) => one !== null && one !== '');
      return present.length > 0 ? [[keyword, present]] : [];
    }),
  );
}

export interface HeldObject extends ReceivedObject {
  studyId: string;
  studyInstanceUid: string;
  seriesInstanceUid: string;
  sopInstanceUid: string;
  sopClassUid: string;
  transferSyntax: string;
}

/** What to retrieve: studies, series or objects by their UIDs. At least one list is given. */
interface Retrieval {
  study?: readonly string[];
  series?: readonly string[];
  objects?: readonly string[];
}

/**
 * Returns the newest copy of each object of a retrieval, in order of arrival.
 * @param limit maximum number of objects; a larger retrieval must be split by series.
 */
export async function heldObjects(
  database: Queryable,
  { study, series, objects }: Retrieval,
  limit: number,
): Promise<HeldObject[]> {
  const { rows } = await database.query<HeldObject>(
    `SELECT s.id AS "studyId", s.study_instance_uid AS "studyInstanceUid",
       i.header ->> 'seriesInstanceUid' AS "seriesInstanceUid",
       i.sop_instance_uid AS "sopInstanceUid", i.header ->> 'sopClassUid' AS "sopClassUid",
       i.transfer_syntax AS "transferSyntax", i.path, i.file_sha256 AS "fileSha256"
     FROM instances i JOIN studies s ON s.id = i.study_id
     WHERE ($1::text[] IS NULL OR s.study_instance_uid = ANY ($1))
       AND ($2::text[] IS NULL OR i.header ->> 'seriesInstanceUid' = ANY ($2))
       AND ($3::text[] IS NULL OR i.sop_instance_uid = ANY ($3))
       AND num_nonnulls($1::text[], $2::text[], $3::text[]) > 0 AND ${NEWEST}
     ORDER BY s.first_received_at, s.id, i.ordinal LIMIT $4`,
    [study ?? null, series ?? null, objects ?? null, limit],
  );
  return rows;
}
