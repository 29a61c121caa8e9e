import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { changeSchema, MOST_CHANGES } from '../../../pipelines/contract/review.ts';
import { keyName } from '../../core/accounts/keys.ts';
import type { Reader, ReviewEvent, ReviewObject } from '../../core/reviews/reviews.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { InvalidInputError, pointedErrors } from '../../platform/errors/problem.ts';
import { audited } from './audited.ts';
import { mayUse, requireScope } from './authentication.ts';
import type { HttpDeps, HttpState } from './context.ts';
import { sendEventStream } from './event-stream.ts';
import { jsonBody } from './parse.ts';
import { ownRequest } from './requests.ts';

/** Body of `PATCH /v1/requests/{id}/review`. */
export const reviewChangesBody = z.strictObject({
  changes: z
    .array(changeSchema)
    .min(1)
    .max(MOST_CHANGES)
    .meta({
      description: 'Changes, applied in this order; either all or none',
      examples: [[{ kind: 'accept', measurement: 'hc-1' }]],
    }),
  amend: z
    .boolean()
    .default(false)
    .meta({
      description: 'True to change a signed result, which must then be signed again as amended',
      examples: [false],
    }),
});

/** Body of `POST /v1/requests/{id}/sign`. */
export const signBody = z.strictObject({
  statement: z
    .string()
    .trim()
    .min(1)
    .max(1000)
    .optional()
    .meta({
      description: 'Statement that the person makes with the signature',
      examples: ['Reviewed with the images.'],
    }),
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

/**
 * Validates a body against its schema.
 * @throws InvalidInputError
 */
export function reviewBody<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body ?? {});
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error));
  return parsed.data;
}

function sendReview(context: Context, review: ReviewObject): void {
  context.set('ETag', review.etag);
  context.body = review;
}

/** Yields review events as server-sent events, for the API and the console. */
export async function* reviewFrames(events: AsyncIterable<ReviewEvent>): AsyncGenerator<string> {
  yield 'retry: 3000\n\n';
  for await (const event of events) {
    yield `event: review\ndata: ${JSON.stringify(event)}\n\n`;
  }
}

/** Adds `/v1/requests/{id}/review` and `/v1/requests/{id}/sign`. */
export function addReviewRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, reviews, database, config } = deps;
  const body = jsonBody(config.maxBodyBytes);
  const path = '/v1/requests/:id/review';

  /**
   * Returns the calling key as the reader of a review. Test keys need no check here: `ownRequest`
   * hides live requests from them, so a test key cannot sign a live result.
   */
  const readerOf = async ({ principal }: HttpState): Promise<Reader> => ({
    id: `key:${principal.keyId}`,
    name: (await keyName(database, principal.keyId)) || principal.keyId,
    may: { edit: mayUse(principal, 'review'), sign: mayUse(principal, 'sign') },
  });

  const read = requireScope(deps, 'read');
  router.get(path, read, audited(deps, 'review.read'), async (context) => {
    const row = await ownRequest(core, context.params.id, context.state);
    sendReview(context, await reviews.read(row, await readerOf(context.state)));
  });

  router.get(`${path}/events`, read, audited(deps, 'review.follow'), async (context) => {
    const row = await ownRequest(core, context.params.id, context.state);
    const reader = await readerOf(context.state);
    sendEventStream(context, deps, (signal) => reviewFrames(reviews.follow(row, reader, signal)));
  });

  router.patch(
    path,
    requireScope(deps, 'review'),
    audited(deps, 'review.change'),
    body,
    async (context) => {
      const row = await ownRequest(core, context.params.id, context.state);
      const given = reviewBody(reviewChangesBody, context.state.body);
      const reader = await readerOf(context.state);
      sendReview(context, await reviews.change(row, reader, ifMatch(context), given));
    },
  );

  router.post(
    '/v1/requests/:id/sign',
    requireScope(deps, 'sign'),
    audited(deps, 'review.sign'),
    body,
    async (context) => {
      const row = await ownRequest(core, context.params.id, context.state);
      const { statement = null } = reviewBody(signBody, context.state.body);
      const reader = await readerOf(context.state);
      sendReview(context, await reviews.sign(row, reader, ifMatch(context), statement));
    },
  );
}
