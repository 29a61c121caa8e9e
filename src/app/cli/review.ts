import type { Sonogate } from '../../../clients/typescript/src/client.ts';
import type { ChangeReviewBody, Review } from '../../../clients/typescript/src/generated.ts';
import { type Measurement, resultSchema } from '../../../pipelines/result/envelope.ts';
import { withSubject } from '../../../pipelines/result/render/obstetric/shared.ts';
import { valueText } from '../../../pipelines/result/render/value-text.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { type AnswerForm, answer } from './answer.ts';
import { connect } from './remote.ts';

type Change = ChangeReviewBody['changes'][number];

interface ChangeForm extends AnswerForm {
  /** Opens a signed result again. */
  amend?: boolean;
}

/** Prints a review: each value with its id and whether it counts, the impression and the changes. */
export async function showReview(
  id: string,
  form: AnswerForm,
  client: Pick<Sonogate, 'calls'> = connect(),
): Promise<void> {
  const review = await client.calls.getReview({ id });
  answer(form, review, linesOf(review));
}

/** Makes one change, in the name of the key. */
export async function changeReview(
  id: string,
  change: Change,
  { amend = false, ...form }: ChangeForm,
  client: Pick<Sonogate, 'calls'> = connect(),
): Promise<void> {
  const { etag } = await client.calls.getReview({ id });
  const body = { changes: [change], amend };
  const review = await client.calls.changeReview({ id, ifMatch: etag, body });
  answer(form, review, linesOf(review));
}

/**
 * Signs the revision that the reader has seen.
 * @throws SonogateError `stale_review` if the review has changed since.
 */
export async function signReview(
  id: string,
  { revision, statement, ...form }: AnswerForm & { revision: number; statement?: string },
  client: Pick<Sonogate, 'calls'> = connect(),
): Promise<void> {
  const current = await client.calls.getReview({ id });
  if (current.revision !== revision) {
    const detail = `The review is at revision ${current.revision}; read it with "sonogate review show ${id}".`;
    throw new SonogateError('stale_review', detail);
  }
  const body = statement === undefined ? {} : { statement };
  const review = await client.calls.signResult({ id, ifMatch: current.etag, body });
  answer(form, review, linesOf(review));
}

function linesOf(review: Review): string[] {
  const { request, state, revision, signatures, signatures_needed: needed, may } = review;
  const result = resultSchema.parse(review.result);
  const isSigned = state === 'signed' || state === 'amended';
  return [
    `${request} is ${state}, revision ${revision}`,
    ...result.measurements.map(valueLine),
    ...(result.report?.impression ?? []).map((line) => `impression: ${line}`),
    ...review.changes
      .filter(({ undone }) => !undone)
      .map(({ id, at, author, kind }) => `change ${id}: ${kind} by ${author} at ${at}`),
    ...signatures.map(
      ({ observer, at }, n) => `signed by ${observer} at ${at} (${n + 1} of ${needed})`,
    ),
    ...(!isSigned && may.sign ? [`sonogate review sign ${request} --revision ${revision}`] : []),
  ];
}

/** Returns what a value is used for, its id, name and number. */
function valueLine(one: Measurement): string {
  const use = one.quality === 'review' ? 'needs review' : (one.confirmed ?? one.standing);
  const name = withSubject(one.label, one);
  return `  ${use.padEnd('needs review'.length)}  ${one.id}: ${name} ${valueText(one)}`;
}
