import type { z } from 'zod';
import type { Scope } from '../../../core/accounts/keys.ts';
import type { ErrorCode } from '../../../platform/errors/catalogue.ts';
import type * as objects from './objects.ts';

type ObjectName = keyof typeof objects;

export interface Operation {
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Path with `{name}` for each variable segment. */
  path: string;
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
  /** Scope of the key; null when the URL is signed or public. */
  scope: Scope | null;
  query?: z.ZodObject;
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
