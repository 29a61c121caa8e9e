import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { type JsonDataSet, jsonAttribute } from '../../../../pipelines/dicom/dicom-json.ts';
import { isUid } from '../../../../pipelines/dicom/uid.ts';
import { DEFAULT_ACCOUNT_ID } from '../../../core/accounts/keys.ts';
import {
  ATTRIBUTES,
  isAnsweredAt,
  type Keyword,
  keywordOf,
  type Level,
} from '../../../core/query/attributes.ts';
import { find, type Match } from '../../../core/query/find.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { audited } from '../audited.ts';
import { requireScope } from '../authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from '../context.ts';
import { isStorable } from '../parse.ts';
import { acceptedRanges, requireAccepted } from './accept.ts';

export const DICOM_JSON = 'application/dicom+json';

/** Maximum number of matches in one response. Clients request further matches with `offset`. */
const MOST_MATCHES = { STUDY: 500, SERIES: 2000, IMAGE: 5000 } as const satisfies Record<
  Level,
  number
>;
const LARGEST_OFFSET = 1_000_000;

/** Search transactions (QIDO-RS, PS3.18 10.6): each path and its query level. */
const SEARCHES: readonly [path: string, level: Level][] = [
  ['/dicomweb/studies', 'STUDY'],
  ['/dicomweb/series', 'SERIES'],
  ['/dicomweb/studies/:study/series', 'SERIES'],
  ['/dicomweb/instances', 'IMAGE'],
  ['/dicomweb/studies/:study/instances', 'IMAGE'],
  ['/dicomweb/studies/:study/series/:series/instances', 'IMAGE'],
];

/** Adds the search transactions for the studies and results of this gateway. */
export function addSearchRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { database, config } = deps;
  const scope = requireScope(deps, 'retrieve');
  for (const [path, level] of SEARCHES) {
    router.get(path, scope, audited(deps, 'dicom.query'), async (context) => {
      refuseTestKey(context.state);
      const type = requireAccepted(acceptedRanges(context), [DICOM_JSON, 'application/json']);
      const { keys, limit, offset } = searchOf(context, level);
      const own = context.state.principal.accountId === DEFAULT_ACCOUNT_ID;
      const { matches, more } = own
        ? await find(database, { level, keys, limit, offset })
        : { matches: [], more: false };
      const address = `${baseUrl(context, config)}/dicomweb`;
      if (more) warn(context, MORE_RESULTS);
      if (matches.length === 0) {
        context.status = 204;
        return;
      }
      context.body = JSON.stringify(matches.map((match) => matchJson(match, level, address)));
      context.type = type;
    });
  }
}

/**
 * Refuses test keys, because studies belong to live keys.
 * @throws SonogateError `forbidden`
 */
export function refuseTestKey({ principal }: HttpState): void {
  if (principal.test) throw new SonogateError('forbidden', 'A test key cannot retrieve objects.');
}

/** The warning in an incomplete response (PS3.18 8.3.4.4). */
export const MORE_RESULTS = 'There are additional results that can be requested.';

/** Adds a Warning header (RFC 7234 5.5), as used in PS3.18 8.3.4.4.1 and 10.6.3.1. */
export function warn(context: Context, text: string): void {
  context.append('Warning', `299 sonogate "${text}"`);
}

/**
 * Returns the UIDs in a path.
 * @throws SonogateError `not_found` if one of them is not a UID.
 */
export function pathUids(params: Record<string, string | undefined>): {
  study?: string;
  series?: string;
  instance?: string;
} {
  const uids = Object.fromEntries(
    Object.entries(params).filter(([name]) => ['study', 'series', 'instance'].includes(name)),
  );
  for (const uid of Object.values(uids)) {
    if (uid === undefined || !isUid(uid)) {
      throw new SonogateError('not_found', 'The path contains something that is not a UID.');
    }
  }
  return uids;
}

interface Search<Key extends string> {
  keys: Partial<Record<Key, string>>;
  limit: number;
  offset: number;
}

function searchOf(context: Context, level: Level): Search<Keyword> {
  const search = readSearch<Keyword>(context, {
    keywordOf,
    isUid: (keyword) => ATTRIBUTES[keyword].vr === 'UI',
    most: MOST_MATCHES[level],
  });
  const { study, series } = pathUids(context.params);
  if (study !== undefined) search.keys.StudyInstanceUID = study;
  if (series !== undefined) search.keys.SeriesInstanceUID = series;
  return search;
}

