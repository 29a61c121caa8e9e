import type { z } from 'zod';
import { catalogueEntry, type ErrorCode, SonogateError } from './catalogue.ts';

/** One part of a body that violates its schema; `pointer` is a JSON Pointer (RFC 6901). */
export interface PointedError {
  pointer: string;
  detail: string;
}

/** RFC 9457 problem details, with the extension members of the HTTP API. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance?: string;
  code: ErrorCode;
  request_id?: string;
  errors?: PointedError[];
}

/**
 * Thrown for input that violates a rule. Lists every fault at once, so that a client can correct
 * them together.
 */
export class InvalidInputError extends SonogateError {
  override name = 'InvalidInputError';
  readonly errors: readonly PointedError[];

  constructor(
    errors: readonly PointedError[],
    code:
      | 'invalid_input'
      | 'identifiers_in_context'
      | 'file_not_ready'
      | 'invalid_workitem' = 'invalid_input',
  ) {
    super(code, errors.map(({ pointer, detail }) => `${pointer || '/'}: ${detail}`).join('; '));
    this.errors = errors;
  }
}

/** Returns the RFC 6901 pointer of a zod path; `~` and `/` are escaped. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

/**
 * Converts the issues of a failed parse to errors with pointers below `prefix`, such as `/input`.
 */
export function pointedErrors(error: z.ZodError, prefix = ''): PointedError[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          pointer: prefix + jsonPointer([...issue.path, key]),
          detail: 'unknown field',
        }))
      : [{ pointer: prefix + jsonPointer(issue.path), detail: issue.message }],
  );
}

/**
 * Returns the problem details for an error code. `baseUrl` is this server's address without a
 * trailing slash. The type is the URL of a page on this server, so that it can be opened.
 */
export function problem(
  code: ErrorCode,
  detail: string,
  baseUrl: string,
  members: Pick<Problem, 'instance' | 'request_id' | 'errors'> = {},
): Problem {
  const { title, http = 500 } = catalogueEntry(code);
  return { type: `${baseUrl}/errors/${code}`, title, status: http, detail, code, ...members };
}
