import type { Router } from '@koa/router';
import { DEFAULT_ACCOUNT_ID } from '../../core/accounts/keys.ts';
import { may } from '../../core/accounts/roles.ts';
import type { RequestRow } from '../../core/requests/request.ts';
import type { Reader, ReviewObject } from '../../core/reviews/reviews.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { sendEventStream } from '../http/event-stream.ts';
import { jsonBody } from '../http/parse.ts';
import { ifMatch, reviewBody, reviewChangesBody, reviewFrames, signBody } from '../http/reviews.ts';
import { auditAction } from './audit.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import { needs } from './guard.ts';
import { priorOf } from './result-routes.ts';
import { viewResult } from './result-view.ts';
import type { ReviewView } from './review-contract.ts';
import { viewReview } from './review-view.ts';
import type { ConsoleSession } from './sessions.ts';
import { statedAge } from './worklist.ts';

/**
 * Adds `/requests/{id}/review` and `/requests/{id}/sign`, which act on behalf of the signed-in
 * person.
 */
export function addReviewRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { core, reviews, config, wording } = deps;
  const body = jsonBody(config.http.maxBodyBytes);
  const path = '/requests/:id/review';

  const existing = async (id: string | undefined): Promise<RequestRow> => {
    const row = await core.get(id ?? '', DEFAULT_ACCOUNT_ID);
    if (!row) throw new SonogateError('not_found', 'There is no such request.');
    return row;
  };

  const shown = async (row: RequestRow, review: ReviewObject): Promise<ReviewView> => {
    const result = viewResult({
      requestId: row.id,
      result: review.result,
      gestationalAge: statedAge(row.input?.options),
      prior: await priorOf(row, deps),
      wording,
    });
    return viewReview(review, result, wording);
  };

  router.get(path, needs('read'), async (context) => {
    const row = await existing(context.params.id);
    const reader = readerOf(context.state.session);
    await auditAction(context, 'review.read', subjectOf(row), deps);
    context.body = await shown(row, await reviews.read(row, reader));
  });

  router.get(`${path}/events`, needs('read'), async (context) => {
    const row = await existing(context.params.id);
    const reader = readerOf(context.state.session);
    sendEventStream(context, deps, (signal) => reviewFrames(reviews.follow(row, reader, signal)));
  });

  router.patch(path, needs('review'), body, async (context) => {
    const row = await existing(context.params.id);
    const given = reviewBody(reviewChangesBody, context.state.body);
    const reader = readerOf(context.state.session);
    await auditAction(context, 'review.change', subjectOf(row), deps);
    const review = await reviews.change(row, reader, ifMatch(context), given);
    context.body = await shown(row, review);
  });

  router.post('/requests/:id/sign', needs('sign'), body, async (context) => {
    const row = await existing(context.params.id);
    const { statement = null } = reviewBody(signBody, context.state.body);
    const reader = readerOf(context.state.session);
    await auditAction(context, 'review.sign', subjectOf(row), deps);
    context.body = await shown(row, await reviews.sign(row, reader, ifMatch(context), statement));
  });
}

const readerOf = ({ principal, name, role }: ConsoleSession): Reader => ({
  id: principal,
  name,
  may: { edit: may(role, 'review'), sign: may(role, 'sign') },
});

const subjectOf = ({ id, source }: RequestRow) => ({
  requestId: id,
  studyId: source.kind === 'dicom' ? source.study : null,
});
