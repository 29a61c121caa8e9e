import { DatabaseUnreachableError } from './database/pooled.ts';
import { EVENTS } from './logging/events.ts';
import type { Logger } from './logging/logger.ts';

export interface Rounds {
  /** No further round begins; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

export interface BegunRounds extends Rounds {
  /** Resolves when the first round has ended, well or not. */
  first: Promise<void>;
}

/** Told how rounds go. */
export interface RoundObserver {
  /** `failures`: how many rounds have failed in a row, this one counted. */
  onError(error: unknown, failures: number): void;
  /** A round got through after failed ones. */
  onRecovery?(): void;
}

export interface RoundParts extends RoundObserver {
  work(): Promise<unknown>;
  /** From the end of a round to the next; a function of the failures in a row backs off. */
  pauseMilliseconds: number | ((failures: number) => number);
  /** One round more when all is stopped, for what has come since the last. */
  onceMoreAtStop?: boolean;
}

/** Works now and again after each pause, one round at a time, until stopped. An error ends only its own round. */
export function startRounds(parts: RoundParts): BegunRounds {
  const { work, pauseMilliseconds: pause } = parts;
  let stopped = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  const round = async () => {
    try {
      await work();
      if (failures > 0) parts.onRecovery?.();
      failures = 0;
    } catch (error) {
      failures += 1;
      parts.onError(error, failures);
    }
  };
  const goOn = async (ended: Promise<void>) => {
    await ended;
    if (stopped) return;
    const wait = typeof pause === 'number' ? pause : pause(failures);
    timer = setTimeout(() => {
      underWay = goOn(round());
    }, wait);
  };
  const first = round();
  let underWay = goOn(first);
  return {
    first,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await underWay;
      if (parts.onceMoreAtStop) await round();
    },
  };
}

/**
 * Logs what befalls rounds once: where a run of failures begins, where its error becomes another, and
 * where it is over. A database that is away is the same for every round and nobody's defect: a warning.
 * @param work what the rounds are for, as a field of the lines.
 * @param log writes the line of any other error.
 */
export function logRounds(
  logger: Logger,
  work: string,
  log: (error: unknown) => void,
): Required<RoundObserver> {
  let told: string | null = null;
  return {
    onError(error) {
      const away = error instanceof DatabaseUnreachableError;
      const what = away ? error.name : String(error);
      if (what === told) return;
      told = what;
      if (away) logger.event(EVENTS.databaseAway, { work, error: error.message });
      else log(error);
    },
    onRecovery() {
      told = null;
      logger.event(EVENTS.workResumed, { work });
    },
  };
}
