import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { changeSchema, MOST_CHANGES } from '../../../pipelines/contract/review.ts';
import {
  LONGEST_WITHDRAWAL_TEXT,
  WITHDRAWAL_REASON_CODES,
} from '../../../pipelines/contract/withdrawal.ts';
import { described } from '../../../pipelines/result/envelope.ts';
import { keyName } from '../../core/accounts/keys.ts';
import type { Reader, ReviewEvent, ReviewObject } from '../../core/reviews/reviews.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { mayUse } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './context.ts';
import { eventFrame, RECONNECT, sendEventStream } from './event-stream.ts';
import { INPUT_ERRORS, operationsOf } from './openapi/operation.ts';
import { ownRequest } from './requests.ts';
import { servingOn } from './route.ts';

/** Body of `PATCH /v1/requests/{id}/review`. */
export const reviewChangesBody = z.strictObject({
  changes: described(
    z.array(changeSchema).min(1).max(MOST_CHANGES),
    'Changes, applied in this order; either all or none',
    [{ kind: 'accept', measurement: 'hc-1' }],
  ),
  amend: described(
    z.boolean().default(false),
    'True to change a signed result, which must then be signed again as amended',
    false,
  ),
});

/** Body of `POST /v1/requests/{id}/sign`. */
export const signBody = z.strictObject({
  statement: described(
    z.string().trim().min(1).max(1000).optional(),
    'Statement that the person makes with the signature',
    'Reviewed with the images.',
  ),
});

/** Body of `POST /v1/requests/{id}/withdraw`. */
export const withdrawBody = z.strictObject({
  reason: described(
    z.enum(WITHDRAWAL_REASON_CODES),
    'Why the result is withdrawn',
    'wrong-patient',
  ),
  text: described(
    z.string().trim().min(1).max(LONGEST_WITHDRAWAL_TEXT).optional(),
    'Explanation for the receivers, without names, identifiers and dates',
    'Images of the next patient were sent under this examination.',
  ),
});

/** Errors of the calls that change a review. */
const REVIEW_CHANGE_ERRORS = [
  'not_found',
  'review_unavailable',
  'already_signed',
  'later_result_signed',
  'result_withdrawn',
  'if_match_required',
  'stale_review',
  ...INPUT_ERRORS,
] as const;

export const REVIEW_OPERATIONS = operationsOf('Requests', {
  getReview: {
    method: 'get',
    path: '/v1/requests/{id}/review',
    summary: 'Get the reviewed result, its changes and who has the review open',
    scope: 'read',
    audit: 'review.read',
    answer: 'review',
    errors: ['not_found', 'review_unavailable'],
  },
  followReview: {
    method: 'get',
    path: '/v1/requests/{id}/review/events',
    summary: 'Follow the changes of a review by server-sent events; lists the caller as a reader',
    scope: 'read',
    audit: 'review.follow',
    answer: 'reviewEvent',
    mediaType: 'text/event-stream',
    errors: ['not_found'],
  },
  changeReview: {
    method: 'patch',
    path: '/v1/requests/{id}/review',
    summary: 'Change a review: accept, reject or edit values, undo changes, add notes',
    scope: 'review',
    audit: 'review.change',
    ifMatch: true,
    body: reviewChangesBody,
    answer: 'review',
    errors: REVIEW_CHANGE_ERRORS,
  },
  signResult: {
    method: 'post',
    path: '/v1/requests/{id}/sign',
    summary: 'Sign the reviewed result in the name of the key',
    scope: 'sign',
    audit: 'review.sign',
    ifMatch: true,
    body: signBody,
    bodyOptional: true,
    answer: 'review',
    errors: REVIEW_CHANGE_ERRORS,
  },
  withdrawResult: {
    method: 'post',
    path: '/v1/requests/{id}/withdraw',
    summary: 'Withdraw the result here and at every receiver; a second call changes nothing',
    scope: 'sign',
    audit: 'result.withdraw',
    body: withdrawBody,
    answer: 'request',
    errors: ['not_found', 'no_result', ...INPUT_ERRORS],
  },
});

/**
 * Returns the value of a call's `If-Match` header.
 * @throws SonogateError `if_match_required`
 */
export function ifMatch(context: Pick<Context, 'get'>): string {
  const etag = context.get('If-Match').trim();
  if (etag === '') {
    throw new SonogateError('if_match_required', 'Send `If-Match` with the ETag of the review.');
  }
  return etag;
}

function sendReview(context: Context, review: ReviewObject): void {
  context.set('ETag', review.etag);
  context.body = review;
}

/** Yields review events as server-sent events, for the API and the console. */
export async function* reviewFrames(events: AsyncIterable<ReviewEvent>): AsyncGenerator<string> {
  yield RECONNECT;
  for await (const event of events) yield eventFrame('review', event);
}

/** Adds `/v1/requests/{id}/review`, `/sign` and `/withdraw`. */
export function addReviewRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, reviews, database, config } = deps;
  const serve = servingOn(router, deps);

  /**
   * Returns the calling key as the reader of a review. Test keys need no check here: `ownRequest`
   * hides live requests from them, so a test key cannot sign a live result.
   */
  const readerOf = async ({ principal }: HttpState): Promise<Reader> => ({
    id: `key:${principal.keyId}`,
    name: (await keyName(database, principal.keyId)) || principal.keyId,
    may: { edit: mayUse(principal, 'review'), sign: mayUse(principal, 'sign') },
  });

  serve(REVIEW_OPERATIONS.getReview, async (context) => {
    const row = await ownRequest(core, context.params.id, context.state);
    sendReview(context, await reviews.read(row, await readerOf(context.state)));
  });

  serve(REVIEW_OPERATIONS.followReview, async (context) => {
    const row = await ownRequest(core, context.params.id, context.state);
    const reader = await readerOf(context.state);
    sendEventStream(context, deps, (signal) => reviewFrames(reviews.follow(row, reader, signal)));
  });

  serve(REVIEW_OPERATIONS.changeReview, async (context, { body }) => {
    const row = await ownRequest(core, context.params.id, context.state);
    const reader = await readerOf(context.state);
    sendReview(context, await reviews.change(row, reader, ifMatch(context), body));
  });

  serve(REVIEW_OPERATIONS.signResult, async (context, { body }) => {
    const row = await ownRequest(core, context.params.id, context.state);
    const reader = await readerOf(context.state);
    const { statement = null } = body;
    sendReview(context, await reviews.sign(row, reader, ifMatch(context), statement));
  });

  serve(REVIEW_OPERATIONS.withdrawResult, async (context, { body }) => {
    const { id } = await ownRequest(core, context.params.id, context.state);
    const { name: person } = await readerOf(context.state);
    const { reason, text = null } = body;
    const row = await reviews.withdraw(id, { person, reason, text });
    context.body = await core.view(row, baseUrl(context, config));
  });
}
