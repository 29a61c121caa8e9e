import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { firstId } from '../../platform/ids.ts';
import { conditionOn, isUniversal, type MatchedAttribute } from '../query/matching.ts';
import {
  CODING_SCHEME,
  DELIVERING,
  requestIdOfUid,
  STATE_SQL,
  WORKITEM_CODE_SQL,
  type WorkitemRow,
  workitemUid,
} from './workitem.ts';

/** The workitems that a caller may see: those of one account. */
export interface Finder {
  accountId: string;
  /** True for workitems made with test keys, false for those made with live keys, null for both. */
  test: boolean | null;
  /** The endpoints that clients may call. Only their requests are shown. */
  endpoints: readonly string[];
}

const COLUMNS = `r.id, r.account_id, r.model, r.endpoint, r.version, r.status, r.stage, r.priority,
  r.test, r.input, r.source, r.fault, r.created_at, r.started_at, r.ended_at, r.workitem_uid, r.withdrawal,
  w.attributes, w.cancellation, w.changed_at, s.study_instance_uid, s.identity,
  ${STATE_SQL} AS state`;

/**
 * SQL for all workitems that a finder may see. The finder's values are the first three parameters.
 */
const VISIBLE = `FROM requests r
  LEFT JOIN workitems w ON w.request_id = r.id
  LEFT JOIN studies s ON s.id = (r.source ->> 'study')::uuid
  WHERE r.account_id = $1 AND r.test = coalesce($2::boolean, r.test)
    AND r.endpoint = ANY ($3::text[])`;

const visibleTo = ({ accountId, test, endpoints }: Finder): unknown[] => [
  accountId,
  test,
  endpoints,
];

/** Returns the workitem with this UID; null if the finder may not see it. */
export async function findWorkitem(
  database: Queryable,
  finder: Finder,
  uid: string,
): Promise<WorkitemRow | null> {
  const [row = null] = await findWorkitems(database, finder, [uid]);
  return row;
}

/** Returns those workitems with these UIDs that the finder may see. */
export async function findWorkitems(
  database: Queryable,
  finder: Finder,
  uids: readonly string[],
): Promise<WorkitemRow[]> {
  const { rows } = await database.query<WorkitemRow>(
    `SELECT ${COLUMNS} ${VISIBLE} AND ${ofUids('$4', '$5')}`,
    [...visibleTo(finder), uids, requestIdsOf(uids)],
  );
  return rows;
}

/**
 * SQL condition: the request has one of these UIDs or, if its UID is derived from its id, one of
 * these ids.
 */
const ofUids = (uids: string, ids: string) =>
  `(r.workitem_uid = ANY (${uids}::text[])
    OR r.id = ANY (${ids}::text[]) AND r.workitem_uid IS NULL)`;

const requestIdsOf = (uids: readonly string[]): string[] =>
  uids.flatMap((uid) => requestIdOfUid(uid) ?? []);

/**
 * Returns true if a UID is taken, in any account. A request that was interrupted before its
 * workitem was stored does not count.
 */
export async function isTaken(database: Queryable, uid: string): Promise<boolean> {
  const { rows } = await database.query(
    `SELECT 1 FROM requests r WHERE ${ofUids('$1', '$2')}
       AND (r.workitem_uid IS NULL
         OR EXISTS (SELECT 1 FROM workitems w WHERE w.request_id = r.id))`,
    [[uid], requestIdsOf([uid])],
  );
  return rows.length > 0;
}

/**
 * Of the given UIDs, returns those whose workitem had not ended at a given time, in any account.
 */
export async function unendedSince(
  database: Queryable,
  uids: readonly string[],
  time: Date,
): Promise<Set<string>> {
  const { rows } = await database.query<{ id: string; workitem_uid: string | null }>(
    `SELECT r.id, r.workitem_uid FROM requests r WHERE ${ofUids('$1', '$2')}
       AND (r.ended_at IS NULL OR r.ended_at > $3)`,
    [uids, requestIdsOf(uids), time],
  );
  return new Set(rows.map(workitemUid));
}

/** SQL for an attribute value stated by the creator, as text. */
const stated = (...path: string[]) => `w.attributes #>> '{${path.join(',Value,0,')},Value,0}'`;
/** SQL for the value stated by the creator, otherwise that of the study. */
const statedOr = (otherwise: string, given: string) =>
  `coalesce(nullif(${given}, ''), ${otherwise})`;
/**
 * SQL for a patient value: that of the study or, without a study, the one stated by the creator.
 */
const patient = (name: string, given: string) =>
  `CASE WHEN s.id IS NULL THEN ${given} ELSE s.identity ->> '${name}' END`;
/** SQL for the values of an attribute in all items of a sequence. */
const inItems = (sequence: string, tag: string) =>
  `ARRAY(SELECT item #>> '{${tag},Value,0}' FROM jsonb_array_elements(CASE
     WHEN jsonb_typeof(w.attributes #> '{${sequence},Value}') = 'array'
     THEN w.attributes #> '{${sequence},Value}' ELSE '[]' END) AS items (item))`;

