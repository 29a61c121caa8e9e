import { randomUUID } from 'node:crypto';
import type { Change, Changed } from '../../../pipelines/contract/review.ts';
import { withArtifacts } from '../../../pipelines/result/assemble.ts';
import type { ReviewedResult } from '../../../pipelines/result/decisions.ts';
import { type Measurement, type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import type { AlsoStored, Database } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { InvalidInputError, jsonPointer } from '../../platform/errors/problem.ts';
import { announceChange, armWatch, type ChangeFeed } from '../requests/changes.ts';
import type { Endpoint, StudyReview } from '../requests/endpoint.ts';
import { requireNoIdentifiers } from '../requests/identifiers.ts';
import type { RequestRow } from '../requests/request.ts';
import {
  requireInForce,
  requireNotWithdrawn,
  type WithdrawCommand,
} from '../requests/withdrawal.ts';
import { isSignedLater } from '../studies/signed-results.ts';
import {
  addChange,
  type ChangeRow,
  dropSignatures,
  effectsOfAll,
  findReview,
  keepReader,
  listChanges,
  listReaders,
  listSignatures,
  lockReview,
  notUndone,
  type ReviewRow,
  type ReviewState,
  removeReader,
  type SignatureRow,
  saveReview,
} from './review-rows.ts';
import type { StoreSignature } from './store-signature.ts';

/** The person or program that has a review open. */
export interface Reader {
  /** `key:<id>`, or the person's subject at the identity provider. */
  id: string;
  name: string;
  may: { edit: boolean; sign: boolean };
}

export interface ListedChange {
  id: number;
  at: string;
  author: string;
  kind: Change['kind'];
  change: Change;
  before: ChangeRow['before'];
  after: ChangeRow['after'];
  undone: boolean;
}

export interface ReviewObject {
  object: 'review';
  request: string;
  state: ReviewState;
  /** Counts every change and signature. */
  revision: number;
  /** Number of signed results so far. */
  signed_revision: number;
  /** Value for `If-Match`. */
  etag: string;
  /** The result after the changes. */
  result: Result;
  /** The measurements of the draft, by id. */
  original: Record<string, Measurement>;
  changes: ListedChange[];
  signatures: { observer: string; organization: string; at: string; statement: string | null }[];
  /** Number of signatures that a result needs in this installation. */
  signatures_needed: number;
  readers: string[];
  may: { edit: boolean; sign: boolean };
}

/** The event sent to readers who have a review open. */
export interface ReviewEvent {
  revision: number;
  state: ReviewState;
  etag: string;
  /** Author of the last change; null if there are no changes. */
  author: string | null;
  readers: string[];
}

/** Withdraws the result of a request (requests/withdrawal.ts). */
export type Withdraw = (
  id: string,
  command: WithdrawCommand,
  also?: AlsoStored,
) => Promise<RequestRow>;

interface ReviewParts {
  database: Database;
  changes: ChangeFeed;
  endpoints: readonly Endpoint[];
  /** Returns the stored evidence as text; null if the request has none. */
  evidence(requestId: string): Promise<string | null>;
  /**
   * Returns the result as it was stored: the signed revision with this number, or for revision 0 the
   * draft as written by the pipeline.
   */
  stored(requestId: string, revision: number): Promise<unknown>;
  sign: StoreSignature;
  withdraw: Withdraw;
  config: { organization: string; signatures: 1 | 2 };
}

/** Maximum number of studies under review that this process keeps in memory. */
const KEPT_OPEN = 8;

/** Milliseconds between keep-alive updates of an open stream. */
const HEARTBEAT_MS = 15_000;

/** A study under review. */
interface Opened {
  study: StudyReview;
  original: Result;
  /** Recently computed results, by the time of the last change and the effects of all changes. */
  results: Map<string, Result>;
}

const KEPT_RESULTS = 4;

const etagOf = ({ revision }: Pick<ReviewRow, 'revision'>): string => `"r${revision}"`;

/** The reviews of results: the changes of all readers, the reviewed results, and their signatures. */
export class Reviews {
  readonly #parts: ReviewParts;
  readonly #database: Database;
  readonly #open: (row: RequestRow) => Promise<Opened>;
  /**
   * Withdraws the result of a request, signed or not.
   * @throws SonogateError `not_found`, `no_result`, `invalid_input`
   */
  readonly withdraw: Withdraw;

  constructor(parts: ReviewParts) {
    this.#parts = parts;
    this.#database = parts.database;
    this.#open = createOpenStudies(parts);
    this.withdraw = parts.withdraw;
  }

  /** @throws SonogateError `review_unavailable` */
  async read(row: RequestRow, reader: Reader): Promise<ReviewObject> {
    const opened = await this.#open(row);
    const { review, changes } = await this.#reviewAndChanges(row.id);
    const signatures = await listSignatures(this.#database, row.id);
    const readers = await listReaders(this.#database, row.id);
    const alive = notUndone(changes);
    const isSigned = review.state === 'signed' || review.state === 'amended';
    return {
      object: 'review',
      request: row.id,
      ...review,
      etag: etagOf(review),
      // A signed result is read from the store and not computed again, because after an upgrade the
      // same evidence may give other values and sentences.
      result: isSigned
        ? await this.#signedResult(row.id, review.signed_revision)
        : resultOf(opened, changes),
      original: Object.fromEntries(opened.original.measurements.map((one) => [one.id, one])),
      changes: changes.map((one) => listed(one, alive)),
      signatures: signatures
        .filter(({ signed_revision: of }) => of === review.signed_revision + (isSigned ? 0 : 1))
        .map(({ observer, organization, at, statement }) => ({
          observer,
          organization,
          at: at.toISOString(),
          statement,
        })),
      signatures_needed: this.#parts.config.signatures,
      readers: readers.map(({ name }) => name),
      // Nobody may change or sign a withdrawn result.
      may: row.withdrawal ? { edit: false, sign: false } : reader.may,
    };
  }

  /**
   * Makes all of the changes, or none, to the revision that the caller has read.
   * @param amend true if a signed result may be changed again.
   * @param also stored in the same transaction.
   * @throws SonogateError `stale_review`, `already_signed`, `later_result_signed`,
   * `result_withdrawn`, `forbidden`, `invalid_input`
   */
  async change(
    row: RequestRow,
    reader: Reader,
    etag: string,
    { changes: given, amend }: { changes: readonly Change[]; amend: boolean },
    also: AlsoStored = async () => {},
  ): Promise<ReviewObject> {
    if (!reader.may.edit) throw new SonogateError('forbidden', 'The caller may not edit a review.');
    requireInForce(row);
    const opened = await this.#open(row);
    const read = await this.#reviewAndChanges(row.id);
    requireCurrent(read.review, etag);
    requireUnsigned(read.review, amend);
    await this.#requireLatest(row.id);
    // The result is computed before the transaction, because a long transaction would block other
    // users of the database. The transaction then checks that the review still has the same ETag.
    const made = applied(opened, read.changes, given, { reader, at: new Date() });
    await this.#database.transaction(async (tx) => {
      const review = await lockReview(tx, row.id);
      await requireNotWithdrawn(tx, row.id);
      requireCurrent(review, etag);
      for (const one of made) await addChange(tx, row.id, one);
      await dropSignatures(tx, row.id, review.signed_revision + 1);
      const revision = review.revision + 1;
      await saveReview(tx, row.id, { ...review, state: 'in-review', revision });
      await also(tx);
    });
    return this.read(row, reader);
  }

  /**
   * Signs the revision that the caller has read. With the last required signature, the signed
   * result is stored and delivered.
   * @param also stored in the same transaction.
   * @throws SonogateError `stale_review`, `already_signed`, `later_result_signed`,
   * `result_withdrawn`, `forbidden`
   */
  async sign(
    row: RequestRow,
    reader: Reader,
    etag: string,
    statement: string | null,
    also: AlsoStored = async () => {},
  ): Promise<ReviewObject> {
    if (!reader.may.sign) throw new SonogateError('forbidden', 'The caller may not sign a result.');
    requireInForce(row);
    const opened = await this.#open(row);
    const { review, changes } = await this.#reviewAndChanges(row.id);
    requireCurrent(review, etag);
    requireUnsigned(review, false);
    await this.#requireLatest(row.id);
    const given = (await listSignatures(this.#database, row.id)).filter(
      ({ signed_revision: of }) => of === review.signed_revision + 1,
    );
    if (given.some(({ observer_id: id }) => id === reader.id)) {
      throw new SonogateError('forbidden', 'The second signature must be made by another person.');
    }
    const signature: SignatureRow = {
      signed_revision: review.signed_revision + 1,
      position: given.length + 1,
      at: new Date(),
      observer_id: reader.id,
      observer: reader.name,
      organization: this.#parts.config.organization,
      statement,
    };
    await this.#parts.sign({
      row,
      review,
      signatures: [...given, signature],
      isLast: given.length + 1 >= this.#parts.config.signatures,
      result: resultOf(opened, changes, signature.at),
      study: opened.study,
      requireCurrent: (current) => requireCurrent(current, etag),
      also,
    });
    return this.read(row, reader);
  }

  /** Yields the state now and after each change. The reader is listed while the stream is open. */
  async *follow(row: RequestRow, reader: Reader, signal: AbortSignal): AsyncIterable<ReviewEvent> {
    const stream = randomUUID();
    const watch = armWatch(this.#parts.changes, row.id);
    try {
      await keepReader(this.#database, row.id, stream, reader);
      await announceChange(this.#database, row.id);
      let sent = '';
      while (!signal.aborted) {
        const event = await this.#event(row.id);
        const text = JSON.stringify(event);
        if (text !== sent) yield event;
        sent = text;
        await watch.next(signal, HEARTBEAT_MS);
        if (!signal.aborted) await keepReader(this.#database, row.id, stream, reader);
      }
    } finally {
      watch.stop();
      await removeReader(this.#database, row.id, stream);
    }
  }

  async #event(id: string): Promise<ReviewEvent> {
    const { review, changes } = await this.#reviewAndChanges(id);
    const readers = await listReaders(this.#database, id);
    return {
      revision: review.revision,
      state: review.state,
      etag: etagOf(review),
      author: changes.at(-1)?.author ?? null,
      readers: readers.map(({ name }) => name),
    };
  }

  async #signedResult(id: string, revision: number): Promise<Result> {
    const signed = resultSchema.safeParse(await this.#parts.stored(id, revision));
    if (signed.success) return signed.data;
    throw new SonogateError('review_unavailable', 'The signed result is no longer stored.');
  }

  async #reviewAndChanges(id: string): Promise<{ review: ReviewRow; changes: ChangeRow[] }> {
    return {
      review: await findReview(this.#database, id),
      changes: await listChanges(this.#database, id),
    };
  }

  async #requireLatest(id: string): Promise<void> {
    if (await isSignedLater(this.#database, id)) throw new SonogateError('later_result_signed');
  }
}

/**
 * Returns a function that opens the study of a request. The last `KEPT_OPEN` studies that were used
 * stay in memory, so that evidence of several megabytes is not read again for each change.
 */
function createOpenStudies({ endpoints, evidence, stored }: ReviewParts) {
  const kept = new Map<string, Promise<Opened>>();

  const openStudy = async (row: RequestRow): Promise<Opened> => {
    const endpoint = endpoints.find(
      ({ id, version }) => id === row.endpoint && version === row.version,
    );
    const text = endpoint?.review ? await evidence(row.id) : null;
    const original = resultSchema.safeParse(await stored(row.id, 0));
    if (!endpoint?.review || text === null || !original.success) {
      throw new SonogateError('review_unavailable', 'No evidence is stored for this request.');
    }
    return { study: await endpoint.review(text), original: original.data, results: new Map() };
  };

  return (row: RequestRow): Promise<Opened> => {
    if (row.status !== 'succeeded') {
      throw new SonogateError('review_unavailable', `The request is ${row.status}.`);
    }
    const found = kept.get(row.id) ?? openStudy(row);
    kept.delete(row.id);
    kept.set(row.id, found);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_OPEN && oldest !== undefined) kept.delete(oldest);
    found.catch(() => kept.delete(row.id));
    return found;
  };
}

/** Returns the result with the changes applied. Its artifacts are those of the draft. */
function resultOf(
  { study, original, results }: Opened,
  changes: readonly ChangeRow[],
  at = changes.at(-1)?.at ?? new Date(original.generated_at),
): Result {
  const effects = effectsOfAll(changes);
  if (effects.length === 0) return { ...original, generated_at: at.toISOString() };
  // The id of the last change cannot serve as the key. If two readers change the same revision at
  // the same time, both of their changes have the same id until one is stored.
  const key = JSON.stringify([at, effects]);
  const result =
    results.get(key) ?? withArtifacts(study.interpret(effects, at), original.artifacts);
  results.delete(key);
  results.set(key, result);
  const [oldest] = results.keys();
  if (results.size > KEPT_RESULTS && oldest !== undefined) results.delete(oldest);
  return result;
}

function listed({ id, at, author, change, before, after }: ChangeRow, alive: Set<number>) {
  return {
    id,
    at: at.toISOString(),
    author,
    kind: change.kind,
    change,
    before,
    after,
    undone: !alive.has(id),
  };
}

function requireCurrent(review: ReviewRow, etag: string): void {
  if (etag === etagOf(review)) return;
  throw new SonogateError(
    'stale_review',
    `The review is at revision ${etagOf(review)}; read it again.`,
  );
}

function requireUnsigned({ state }: ReviewRow, amend: boolean): void {
  if (amend || (state !== 'signed' && state !== 'amended')) return;
  throw new SonogateError('already_signed', 'The result is signed; send `amend` to change it.');
}

/**
 * Returns the rows of new changes. Each change is applied to the result of the changes before it.
 * @throws InvalidInputError
 */
function applied(
  opened: Opened,
  before: readonly ChangeRow[],
  given: readonly Change[],
  { reader, at }: { reader: Reader; at: Date },
): ChangeRow[] {
  const rows = [...before];
  given.forEach((change, index) => {
    const pointer = jsonPointer(['changes', index]);
    const state = stateOf(opened, rows);
    const subject = atPointer(pointer, () => opened.study.subjectOf(change, state));
    const effects =
      change.kind === 'undo'
        ? undone(rows, change.change, pointer)
        : atPointer(pointer, () => {
            requireAnonymous(change);
            return opened.study.effectsOf(change, state);
          });
    const id = (rows.at(-1)?.id ?? 0) + 1;
    const row = { id, at, author_id: reader.id, author: reader.name, change, effects };
    rows.push({ ...row, before: subject.before, after: subject.before });
    const after = subject.afterIn(resultOf(opened, rows));
    requireUsed(change, after, pointer);
    rows[rows.length - 1] = { ...row, before: subject.before, after };
  });
  return rows.slice(before.length);
}

/**
 * Rejects a typed value if the quantity still needs review afterwards. In that case, the section
 * calculates the quantity from other values that need review, so a typed value would not be used. A
 * person must accept or correct those other values instead.
 */
function requireUsed({ kind }: Change, { quality }: Changed, pointer: string): void {
  if (kind !== 'set-value' || quality !== 'review') return;
  const detail =
    'The value is calculated from values that need review; accept or correct those first.';
  throw new InvalidInputError([{ pointer: `${pointer}/measurement`, detail }]);
}

function stateOf(opened: Opened, rows: readonly ChangeRow[]): ReviewedResult {
  return {
    original: opened.original,
    result: resultOf(opened, rows),
    effects: effectsOfAll(rows),
  };
}

/**
 * Checks that a change can be undone. Undoing adds no effects; it only removes the effects of that
 * change.
 */
function undone(rows: readonly ChangeRow[], id: number, pointer: string): [] {
  if (notUndone(rows).has(id)) return [];
  const detail = 'There is no such change, or it has been undone.';
  throw new InvalidInputError([{ pointer: `${pointer}/change`, detail }]);
}

/**
 * Rejects text in which a reader identifies the patient, because documents without a patient also
 * contain this text.
 */
function requireAnonymous(change: Change): void {
  if (change.kind === 'note') requireNoIdentifiers(change.text, '/text');
  if (change.kind === 'reject') requireNoIdentifiers(change.reason ?? '', '/reason');
}

/** Prefixes the paths in a change's errors with the path of the change. */
function atPointer<T>(pointer: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError(
      error.errors.map((one) => ({ ...one, pointer: pointer + one.pointer })),
    );
  }
}
