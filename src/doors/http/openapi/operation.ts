import type { z } from 'zod';
import type { Scope } from '../../../core/accounts/keys.ts';
import type { ErrorCode } from '../../../platform/errors/catalogue.ts';
import type * as objects from './objects.ts';

type ObjectName = keyof typeof objects;

/** One call of the HTTP API in the description. */
export interface Operation {
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Path with `{name}` for each variable part. */
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
  /** Information for the caller in addition to the summary; Markdown. */
  description?: string;
  /** Examples of the variable parts of the path. */
  pathExamples?: Readonly<Record<string, string>>;
  /** Whether the call accepts an `Idempotency-Key`. */
  once?: boolean;
  /** Scope of the key; null when the URL is signed or public. */
  scope: Scope | null;
  query?: z.ZodObject;
  /** Whether the call must name the revision on which it is based (RFC 9110 13.1.1). */
  ifMatch?: boolean;
  body?: z.ZodType;
  bodyOptional?: boolean;
  /** Media type of a body that is not JSON. */
  bodyType?: string;
  bodyExample?: string;
  status: number;
  /** Further statuses with the same kind of answer. */
  otherStatuses?: Readonly<Record<number, { description: string; example: unknown }>>;
  answer: ObjectName | 'empty' | 'bytes' | 'json';
  /** Example of an answer without a schema. */
  example?: unknown;
  /** Media type of an answer that is not JSON. */
  mediaType?: string;
  errors?: readonly ErrorCode[];
}

/** Errors of any call with a JSON body, and of any call that accepts an Idempotency-Key. */
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

/** Errors of a submit, through the API or the compatible queue. */
export const SUBMIT_ERRORS: readonly ErrorCode[] = [
  ...BODY_ERRORS,
  'identifiers_in_context',
  'file_not_ready',
  'unknown_endpoint',
  'overloaded',
];
