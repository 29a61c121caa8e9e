import type { Context, Middleware } from 'koa';
import type { AuditAction, AuditEntry } from '../../core/audit/audit.ts';
import { catalogueEntry, SonogateError } from '../../platform/errors/catalogue.ts';
import { idForm } from '../../platform/ids.ts';
import type { HttpDeps, HttpState } from './context.ts';

const REQUEST_ID = idForm('req');

/**
 * Records in the audit the caller, the action and the outcome of a call before the answer is sent.
 * A call that cannot be audited is not answered. Must come after `requireScope`.
 * @param detailOf returns the details of the entry in addition to the request: our own ids, no text
 * of the caller.
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

/**
 * Returns the id of the request in the path or in the answer, for the API, the compatible queue and
 * webhook deliveries; null when there is none.
 */
function requestOf({ params, body }: Context): string | null {
  const answer = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const candidates: unknown[] = [params.id, answer.id, answer.request_id, answer.request];
  return candidates.find(isRequestId) ?? null;
}

function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && REQUEST_ID.test(value);
}
