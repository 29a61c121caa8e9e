import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseUnreachableError } from '../../platform/database/pooled.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import {
  afterRow,
  type JudgedObject,
  quarantineForItsValues,
  type RegistrationOptions,
  RowMayExistError,
  writeRows,
} from './arrival.ts';
import type { Arrival } from './study-store.ts';

/**
 * Maximum number of objects per transaction. More would lock the rows of their studies for too
 * long.
 */
const MOST_TOGETHER = 200;
/**
 * Maximum number of acknowledged objects waiting for their rows. Further objects have to wait;
 * while the database is unreachable, they are refused.
 */
export const MOST_OUTSTANDING = 1000;
/**
 * Milliseconds for which objects are collected before a transaction begins, unless someone is
 * waiting for their rows. A transaction for 200 objects costs less than twice as much as one for 25.
 */
const COLLECT_MS = 500;
/**
 * If no further object arrives within this many milliseconds, the senders have paused. A
 * transaction then begins before `COLLECT_MS` is over.
 */
const PAUSE_MS = 50;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 1000;

/**
 * Thrown if the gateway stops before the object has its row. The row is written at the next
 * startup.
 */
class LeftForNextStartError extends Error {
  override name = 'LeftForNextStartError';
}

interface Waiting {
  object: JudgedObject;
  impatient: boolean;
  resolve(arrival: Arrival): void;
  reject(error: unknown): void;
}

/**
 * Writes the rows of received objects. While one transaction runs, the objects of all associations
 * are collected for the next one. A busy gateway therefore writes a few large transactions, and on
 * an idle gateway no object has to wait.
 */
export class Registrar {
  readonly #options: RegistrationOptions;
  readonly #stopped = new AbortController();
  #waiting: Waiting[] = [];
  #writing: readonly Waiting[] = [];
  #running: Promise<void> | null = null;
  #databaseAway = false;
  #hurried = false;
  #senderPause: NodeJS.Timeout | undefined;
  /** Begins the transaction for which objects are being collected. */
  #begin = () => {};
  /** Calls of `room` that are waiting. */
  #forRoom: PromiseWithResolvers<void>[] = [];

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /**
   * Registers an object whose file is durable. While the database is unreachable, the object keeps
   * waiting, unless it is `impatient`: then it fails at once with the database error.
   * @returns its row, once committed.
   * @throws SonogateError if the object was quarantined; LeftForNextStartError; for an `impatient`
   * object also the database error.
   */
  register(object: JudgedObject, impatient = false): Promise<Arrival> {
    const recorded = new Promise<Arrival>((resolve, reject) => {
      this.#waiting.push({ object, impatient, resolve, reject });
    });
    this.#senderPause?.refresh();
    if (impatient || this.#waiting.length >= MOST_TOGETHER) this.#begin();
    this.#running ??= this.#run();
    return recorded;
  }

  /** Writes the waiting rows at once, because someone needs them. */
  hurry(): void {
    this.#hurried = this.#waiting.length > 0;
    this.#begin();
  }

  /**
   * Called when an object begins to arrive. Resolves when one more object may be acknowledged.
   * @throws SonogateError `overloaded` if the database is unreachable, or the gateway stops.
   */
  async room(): Promise<void> {
    this.#senderPause?.refresh();
    while (this.#waiting.length + this.#writing.length >= MOST_OUTSTANDING) {
      if (this.#databaseAway) throw new SonogateError('overloaded');
      const room = Promise.withResolvers<void>();
      this.#forRoom.push(room);
      await room.promise;
    }
  }

  /** Returns the Study Instance UIDs of the objects still waiting for their rows. */
  outstanding(): string[] {
    const objects = [...this.#waiting, ...this.#writing].map(({ object }) => object);
    return [...new Set(objects.map(({ header }) => header.studyInstanceUid))];
  }

  /**
   * Writes the waiting rows. If the database is unreachable, those that remain are written at the
   * next startup.
   */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#begin();
    await this.#running;
    for (const { reject } of this.#waiting.splice(0)) reject(new LeftForNextStartError());
    for (const { reject } of this.#forRoom.splice(0)) reject(new SonogateError('overloaded'));
  }

  async #run(): Promise<void> {
    let wait = FIRST_PAUSE_MS;
    while (this.#waiting.length > 0) {
      await this.#due();
      this.#writing = this.#waiting.slice(0, MOST_TOGETHER);
      this.#waiting = this.#waiting.slice(MOST_TOGETHER);
      this.#hurried &&= this.#waiting.length > 0;
      const again = await this.#write(this.#writing);
      this.#writing = [];
      for (const { resolve } of this.#forRoom.splice(0)) resolve();
      if (again.length === 0) {
        wait = FIRST_PAUSE_MS;
        continue;
      }
      // These objects go to the end of the queue, so that an object that fails even alone does not
      // delay the others.
      this.#waiting.push(...again);
      const { signal } = this.#stopped;
      if (signal.aborted) break;
      await pause(wait, undefined, { signal }).catch(() => {});
      wait = Math.min(2 * wait, LONGEST_PAUSE_MS);
    }
    this.#running = null;
  }

  /**
   * Resolves when a transaction is due: objects have been collected for long enough, the senders
   * have paused, or someone is waiting for their rows.
   */
  async #due(): Promise<void> {
    const begun = new Promise<void>((resolve) => {
      this.#begin = resolve;
    });
    const enough =
      this.#waiting.length >= MOST_TOGETHER || this.#waiting.some(({ impatient }) => impatient);
    if (this.#stopped.signal.aborted || this.#hurried || enough) return;
    const collected = setTimeout(this.#begin, COLLECT_MS);
    this.#senderPause = setTimeout(this.#begin, PAUSE_MS);
    await begun;
    clearTimeout(collected);
    clearTimeout(this.#senderPause);
    this.#senderPause = undefined;
  }

  /**
   * Records a batch.
   * @returns the objects that have to be tried again.
   */
  async #write(batch: readonly Waiting[]): Promise<Waiting[]> {
    try {
      const arrivals = await writeRows(
        batch.map(({ object }) => object),
        this.#options,
      );
      this.#databaseAway = false;
      for (const [index, { object, resolve }] of batch.entries()) {
        const arrival = arrivals[index];
        if (!arrival) continue;
        await afterRow(object, arrival, this.#options).catch((error) => {
          // The duplicate's file is removed at the next startup.
          this.#options.logger.event('object_leftover', { error: String(error) });
        });
        resolve(arrival);
      }
      return [];
    } catch (error) {
      return await this.#afterFailure(batch, error);
    }
  }

  /** @returns the objects of the batch that have to be tried again. */
  async #afterFailure(batch: readonly Waiting[], error: unknown): Promise<Waiting[]> {
    const [first] = batch;
    const cause = error instanceof RowMayExistError ? error.cause : error;
    this.#databaseAway = cause instanceof DatabaseUnreachableError;
    if (!this.#databaseAway && batch.length > 1) {
      // Each object is tried alone, so that one bad object does not keep the others from getting
      // their rows.
      const again: Waiting[] = [];
      for (const alone of batch) again.push(...(await this.#write([alone])));
      return again;
    }
    if (batch.length === 1 && first) {
      const why = await quarantineForItsValues(first.object, error, this.#options).catch(
        () => null,
      );
      if (why) {
        first.reject(why);
        return [];
      }
    }
    for (const { impatient, reject } of batch) if (impatient) reject(error);
    const delayed = { objects: batch.length, error: String(cause) };
    this.#options.logger.event('rows_delayed', delayed);
    return batch.filter(({ impatient }) => !impatient);
  }
}
