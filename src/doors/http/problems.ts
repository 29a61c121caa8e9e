import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { DatabaseUnreachableError } from '../../platform/database/pooled.ts';
import {
  catalogueEntry,
  ERRORS,
  type ErrorCode,
  SonogateError,
} from '../../platform/errors/catalogue.ts';
import { isOutOfSpace } from '../../platform/errors/file-system.ts';
import { InvalidInputError, problem } from '../../platform/errors/problem.ts';
import { COMPATIBLE_QUEUE, compatibleError } from './compatible-queue/answers.ts';
import { baseUrl, type HttpDeps, type HttpState } from './context.ts';
import { FHIR, FHIR_JSON, operationOutcome } from './fhir/outcome.ts';

/** Seconds after which a client should repeat a temporarily refused call. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = {
  idempotency_in_progress: 1,
  rate_limited: 1,
  overloaded: 30,
  database_unreachable: 5,
  storage_unreachable: 5,
};

/**
 * Converts every error to a response without internal information: problem details (RFC 9457), the
 * compatible queue's form below `/queue`, an OperationOutcome below `/fhir`.
 */
export function problems({
  config,
  logger,
}: Pick<HttpDeps, 'config' | 'logger'>): Middleware<HttpState> {
  return async (context, next) => {
    try {
      await next();
      // The router answers 501 to a method that no path supports, such as TRACE.
      if (context.status === 405 || context.status === 501) {
        const allowed = context.response.get('Allow');
        if (!allowed) throw new SonogateError('not_found', 'There is nothing at this path.');
        throw new SonogateError('method_not_allowed', `This path supports ${allowed}.`);
      }
      if (context.status === 404 && !context.body) {
        throw new SonogateError('not_found', 'There is nothing at this path.');
      }
      context.state.beginStream?.();
    } catch (error) {
      const known = knownError(error);
      if (known.code === 'internal') {
        const fields = { err: error, request_id: context.state.requestId };
        if (context.req.readableAborted) logger.debug(fields, 'client went away');
        else logger.event('call_failed', fields);
      }
      describe(context, known, baseUrl(context, config));
    }
  };
}

function knownError(error: unknown): SonogateError {
  if (error instanceof SonogateError) return error;
  if (error instanceof DatabaseUnreachableError) {
    return new SonogateError('database_unreachable', 'The call can be repeated in a few seconds.');
  }
  if (isOutOfSpace(error)) return new SonogateError('overloaded', 'The disk is full.');
  return new SonogateError('internal', 'The gateway could not process the call.');
}

function describe(
  context: Context & { state: HttpState },
  error: SonogateError,
  address: string,
): void {
  const body = problem(error.code, error.detail, address, {
    instance: context.path,
    request_id: context.state.requestId,
    ...(error instanceof InvalidInputError ? { errors: [...error.errors] } : {}),
  });
  context.status = body.status;
  if (context.path.startsWith(`${COMPATIBLE_QUEUE}/`)) {
    context.body = compatibleError(body);
    context.type = 'application/json';
  } else if (context.path.startsWith(`${FHIR}/`)) {
    context.body = JSON.stringify(operationOutcome(body));
    context.type = FHIR_JSON;
  } else {
    context.body = body;
    context.type = 'application/problem+json';
  }
  if (body.status === 401) {
    // In the response to a call without credentials, the header states only the scheme (RFC 6750
    // 3.1).
    const given = error.code === 'unauthenticated' ? '' : ' error="invalid_token"';
    context.set('WWW-Authenticate', `Bearer${given}`);
  }
  const wait = RETRY_AFTER_SECONDS[error.code];
  if (wait !== undefined && !context.response.get('Retry-After')) {
    context.set('Retry-After', String(wait));
  }
  // The rest of a refused body is read and discarded, so that a client that is still sending can
  // read the response.
  context.req.resume();
}

/** Adds `GET /errors/{code}`: the page to which the `type` of a problem links. */
export function addErrorPages(router: Router<HttpState>): void {
  router.get('/errors/:code', (context) => {
    const { code = '' } = context.params;
    if (!isErrorCode(code)) throw new SonogateError('not_found', 'There is no such error.');
    const { title, operator, retry } = catalogueEntry(code);
    context.body = `${code}\n${title}\n\n${operator}\nRetry: ${retry}\n`;
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
