import type { Router, RouterContext } from '@koa/router';
import type { Context } from 'koa';
import type { z } from 'zod';
import { audited } from './audited.ts';
import { requireScope } from './authentication.ts';
import type { HttpDeps, HttpState } from './context.ts';
import { idempotent } from './idempotency.ts';
import type { Operation } from './openapi/operation.ts';
import { jsonBody, parseBody, readQuery } from './parse.ts';

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;

/** The validated query and body of a call; undefined if the operation has none. */
interface Given<O extends Operation> {
  query: O extends { query: infer Query } ? Parsed<Query> : undefined;
  body: O extends { body: infer Body } ? Parsed<Body> : undefined;
}

type Answer<O extends Operation> = (
  context: RouterContext<HttpState>,
  given: Given<O>,
) => Promise<void> | void;

/**
 * Returns a function that serves an operation as described: at its paths, to keys with its scope,
 * with its query and body validated, and with an audit entry. The status is that of the operation
 * unless the handler sets another.
 */
export function servingOn(router: Router<HttpState>, deps: HttpDeps) {
  return <O extends Operation>(operation: O, answer: Answer<O>): void => {
    const { method, path, alsoAt = [], scope, audit, auditDetail, once, keptAnswer } = operation;
    const paths = [path, ...alsoAt].map((each) => each.replaceAll(/\{(\w+)\}/g, ':$1'));
    router[method](
      paths,
      ...(scope === null ? [] : [requireScope(deps, scope)]),
      ...(audit === undefined ? [] : [audited(deps, audit, auditDetail)]),
      ...(operation.body || once ? [jsonBody(deps.config.maxBodyBytes)] : []),
      ...(once ? [idempotent(deps, keptAnswer)] : []),
      async (context) => {
        const given = validated(context, operation);
        context.status = operation.status;
        await answer(context, given as Given<O>);
      },
    );
  };
}

function validated(
  context: Context & { state: HttpState },
  { query, body, bodyOptional }: Operation,
) {
  const sent = context.state.body;
  return {
    query: query && readQuery(context, query),
    body: body && parseBody(body, bodyOptional && sent === undefined ? {} : sent),
  };
}
