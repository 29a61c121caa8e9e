import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseUnreachableError } from '../../platform/database/pooled.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { EVENTS } from '../../platform/logging/events.ts';
import {
  afterRow,
  type JudgedObject,
  putAsideForItsValues,
  type RegistrationOptions,
  writeRows,
} from './arrival.ts';
import type { Arrival } from './study-store.ts';

/** Objects that one transaction records; more would hold the rows of their studies for too long. */
const MOST_TOGETHER = 200;
/**
 * Acknowledged objects that may wait for their rows. Beyond this number the next objects wait, and
 * while the database is away they are refused.
 */
export const MOST_OUTSTANDING = 1000;
/**
 * Milliseconds for which objects collect before a transaction begins, unless somebody waits for their
 * rows: one transaction for ten objects costs little more than one for a single object.
 */
const COLLECT_MS = 100;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 1000;

/** The gateway stopped before the object got its row; the next start gives it one. */
export class LeftForNextStartError extends Error {
  override name = 'LeftForNextStartError';
}

/**
 * Gives received objects their rows. Objects of all associations that arrived while one transaction
 * ran are recorded by the next one, so a busy gateway writes few large transactions and an idle one
 * lets no object wait.
 */
export interface Registrar {
  /**
   * Takes an object whose file is durable. While the database is away, the object keeps waiting
   * unless it is `impatient`.
   * @returns its row, once it is committed.
   * @throws SonogateError when the object went to the quarantine; LeftForNextStartError; for an
   * impatient object also the error of the database.
   */
  register(object: JudgedObject, impatient?: boolean): Promise<Arrival>;
  /** Somebody waits for the rows of what has arrived: they are written at once. */
  hurry(): void;
  /** Resolves when one more object may be acknowledged. @throws SonogateError `overloaded` */
  room(): Promise<void>;
  /** Study Instance UIDs of the objects that still wait for their rows. */
  outstanding(): string[];
  /** Writes what is waiting, and leaves the rest for the next start when the database is away. */
  stop(): Promise<void>;
}

interface Waiting {
  object: JudgedObject;
  impatient: boolean;
  resolve(arrival: Arrival): void;
  reject(error: unknown): void;
}

export function startRegistrar(options: RegistrationOptions): Registrar {
  let waiting: Waiting[] = [];
  let writing: readonly Waiting[] = [];
  let running: Promise<void> | null = null;
  let databaseAway = false;
  let stopping = false;
  let roomMade: (() => void)[] = [];
  const stopped = new AbortController();
  let begin = () => {};
  let hurried = false;

  /** Resolves when a transaction is due: objects have collected, or somebody waits for their rows. */
  const due = async (): Promise<void> => {
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const enough = waiting.length >= MOST_TOGETHER || waiting.some(({ impatient }) => impatient);
    if (stopping || hurried || enough) return;
    const timer = setTimeout(begin, COLLECT_MS);
    await begun;
    clearTimeout(timer);
  };

  /** Records a batch. @returns the objects that are to be tried again. */
  const write = async (batch: readonly Waiting[]): Promise<Waiting[]> => {
    try {
      const arrivals = await writeRows(
        batch.map(({ object }) => object),
        options,
      );
      databaseAway = false;
      for (const [index, { object, resolve }] of batch.entries()) {
        const arrival = arrivals[index];
        if (!arrival) continue;
        await afterRow(object, arrival, options).catch((error) => {
          // The file of a duplicate is left; the next start removes it.
          options.logger.event(EVENTS.objectLeftover, { error: String(error) });
        });
        resolve(arrival);
      }
      return [];
    } catch (error) {
      return await onFailure(batch, error);
    }
  };

  const onFailure = async (batch: readonly Waiting[], error: unknown): Promise<Waiting[]> => {
    const [first] = batch;
    databaseAway = error instanceof DatabaseUnreachableError;
    if (!databaseAway && batch.length > 1) {
      // One object must not keep the others from their rows.
      const again: Waiting[] = [];
      for (const alone of batch) again.push(...(await write([alone])));
      return again;
    }
    if (batch.length === 1 && first) {
      const why = await putAsideForItsValues(first.object, error, options).catch(() => null);
      if (why) {
        first.reject(why);
        return [];
      }
    }
    for (const { impatient, reject } of batch) if (impatient) reject(error);
    options.logger.event(EVENTS.rowsDelayed, { objects: batch.length, error: String(error) });
    return batch.filter(({ impatient }) => !impatient);
  };

  const run = async (): Promise<void> => {
    let wait = FIRST_PAUSE_MS;
    while (waiting.length > 0) {
      await due();
      writing = waiting.slice(0, MOST_TOGETHER);
      waiting = waiting.slice(MOST_TOGETHER);
      hurried &&= waiting.length > 0;
      const again = await write(writing);
      writing = [];
      for (const proceed of roomMade.splice(0)) proceed();
      if (again.length === 0) {
        wait = FIRST_PAUSE_MS;
        continue;
      }
      // At the end of the queue: an object that fails alone must not hold up the others.
      waiting.push(...again);
      if (stopping) break;
      await pause(wait, undefined, { signal: stopped.signal }).catch(() => {});
      wait = Math.min(2 * wait, LONGEST_PAUSE_MS);
    }
    running = null;
  };

  return {
    register(object, impatient = false) {
      const recorded = new Promise<Arrival>((resolve, reject) => {
        waiting.push({ object, impatient, resolve, reject });
      });
      if (impatient || waiting.length >= MOST_TOGETHER) begin();
      running ??= run();
      return recorded;
    },
    hurry() {
      hurried = waiting.length > 0;
      begin();
    },
    async room() {
      while (waiting.length + writing.length >= MOST_OUTSTANDING) {
        if (databaseAway) throw new SonogateError('overloaded');
        await new Promise<void>((resolve) => roomMade.push(resolve));
      }
    },
    outstanding: () => [
      ...new Set([...waiting, ...writing].map(({ object }) => object.header.studyInstanceUid)),
    ],
    async stop() {
      stopping = true;
      stopped.abort();
      begin();
      await running;
      for (const { reject } of waiting.splice(0)) reject(new LeftForNextStartError());
      roomMade = [];
    },
  };
}
