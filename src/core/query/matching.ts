import { SonogateError } from '../../platform/errors/catalogue.ts';
import { attributeOf, type Keyword, type QueriedAttribute } from './attributes.ts';

/** Maximum length of one value. No attribute that can be matched is longer. */
const LONGEST_VALUE = 1024;
const MOST_VALUES = 1000;

const FORM: Readonly<Record<string, RegExp>> = {
  DA: /^\d{8}$/,
  TM: /^\d{2}(\d{2}(\d{2}(\.\d{1,6})?)?)?$/,
  UI: /^[\d.]{1,64}$/,
};

/** Adds a value to a statement and returns its placeholder. */
type AddParameter = (value: unknown) => string;

/** Returns true if a value matches everything (PS3.4 C.2.2.2.3). */
export const isUniversal = (value: string): boolean => /^\**$/.test(value);

/** Like `conditionOn`, for an attribute of the Study Root model, or `sql` instead of its value. */
export function condition(
  keyword: Keyword,
  value: string,
  parameter: AddParameter,
  sql = attributeOf(keyword).sql,
): string | null {
  return conditionOn(keyword, { ...attributeOf(keyword), sql }, value, parameter);
}

export type MatchedAttribute = Pick<QueriedAttribute, 'vr' | 'sql' | 'several' | 'matched'>;

/**
 * Returns the SQL condition for one matching key (PS3.4 C.2.2.2): single value, list of UIDs,
 * wildcard or range. Null for universal matching.
 * @param keyword identifies the attribute in error messages.
 * @param value as in an identifier, with values separated by a backslash.
 * @throws SonogateError `invalid_query`
 */
export function conditionOn(
  keyword: string,
  { vr, sql, several = false, matched = true }: MatchedAttribute,
  value: string,
  parameter: AddParameter,
): string | null {
  if (isUniversal(value)) return null;
  if (!matched) throw new SonogateError('invalid_query', `${keyword} is not a matching key.`);
  const text = `coalesce(${sql}, '')`;
  if (vr === 'DA' || vr === 'TM') return range([keyword, vr], text, value, parameter);
  const values = value.split('\\').map((one) => one.trim());
  if (values.length > MOST_VALUES || values.some((one) => one.length > LONGEST_VALUE)) {
    throw new SonogateError('invalid_query', `${keyword} has too many or too long values.`);
  }
  if (vr === 'UI') {
    for (const one of values) requireForm(keyword, vr, one);
    return several
      ? `${sql} && ${parameter(values)}::text[]`
      : `${text} = ANY (${parameter(values)}::text[])`;
  }
  if (several) {
    const patterns = values.map(likePattern);
    return `EXISTS (SELECT 1 FROM unnest(${sql}) v WHERE v LIKE ANY (${parameter(patterns)}::text[]))`;
  }
  if (values.length > 1) throw new SonogateError('invalid_query', `${keyword} has several values.`);
  // Names are compared without regard to case, as PS3.4 C.2.2.2.1 permits. Trailing empty
  // components are ignored. A key with only the alphabetic group also matches a name that has
  // further groups.
  if (vr === 'PN') {
    const pattern = parameter(likePattern(value.replace(/\^+$/, '').toLowerCase()));
    const name = `lower(${text})`;
    return `(rtrim(${name}, '^') LIKE ${pattern} OR rtrim(split_part(${name}, '=', 1), '^') LIKE ${pattern})`;
  }
  return /[*?]/.test(value)
    ? `${text} LIKE ${parameter(likePattern(value))}`
    : `${text} = ${parameter(value.trim())}`;
}

/** Translates DICOM wildcards to SQL. Several asterisks in a row are equivalent to one. */
function likePattern(value: string): string {
  return value
    .replace(/[\\%_]/g, '\\$&')
    .replace(/\*+/g, '%')
    .replaceAll('?', '_');
}

/**
 * Returns the condition for range matching (PS3.4 C.2.2.2.5). An end without minutes or seconds
 * includes the whole hour or minute, so a value is compared with the end only to the precision of
 * the end.
 */
function range(
  [keyword, vr]: readonly [keyword: string, vr: string],
  text: string,
  value: string,
  parameter: AddParameter,
): string {
  const [from = '', to = from, more] = value.includes('-')
    ? value.split('-').map((one) => one.trim())
    : [value.trim()];
  if (more !== undefined || (from === '' && to === '')) {
    throw new SonogateError('invalid_query', `${keyword} is not a value or a range.`);
  }
  const parts: string[] = [`${text} <> ''`];
  if (from !== '') {
    requireForm(keyword, vr, from);
    parts.push(`${text} >= ${parameter(from)}`);
  }
  if (to !== '') {
    requireForm(keyword, vr, to);
    parts.push(`left(${text}, ${to.length}) <= ${parameter(to)}`);
  }
  return parts.join(' AND ');
}

function requireForm(keyword: string, vr: string, value: string): void {
  if (FORM[vr]?.test(value) === false) {
    throw new SonogateError('invalid_query', `${keyword} has a malformed value.`);
  }
}
