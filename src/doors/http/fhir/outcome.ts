import type { Bundle, OperationOutcome, Resource } from '@medplum/fhirtypes';
import type { Context } from 'koa';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import type { Problem } from '../../../platform/errors/problem.ts';

export const FHIR = '/fhir';
export const FHIR_JSON = 'application/fhir+json; fhirVersion=4.0';

type IssueCode = NonNullable<OperationOutcome['issue']>[number]['code'];

/** HTTP status → code of the value set issue-type (R4). */
const ISSUE: Readonly<Record<number, IssueCode>> = {
  401: 'login',
  403: 'forbidden',
  404: 'not-found',
  405: 'not-supported',
  410: 'not-found',
  422: 'invalid',
  429: 'throttled',
  503: 'transient',
};

/**
 * Converts a problem to an OperationOutcome. Each invalid element has its own issue, located by its
 * path.
 */
export function operationOutcome({
  status,
  code,
  title,
  detail,
  errors = [],
}: Problem): OperationOutcome {
  const issue = {
    severity: 'error' as const,
    code: ISSUE[status] ?? (status < 500 ? 'invalid' : 'exception'),
    details: { text: title },
  };
  return {
    resourceType: 'OperationOutcome',
    issue:
      errors.length > 0
        ? errors.slice(0, MOST_ISSUES).map((error) => ({
            ...issue,
            diagnostics: `${code}: ${error.detail}`,
            expression: [fhirPath(error.pointer)],
          }))
        : [{ ...issue, diagnostics: detail ? `${code}: ${detail}` : code }],
  };
}

const MOST_ISSUES = 20;

/** Converts a JSON Pointer to FHIRPath: `/channel/header/0` becomes `channel.header[0]`. */
const fhirPath = (pointer: string): string =>
  pointer
    .slice(1)
    .split('/')
    // The extensions of a primitive element are in a separate member whose name begins with `_` (R4
    // 2.6.2.3).
    .map((part) => part.replace(/^_/, ''))
    .join('.')
    .replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]') || '$this';

export function answer(context: Context, resource: object): void {
  context.body = JSON.stringify(resource);
  context.type = FHIR_JSON;
}

/**
 * Refuses a search.
 * @throws SonogateError `invalid_query`
 */
export function refuseQuery(detail: string): never {
  throw new SonogateError('invalid_query', detail);
}

/**
 * Returns the resources that a search found.
 * @param address the server's address, without a trailing slash.
 * @param cursor value of `_cursor` for the next page; null if this page is the last.
 */
export function searchset(
  context: Context,
  address: string,
  found: readonly Resource[],
  cursor: string | null,
): Bundle {
  const next = new URL(context.originalUrl, `${address}/`);
  if (cursor) next.searchParams.set('_cursor', cursor);
  return {
    resourceType: 'Bundle',
    type: 'searchset',
    link: [
      { relation: 'self', url: `${address}${context.originalUrl}` },
      ...(cursor ? [{ relation: 'next', url: `${address}${next.pathname}${next.search}` }] : []),
    ],
    ...(found.length > 0 && {
      entry: found.map((resource) => ({
        ...(resource.id !== undefined && {
          fullUrl: `${address}${FHIR}/${resource.resourceType}/${resource.id}`,
        }),
        resource,
        search: { mode: 'match' as const },
      })),
    }),
  };
}
