import type { Context, Middleware } from 'koa';
import type { AuditAction, AuditEntry } from '../../core/audit/audit.ts';
import { catalogueEntry, SonogateError } from '../../platform/errors/catalogue.ts';
import { idForm } from '../../platform/ids.ts';
import type { HttpDeps, HttpState } from './context.ts';

const REQUEST_ID = idForm('req');

/**
 * Writes down who did what with a request and how it was answered, before the answer leaves: a call
 * that cannot be written down is not answered. Stands after `requireScope`.
 * @param detailOf what belongs to the entry besides the request: ids of ours, no word of the caller.
 */
export function audited(
  { writeAudit, now = () => new Date() }: Pick<HttpDeps, 'writeAudit' | 'now'>,
  action: AuditAction,
  detailOf: (context: Context) => AuditEntry['detail'] = () => null,
): Middleware<HttpState> {
  return async (context, next) => {
    const write = (status: number) =>
      writeAudit({
        at: now(),
        accountId: context.state.principal.accountId,
        keyId: context.state.principal.keyId,
        action,
        requestId: requestOf(context),
        status,
        callId: context.state.requestId,
        address: context.ip,
        detail: detailOf(context),
      });
    try {
      await next();
    } catch (error) {
      await write(error instanceof SonogateError ? (catalogueEntry(error.code).http ?? 500) : 500);
      throw error;
    }
    if (!context.state.audited) await write(context.status);
  };
}

/** The request that the path names, or that the answer does: of the API, the queue, a delivery. */
function requestOf({ params, body }: Context): string | null {
  const answer = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const candidates: unknown[] = [params.id, answer.id, answer.request_id, answer.request];
  return candidates.find(isRequestId) ?? null;
}

function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && REQUEST_ID.test(value);
}