interface SearchKeys<Key extends string> {
  keywordOf(name: string): Key | null;
  isUid(keyword: Key): boolean;
  most: number;
}

/**
 * Parses a search query (PS3.18 8.3.4). Matching is always literal, so a request for fuzzy matching
 * adds a warning. Every supported attribute is returned, so `includefield` has no effect. An
 * unknown matching key is refused: if it were ignored, the response would contain matches that do
 * not satisfy the key.
 * @throws SonogateError `invalid_query`
 */
export function readSearch<Key extends string>(
  context: Context,
  { keywordOf, isUid, most }: SearchKeys<Key>,
): Search<Key> {
  const { limit, offset, fuzzymatching, includefield, accept, ...rest } = context.query;
  const keys: Partial<Record<Key, string>> = {};
  for (const [name, given] of Object.entries(rest)) {
    const keyword = keywordOf(name);
    if (!keyword)
      throw new SonogateError('invalid_query', `"${shown(name)}" is not a supported key.`);
    if (Array.isArray(given) || keys[keyword] !== undefined) {
      throw new SonogateError('invalid_query', `${keyword} is given more than once.`);
    }
    if (!isStorable(given ?? '')) {
      throw new SonogateError('invalid_query', `${keyword} is not valid text.`);
    }
    // UIDs in a list are separated by commas in a URL (PS3.18 8.3.4.1), but by backslashes in
    // DICOM.
    keys[keyword] = isUid(keyword) ? (given ?? '').replaceAll(',', '\\') : (given ?? '');
  }
  if (fuzzymatching === 'true') {
    warn(
      context,
      'The fuzzymatching parameter is not supported. Only literal matching has been performed.',
    );
  }
  return {
    keys,
    limit: Math.min(count('limit', limit, most), most),
    offset: count('offset', offset, 0),
  };
}

const shown = (name: string) => name.replace(/[^\w.]/g, '?').slice(0, 64);

function count(name: string, given: string | string[] | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  const number = typeof given === 'string' && /^\d{1,7}$/.test(given) ? Number(given) : Number.NaN;
  if (number <= LARGEST_OFFSET) return number;
  throw new SonogateError('invalid_query', `${name} is not a number from 0 to ${LARGEST_OFFSET}.`);
}

/**
 * Attributes that a response contains even if their value is unknown; they are then empty (PS3.18
 * tables 10.6.3-3 to 10.6.3-5, F.2.5).
 */
const ALWAYS_RETURNED: readonly Keyword[] = [
  'StudyDate',
  'StudyTime',
  'AccessionNumber',
  'ReferringPhysicianName',
  'PatientName',
  'PatientID',
  'PatientBirthDate',
  'PatientSex',
  'StudyID',
  'Modality',
  'SeriesNumber',
  'InstanceNumber',
];

/**
 * Returns a match in the DICOM JSON model, with the attributes that a search adds (PS3.18 tables
 * 10.6.3-3 to 10.6.3-5).
 */
function matchJson(match: Match, level: Level, address: string): JsonDataSet {
  const json: JsonDataSet = { '00080056': { vr: 'CS', Value: ['ONLINE'] } };
  const required = ALWAYS_RETURNED.filter((keyword) => isAnsweredAt(keyword, level));
  const empty = Object.fromEntries(required.map((keyword) => [keyword, '']));
  for (const [keyword, value] of Object.entries({ ...empty, ...match })) {
    const { tag, vr } = ATTRIBUTES[keyword as Keyword];
    const values = typeof value === 'string' ? [value] : value;
    json[tag] = jsonAttribute(vr, values);
  }
  const { StudyInstanceUID, SeriesInstanceUID, SOPInstanceUID } = match;
  const path = [
    `studies/${StudyInstanceUID}`,
    level === 'STUDY' ? [] : `series/${SeriesInstanceUID}`,
    level === 'IMAGE' ? `instances/${SOPInstanceUID}` : [],
  ].flat();
  json['00081190'] = { vr: 'UR', Value: [`${address}/${path.join('/')}`] };
  return Object.fromEntries(Object.entries(json).sort(([one], [other]) => (one < other ? -1 : 1)));
}
