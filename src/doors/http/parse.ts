import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { described } from '../../../pipelines/result/envelope.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import {
  InvalidInputError,
  jsonPointer,
  type PointedError,
  pointedErrors,
} from '../../platform/errors/problem.ts';
import { idForm } from '../../platform/ids.ts';
import type { HttpState } from './context.ts';

/** Maximum nesting depth of a body. Valid bodies nest less than half as deep. */
const DEEPEST = 64;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;

/**
 * Finds a fault that `JSON.parse` accepts. One is a duplicate name in an object, for which
 * `JSON.parse` silently keeps the last value (RFC 8259 4, RFC 7493 2.3). The other is nesting too
 * deep for recursion.
 * @returns null for a text without such a fault
 */
export function findJsonShapeFault(text: string): string | null {
  /** The names found so far in each enclosing object; null for an array. */
  const open: (Set<string> | null)[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : null);
      if (open.length > DEEPEST) return `The body is nested deeper than ${DEEPEST} levels.`;
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token === ':') {
      const names = open.at(-1);
      const name: string = JSON.parse(last);
      if (names?.has(name)) return `The body has the name ${last} twice in one object.`;
      names?.add(name);
    }
    last = token;
  }
  return null;
}

/** True if PostgreSQL can store the text: it contains neither U+0000 nor an unpaired surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Answers 404 to a path that cannot be stored as text, because nothing can match it. */
export function storablePath(): Middleware<HttpState> {
  return (context, next) => {
    if (/%00/.test(context.path)) {
      throw new SonogateError('not_found', 'There is nothing at this path.');
    }
    return next();
  };
}

/**
 * Reads a JSON body of at most `limit` bytes into `state.body`, which stays undefined if there is
 * no body.
 * @param types accepted media types; the first is recommended to a client that sends another.
 */
export function jsonBody(
  limit: number,
  types: readonly string[] = ['application/json'],
): Middleware<HttpState> {
  return async (context, next) => {
    const hasBody = Number(context.get('Content-Length')) > 0 || context.get('Transfer-Encoding');
    if (hasBody) {
      if (!context.is([...types]) || context.get('Content-Encoding')) {
        throw new SonogateError(
          'unsupported_media_type',
          `Send the body as \`Content-Type: ${types[0]}\`, without a content coding.`,
        );
      }
      context.state.body = parse(await read(context.req, limit));
    }
    await next();
  };
}

async function read(call: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Destroying the incoming message would close the connection before the response is sent.
  for await (const chunk of call.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > limit) {
      throw new SonogateError('payload_too_large', `A body may have up to ${limit} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns an error for each text that PostgreSQL cannot store, so that such text never reaches the
 * database.
 */
function unstorable(value: unknown, path: readonly string[] = []): PointedError[] {
  const detail = 'text that contains U+0000 or half of a surrogate pair';
  if (typeof value === 'string') {
    return isStorable(value) ? [] : [{ pointer: jsonPointer(path), detail }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = [...path, name.toWellFormed()];
    return isStorable(name)
      ? unstorable(inner, place)
      : [{ pointer: jsonPointer(place), detail: `a name that is ${detail}` }];
  });
}

function parse(bytes: Buffer): unknown {
  const { text, value } = decode(bytes);
  const unsound = findJsonShapeFault(text);
  if (unsound !== null) throw new SonogateError('invalid_json', unsound);
  const errors = unstorable(value);
  if (errors.length > 0) throw new InvalidInputError(errors);
  return value;
}

function decode(bytes: Buffer): { text: string; value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    throw new SonogateError('invalid_json', 'The body is not a JSON text in UTF-8.');
  }
}

/**
 * Returns the validated body.
 * @throws SonogateError `invalid_json` if there is no body.
 * @throws InvalidInputError with each fault.
 */
export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  if (body === undefined) throw new SonogateError('invalid_json', 'The call has no body.');
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error));
  return parsed.data;
}

/**
 * Returns the validated query of a call. Parameters that are not in the schema are refused.
 * @throws InvalidInputError with each invalid parameter.
 */
export function readQuery<T extends z.ZodType>(context: Context, schema: T): z.infer<T> {
  const broken = Object.entries(context.query).filter(
    ([name, value]) => ![name, value].flat().every((text) => isStorable(text ?? '')),
  );
  if (broken.length > 0) {
    throw new InvalidInputError(
      broken.map(([name]) => ({ pointer: jsonPointer([name]), detail: 'not valid Unicode text' })),
    );
  }
  const parsed = schema.safeParse({ ...context.query });
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error));
  return parsed.data;
}

/**
 * First accepted year. RFC 3339 permits the years 0 to 9999, and an offset can move a time out of
 * that range. The database and its drivers also disagree about years with fewer than four digits,
 * and about offsets from before time zones existed.
 */
const FIRST_YEAR = 1900;
const LAST_YEAR = 9999;

/** True if the database returns the time unchanged. */
export function isStorableTime(at: Date): boolean {
  return at.getUTCFullYear() >= FIRST_YEAR && at.getUTCFullYear() <= LAST_YEAR;
}

/** An RFC 3339 time that the database returns unchanged. */
export const instant = z.iso
  .datetime({ offset: true })
  // The pattern serves only the OpenAPI description. The check below also catches an offset that
  // moves the time into another year.
  .meta({ pattern: '^(?:19|[2-9]\\d)\\d\\d-', examples: ['2026-11-22T00:00:00Z'] })
  .transform((text) => new Date(text))
  .refine(isStorableTime, { message: `a time in the years ${FIRST_YEAR} to ${LAST_YEAR}` });

/** The query parameters of a list of `/v1`, whose pages begin after an id of this form. */
export const pageQuery = (form: Parameters<typeof idForm>[0], example: string) => ({
  limit: described(
    z.coerce.number().int().min(1).max(100).default(20),
    'Maximum number of entries per page',
    20,
  ),
  cursor: described(
    z.string().regex(idForm(form), 'the `next_cursor` of an earlier page').optional(),
    '`next_cursor` of the previous page',
    example,
  ),
});