/** Worklist label of a workitem if its creator stated none. */
export const WORKLIST_LABEL = 'SONOGATE';

type SearchKey = MatchedAttribute & { tag: string };

/**
 * The matching keys of a search (PS3.4 table CC.2.5-3), by keyword; `.` separates a sequence from
 * an attribute in its items.
 */
const KEYS: Readonly<Record<string, SearchKey>> = {
  ProcedureStepState: { tag: '00741000', vr: 'CS', sql: STATE_SQL },
  ScheduledProcedureStepPriority: {
    tag: '00741200',
    vr: 'CS',
    sql: `CASE r.priority WHEN 'high' THEN 'HIGH' WHEN 'low' THEN 'LOW' ELSE 'MEDIUM' END`,
  },
  ProcedureStepLabel: {
    tag: '00741204',
    vr: 'LO',
    sql: statedOr('r.endpoint', stated('00741204')),
  },
  WorklistLabel: {
    tag: '00741202',
    vr: 'LO',
    sql: statedOr(`'${WORKLIST_LABEL}'`, stated('00741202')),
  },
  InputReadinessState: { tag: '00404041', vr: 'CS', sql: `'READY'` },
  'ScheduledWorkitemCodeSequence.CodeValue': {
    tag: '00404018.00080100',
    vr: 'SH',
    sql: WORKITEM_CODE_SQL,
  },
  'ScheduledWorkitemCodeSequence.CodingSchemeDesignator': {
    tag: '00404018.00080102',
    vr: 'SH',
    sql: `'${CODING_SCHEME}'`,
  },
  'ScheduledStationNameCodeSequence.CodeValue': {
    tag: '00404025.00080100',
    vr: 'SH',
    sql: inItems('00404025', '00080100'),
    several: true,
  },
  'ScheduledStationClassCodeSequence.CodeValue': {
    tag: '00404026.00080100',
    vr: 'SH',
    sql: inItems('00404026', '00080100'),
    several: true,
  },
  'ReferencedRequestSequence.AccessionNumber': {
    tag: '0040A370.00080050',
    vr: 'SH',
    sql: inItems('0040A370', '00080050'),
    several: true,
  },
  'ReferencedRequestSequence.RequestedProcedureID': {
    tag: '0040A370.00401001',
    vr: 'SH',
    sql: inItems('0040A370', '00401001'),
    several: true,
  },
  PatientName: {
    tag: '00100010',
    vr: 'PN',
    sql: patient('PatientName', `w.attributes #>> '{00100010,Value,0,Alphabetic}'`),
  },
  PatientID: {
    tag: '00100020',
    vr: 'LO',
    sql: patient('PatientID', stated('00100020')),
  },
  IssuerOfPatientID: {
    tag: '00100021',
    vr: 'LO',
    sql: patient('IssuerOfPatientID', stated('00100021')),
  },
  PatientBirthDate: {
    tag: '00100030',
    vr: 'DA',
    sql: patient('PatientBirthDate', stated('00100030')),
  },
  PatientSex: {
    tag: '00100040',
    vr: 'CS',
    sql: patient('PatientSex', stated('00100040')),
  },
  AdmissionID: { tag: '00380010', vr: 'LO', sql: stated('00380010') },
  StudyInstanceUID: {
    tag: '0020000D',
    vr: 'UI',
    sql: statedOr('s.study_instance_uid', stated('0020000D')),
  },
};

const UID_KEY = { name: 'SOPInstanceUID', tag: '00080018' } as const;
const START_KEY = { name: 'ScheduledProcedureStepStartDateTime', tag: '00404005' } as const;

const BY_TAG = new Map([
  ...Object.entries(KEYS).map(([name, { tag }]) => [tag, name] as const),
  [UID_KEY.tag, UID_KEY.name] as const,
  [START_KEY.tag, START_KEY.name] as const,
]);

/**
 * Returns the keyword of the matching key that a keyword or tag identifies; null for any other
 * name.
 */
export function searchKeyOf(name: string): string | null {
  if (Object.hasOwn(KEYS, name) || name === UID_KEY.name || name === START_KEY.name) return name;
  return BY_TAG.get(name.toUpperCase()) ?? null;
}

interface WorkitemQuery {
  /** Values of the matching keys by keyword (`searchKeyOf`), written as in a C-FIND identifier. */
  keys: Readonly<Partial<Record<string, string>>>;
  limit: number;
  offset: number;
}

/**
 * Returns the workitems that match, newest first, and whether more follow.
 * @throws SonogateError `invalid_query`
 */
