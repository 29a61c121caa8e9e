import type { Context, Middleware } from 'koa';
import type { AuditAction, AuditEntry, SubmitAudit } from '../../core/audit/audit.ts';
import { catalogueEntry, SonogateError } from '../../platform/errors/catalogue.ts';
import { idForm } from '../../platform/ids.ts';
import type { HttpDeps, HttpState } from './context.ts';

const REQUEST_ID = idForm('req');

/**
 * Records a call's caller, action and outcome in the audit before the response is sent. If the
 * audit entry cannot be written, the call fails. Must come after `requireScope`.
 * @param detailOf returns further details for the entry: only our own ids, no text from the caller.
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

/** Returns the audit entry of a submission, which the core stores together with the request. */
export const submissionAudit = (
  { principal: { accountId, keyId }, requestId }: HttpState,
  status: number,
  at: Date,
): SubmitAudit => ({ at, accountId, keyId, action: 'request.submit', status, callId: requestId });

/**
 * Returns the id of the request that a call concerns; null if there is none. The id is in the path
 * or in the response, under a name that depends on the interface: the API, the compatible queue or
 * webhook deliveries.
 */
function requestOf({ params, body }: Context): string | null {
  const answer = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const candidates: unknown[] = [params.id, answer.id, answer.request_id, answer.request];
  return candidates.find(isRequestId) ?? null;
}

function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && REQUEST_ID.test(value);
}
