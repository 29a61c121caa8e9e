import type { Config } from '../../../config/schema.ts';
import type { Database } from '../../platform/database/port.ts';
import type { ErrorCode } from '../../platform/errors/catalogue.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import {
  type BreakerRow,
  claimProbes,
  listBreakers,
  recordProbeFailure,
  recordProbeSuccess,
  secondsUntilProbe,
} from './breaker.ts';
import { endOverdue } from './deliveries.ts';
import type { Deliverer } from './delivery.ts';
import { divert, divertOverdue } from './divert.ts';

/** Seconds after which an unanswered probe has failed. Another process may then probe. */
const PROBE_SECONDS = 90;

interface BreakerParts {
  database: Database;
  deliverers: readonly Deliverer[];
  settings: Config['delivery'];
  alternates: ReadonlyMap<string, string>;
  logger: Logger;
  stopping: AbortSignal;
}

/**
 * Manages destinations with an open breaker. Probes each destination when due. Diverts its waiting
 * deliveries to the alternate once the breaker has been open for `alternateAfterMinutes`. Ends
 * deliveries that have waited for the longest allowed time (`giveUpAfterHours`).
 */
export function createProbes(parts: BreakerParts): {
  /**
   * Starts the probes that are due, and diverts or ends overdue deliveries.
   * @returns the seconds until the next probe is due; null if no probe is planned.
   */
  tend(): Promise<number | null>;
  /** Resolves when no probe is running. */
  settled(): Promise<void>;
} {
  const { database, settings, alternates, logger } = parts;
  const giveUpSeconds = settings.giveUpAfterHours * 3600;
  const probing = new Set<Promise<void>>();

  const probe = async (destination: string) => {
    const signal = AbortSignal.any([parts.stopping, AbortSignal.timeout(PROBE_SECONDS * 1000)]);
    const failure = await ask(parts.deliverers, destination, signal);
    if (parts.stopping.aborted) return;
    if (failure === null) {
      logger.event('destination_probed', { destination });
      await recordProbeSuccess(database, destination);
    } else {
      await recordProbeFailure(database, destination, failure, settings.breaker);
    }
  };

  const startProbes = async (open: readonly BreakerRow[]) => {
    const names = open.map(({ destination }) => destination);
    for (const destination of await claimProbes(database, names, PROBE_SECONDS)) {
      const asked = probe(destination)
        .catch((error: unknown) => {
          logger.event('destination_probe_unrecorded', { destination, error: String(error) });
        })
        .finally(() => probing.delete(asked));
      probing.add(asked);
    }
  };

  const divertWaiting = async (destination: string, alternate: string) => {
    const patience = { patienceSeconds: settings.alternateAfterMinutes * 60, giveUpSeconds };
    const many = await divertOverdue(database, { destination, alternate }, patience);
    if (many > 0) logger.event('destination_diverted', { destination, alternate, many });
  };

  const endWaiting = async ({ destination, code }: BreakerRow, alternate: string | undefined) => {
    const ended = await database.transaction(async (tx) => {
      const overdue = await endOverdue(tx, destination, code);
      if (alternate === undefined) return overdue;
      for (const delivery of overdue) await divert(tx, delivery, alternate, giveUpSeconds);
      return overdue;
    });
    for (const delivery of ended) {
      logger.event('delivery_given_up', { delivery, destination, code });
    }
  };

  return {
    async tend() {
      const open = (await listBreakers(database)).filter(({ state }) => state === 'open');
      if (open.length === 0) return null;
      await startProbes(open);
      for (const breaker of open) {
        const alternate = alternates.get(breaker.destination);
        if (alternate !== undefined) await divertWaiting(breaker.destination, alternate);
        await endWaiting(breaker, alternate);
      }
      return secondsUntilProbe(database);
    },
    async settled() {
      await Promise.all(probing);
    },
  };
}

/**
 * Probes a destination through the deliverer that serves it. If no deliverer can probe it, null is
 * returned and the oldest delivery is sent as a trial.
 */
async function ask(
  deliverers: readonly Deliverer[],
  destination: string,
  signal: AbortSignal,
): Promise<ErrorCode | null> {
  for (const { probe } of deliverers) {
    const answer = await probe?.(destination, signal);
    if (answer !== undefined) return answer;
  }
  return null;
}