export async function searchWorkitems(
  database: Queryable,
  finder: Finder,
  { keys, limit, offset }: WorkitemQuery,
): Promise<{ rows: WorkitemRow[]; more: boolean }> {
  const values = visibleTo(finder);
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const where = Object.entries(keys).flatMap(([keyword, value = '']) => {
    if (isUniversal(value)) return [];
    if (keyword === UID_KEY.name) {
      const uids = value.split('\\');
      return [ofUids(parameter(uids), parameter(requestIdsOf(uids)))];
    }
    if (keyword === START_KEY.name) return startCondition(value, parameter);
    const key = KEYS[keyword];
    if (!key) throw new SonogateError('invalid_query', `${keyword} is not a matching key.`);
    return conditionOn(keyword, key, value, parameter) ?? [];
  });
  const { rows } = await database.query<WorkitemRow>(
    `SELECT ${COLUMNS} ${[VISIBLE, ...where].join(' AND ')}
     ORDER BY r.id DESC LIMIT ${parameter(limit + 1)} OFFSET ${parameter(offset)}`,
    values,
  );
  return { rows: rows.slice(0, limit), more: rows.length > limit };
}

/**
 * A DT. A hyphen followed by four digits of at most 14 hours begins its offset from UTC; any other
 * hyphen separates the two ends of a range.
 */
const DT = '\\d[\\d.]*(?:[+-](?:0\\d|1[0-4])\\d\\d)?';
/** A DT, or a range between two DTs. The first or the last may be missing (PS3.4 C.2.2.2.5.3). */
const DT_RANGE = new RegExp(`^(${DT})?(?:(-)(${DT})?)?$`);

function startCondition(value: string, parameter: (value: unknown) => string): string[] {
  const parts = DT_RANGE.exec(value.trim());
  const [, from = '', hyphen, end = ''] = parts ?? [];
  const to = hyphen ? end : from;
  if (!parts || (from === '' && to === '')) {
    throw new SonogateError('invalid_query', `${START_KEY.name} is not a value or a range.`);
  }
  const start = 'coalesce(w.start_at, r.created_at)';
  return [
    ...(from === '' ? [] : [`${start} >= ${parameter(instantOf(from).first)}`]),
    ...(to === '' ? [] : [`${start} < ${parameter(instantOf(to).after)}`]),
  ];
}

function instantOf(text: string): { first: Date; after: Date } {
  const range = dateTimeRange(text);
  if (range) return range;
  throw new SonogateError('invalid_query', `${START_KEY.name} has a malformed value.`);
}

const DATE_TIME =
  /^(\d{4})(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:\.(\d{1,6}))?)?)?)?)?)?(?:([+-])(\d\d)(\d\d))?$/;

/**
 * Returns the period covered by a DT value (PS3.5 6.2). A value that lacks its last components
 * covers a whole year, month, day, hour, minute or second. A value without an offset is in UTC.
 * @returns null for text that is not a DT.
 */
export function dateTimeRange(text: string): { first: Date; after: Date } | null {
  const match = DATE_TIME.exec(text.trim());
  // Limits the years to those that both Date and the database can represent.
  if (!match || Number(match[1]) < 1900 || Number(match[1]) > 9998) return null;
  const [year = 0, month, day, hour, minute, second, fraction] = match
    .slice(1, 8)
    .map((part) => (part === undefined ? undefined : Number(part)));
  const offset = match[8]
    ? Number(`${match[8]}1`) * (Number(match[9]) * 60 + Number(match[10]))
    : 0;
  const at = (parts: number[]) => {
    const [y = 0, mo = 1, d = 1, h = 0, mi = 0, s = 0] = parts;
    return new Date(Date.UTC(y, mo - 1, d, h, mi - offset, s));
  };
  const given = [year, month, day, hour, minute, second].filter((part) => part !== undefined);
  const first = at(given);
  // Date would accept 30 February and hour 25, converting them to other times.
  const local = new Date(first.getTime() + offset * 60_000).toISOString().replace(/\D/g, '');
  if (!local.startsWith(match.slice(1, 7).join(''))) return null;
  if (fraction !== undefined) return { first, after: new Date(first.getTime() + 1000) };
  const last = given.length - 1;
  return { first, after: at(given.map((part, n) => (n === last ? part + 1 : part))) };
}

/** Returns the steps that have not ended, and those created after a given time. */
export async function openSteps(
  database: Queryable,
  finder: Finder,
  since: Date,
): Promise<WorkitemRow[]> {
  const { rows } = await database.query<WorkitemRow>(
    `SELECT ${COLUMNS} ${VISIBLE} AND (r.status IN ('queued', 'preparing', 'running')
       OR (r.ended_at > now() - interval '1 day' AND ${DELIVERING}) OR r.id >= $4)
     ORDER BY r.id`,
    [...visibleTo(finder), firstId('req', since)],
  );
  return rows;
}

/** Returns the steps with these ids, and those created after a given time, oldest first. */
export async function stepsChanged(
  database: Queryable,
  finder: Finder,
  { ids, since }: { ids: readonly string[]; since: Date },
): Promise<WorkitemRow[]> {
  const { rows } = await database.query<WorkitemRow>(
    `SELECT ${COLUMNS} ${VISIBLE} AND (r.id = ANY ($4::text[]) OR r.id >= $5) ORDER BY r.id`,
    [...visibleTo(finder), ids, firstId('req', since)],
  );
  return rows;
}
