import type { Context } from 'koa';
import type { z } from 'zod';
import type { Scope } from '../../../core/accounts/keys.ts';
import type { AuditAction, AuditEntry } from '../../../core/audit/audit.ts';
import type { ErrorCode } from '../../../platform/errors/catalogue.ts';
import type * as objects from './objects.ts';

type ObjectName = keyof typeof objects;

/**
 * A call of the HTTP API. `servingOn` (route.ts) serves it as stated here, and the OpenAPI document
 * describes it.
 */
export interface Operation {
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Path with `{name}` for each variable segment. */
  path: string;
  /** Further paths at which the call is served, but not described. */
  alsoAt?: readonly string[];
  group:
    | 'Requests'
    | 'Uploads'
    | 'Models'
    | 'Account'
    | 'Webhooks'
    | 'DICOMweb'
    | 'Compatible queue';
  summary: string;
  /** Information for the caller beyond the summary; Markdown. */
  description?: string;
  /** Examples for the variable segments of the path. */
  pathExamples?: Readonly<Record<string, string>>;
  /** Whether the call accepts an `Idempotency-Key`. */
  once?: boolean;
  /** Removes secrets, which are shown only once, from a response kept for a repeated call. */
  keptAnswer?: (answer: unknown) => unknown;
  /** Scope of the key; null when the URL is signed or public. */
  scope: Scope | null;
  /** Action under which the audit records each call; a call without one is not recorded. */
  audit?: AuditAction;
  /** Returns further details for the audit entry: only our own ids, no text from the caller. */
  auditDetail?: (context: Context) => AuditEntry['detail'];
  query?: z.ZodObject;
  /** Query parameters that are described but not validated. */
  uncheckedQuery?: z.ZodObject;
  headers?: readonly HeaderParameter[];
  /** Whether the call must state the revision on which it is based (RFC 9110 13.1.1). */
  ifMatch?: boolean;
  body?: z.ZodType;
  bodyOptional?: boolean;
  /** Media type of a body that is not JSON. */
  bodyType?: string;
  bodyExample?: string;
  status: number;
  /** Further statuses with the same kind of response. */
  otherStatuses?: Readonly<Record<number, { description: string; example: unknown }>>;
  answer: ObjectName | 'empty' | 'bytes' | 'json';
  /** Example of a response without a schema. */
  example?: unknown;
  /** Media type of a response that is not JSON. */
  mediaType?: string;
  errors?: readonly ErrorCode[];
}

export interface HeaderParameter {
  name: string;
  required: boolean;
  description: string;
  schema: Readonly<Record<string, unknown>>;
}

/** An operation as listed in its group, where its id is the key. The default status is 200. */
type Listed = Omit<Operation, 'id' | 'group' | 'status'> & Partial<Pick<Operation, 'status'>>;

/** Returns the operations of a group by their ids. */
export function operationsOf<const T extends Readonly<Record<string, Listed>>>(
  group: Operation['group'],
  listed: T,
): { readonly [Id in keyof T]: T[Id] & Operation } {
  return Object.fromEntries(
    Object.entries(listed).map(([id, operation]) => [id, { status: 200, ...operation, id, group }]),
  ) as { [Id in keyof T]: T[Id] & Operation };
}

/** Errors that any call with a JSON body, or with an Idempotency-Key, can return. */
export const INPUT_ERRORS = [
  'invalid_input',
  'invalid_json',
  'unsupported_media_type',
  'payload_too_large',
] as const;
export const ONCE_ERRORS = [
  'idempotency_key_reused',
  'idempotency_in_progress',
  'invalid_idempotency_key',
] as const;
export const BODY_ERRORS = [...INPUT_ERRORS, ...ONCE_ERRORS] as const;

/** Errors that a submission can return, through the API or the compatible queue. */
export const SUBMIT_ERRORS: readonly ErrorCode[] = [
  ...BODY_ERRORS,
  'identifiers_in_context',
  'file_not_ready',
  'unknown_endpoint',
  'overloaded',
];
