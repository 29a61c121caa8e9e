import type { Router } from '@koa/router';
import { may } from '../../core/accounts/roles.ts';
import type { RequestRow } from '../../core/requests/request.ts';
import type { Reader, ReviewObject } from '../../core/reviews/reviews.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { sendEventStream } from '../http/event-stream.ts';
import { jsonBody, parseBody } from '../http/parse.ts';
import { ifMatch, reviewChangesBody, reviewFrames, signBody } from '../http/reviews.ts';
import { auditAction, auditedRequest, within } from './audit.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import { needs } from './guard.ts';
import { existingRequest, priorOf } from './result-routes.ts';
import { viewResult } from './result-view.ts';
import type { ReviewView } from './review-contract.ts';
import { viewReview } from './review-view.ts';
import { type ConsoleSession, watchSession } from './sessions.ts';
import { statedAge } from './worklist.ts';

/**
 * Adds `/requests/{id}/review` and `/requests/{id}/sign`, which act on behalf of the signed-in
 * person.
 */
export function addReviewRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { reviews, config } = deps;
  const body = jsonBody(config.http.maxBodyBytes);
  const path = '/requests/:id/review';

  const shown = async (row: RequestRow, review: ReviewObject): Promise<ReviewView> => {
    const result = viewResult({
      requestId: row.id,
      result: review.result,
      gestationalAge: statedAge(row.input?.options),
      prior: await priorOf(row, deps),
    });
    return viewReview(review, result);
  };

  router.get(path, needs('read'), async (context) => {
    const row = await existingRequest(context.params.id, deps);
    const reader = readerOf(context.state.session);
    await auditAction(context, 'review.read', auditedRequest(row), deps);
    context.body = await shown(row, await reviews.read(row, reader));
  });

  router.get(`${path}/events`, needs('read'), async (context) => {
    const row = await existingRequest(context.params.id, deps);
    const { session } = context.state;
    sendEventStream(context, deps, async function* (gone) {
      const { over, stop } = watchSession(session, deps);
      try {
        const signal = AbortSignal.any([gone, over]);
        yield* reviewFrames(reviews.follow(row, readerOf(session), signal));
      } finally {
        stop();
      }
    });
  });

  router.patch(path, needs('review'), body, async (context) => {
    const row = await existingRequest(context.params.id, deps);
    const given = parseBody(reviewChangesBody, context.state.body);
    const reader = readerOf(context.state.session);
    const recorded = (tx: Queryable) =>
      auditAction(context, 'review.change', auditedRequest(row), within(tx, deps));
    const review = await reviews.change(row, reader, ifMatch(context), given, recorded);
    context.body = await shown(row, review);
  });

  router.post('/requests/:id/sign', needs('sign'), body, async (context) => {
    const row = await existingRequest(context.params.id, deps);
    const { statement = null } = parseBody(signBody, context.state.body ?? {});
    const reader = readerOf(context.state.session);
    const recorded = (tx: Queryable) =>
      auditAction(context, 'review.sign', auditedRequest(row), within(tx, deps));
    const review = await reviews.sign(row, reader, ifMatch(context), statement, recorded);
    context.body = await shown(row, review);
  });
}

const readerOf = ({ principal, name, role }: ConsoleSession): Reader => ({
  id: principal,
  name,
  may: { edit: may(role, 'review'), sign: may(role, 'sign') },
});
