import { DatabaseUnreachableError } from './database/pooled.ts';
import type { Logger } from './logging/logger.ts';

export interface Rounds {
  /** Starts no more rounds. Resolves when the running one has ended. */
  stop(): Promise<void>;
}

interface BegunRounds extends Rounds {
  /** Resolves when the first round has ended, whether or not it succeeded. */
  first: Promise<void>;
  /** Starts the next round without a pause: now, or as soon as the running one has ended. */
  soon(): void;
}

interface RoundObserver {
  /** `failures` is the number of consecutive failed rounds, including this one. */
  onError(error: unknown, failures: number): void;
  /** Called when a round succeeds after failed ones. */
  onRecovery?(): void;
}

interface RoundParts extends RoundObserver {
  work(): Promise<unknown>;
  /**
   * Pause in milliseconds from the end of a round to the start of the next. A function is passed
   * the number of consecutive failures, so that the pause can grow.
   */
  pauseMilliseconds: number | ((failures: number) => number);
  /** Whether to run one more round when stopping, for work that arrived after the last one. */
  onceMoreAtStop?: boolean;
}

/**
 * Runs `work` now and after each pause, one round at a time, until stopped. An error ends only its
 * own round.
 */
export function startRounds(parts: RoundParts): BegunRounds {
  const { work, pauseMilliseconds: pause } = parts;
  let stopped = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  /** Starts the next round; null while a round is running. */
  let begin: (() => void) | null = null;
  let wanted = false;
  const round = async () => {
    begin = null;
    wanted = false;
    clearTimeout(timer);
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
    begin = () => {
      underWay = goOn(round());
    };
    timer = setTimeout(begin, wanted ? 0 : wait);
  };
  const first = round();
  let underWay = goOn(first);
  return {
    first,
    soon() {
      wanted = true;
      if (!stopped) begin?.();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await underWay;
      if (parts.onceMoreAtStop) await round();
    },
  };
}

/**
 * Runs `work`, and calls `renew` at a fixed interval in milliseconds until `work` ends. However
 * long the work takes, its lease can thus be short, and it ends soon after the process is killed. A
 * failed renewal is ignored: if the lease expires, another process may repeat the work.
 */
export async function whileRenewing<Outcome>(
  { renew, everyMilliseconds }: { renew: () => Promise<unknown>; everyMilliseconds: number },
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const timer = setInterval(() => {
    renew().catch(() => {});
  }, everyMilliseconds);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/**
 * Logs a line when failures begin, when the error changes, and when the work succeeds again. An
 * unreachable database is logged as a warning with the same text for every kind of round, because
 * it is not a defect in the gateway.
 * @param work name of the work, a field in the log lines.
 * @param log writes the line for any other error.
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
      if (away) logger.event('database_away', { work, error: error.message });
      else log(error);
    },
    onRecovery() {
      told = null;
      logger.event('work_resumed', { work });
    },
  };
}
