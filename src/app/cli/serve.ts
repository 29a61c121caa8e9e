import { flushCompileCache } from 'node:module';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError, loadConfig } from '../../../config/load.ts';
import type { Config } from '../../../config/schema.ts';
import { requireUsableRules } from '../../core/studies/rules/check-rules.ts';
import {
  fixedRules,
  followRules,
  type RulesSource,
} from '../../core/studies/rules/rules-source.ts';
import { createLogger, type Logger } from '../../platform/logging/logger.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { type Gateway, startGateway } from '../main.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Ends the gateway on a signal.
 *
 *   serving ──signal──▶ not ready (readinessSeconds) ──▶ closing ──▶ exit 0
 *                            │ second signal               │ second signal: exit 128 + its number
 *                            ▼                             ▼ graceSeconds over: exit 1
 *                        closing                        ended
 *
 * Acknowledged work is never lost: interrupted work is claimed again when its lease ends.
 */
function stopOnSignal(
  gateway: Pick<Gateway, 'announceStop' | 'close'>,
  { readinessSeconds, graceSeconds }: Config['shutdown'],
  logger: Logger,
): void {
  const waiting = new AbortController();
  let state: 'serving' | 'not_ready' | 'closing' = 'serving';

  const close = async () => {
    const late = setTimeout(() => {
      logger.event('gateway_stop_slow', { graceSeconds });
      process.exit(1);
    }, graceSeconds * 1000);
    try {
      await gateway.close();
      process.exit(0);
    } catch (error) {
      logger.event('gateway_stop_failed', { err: error });
      process.exit(1);
    } finally {
      clearTimeout(late);
    }
  };

  const onSignal = (signal: (typeof SIGNALS)[number]) => {
    switch (state) {
      case 'serving':
        state = 'not_ready';
        logger.event('gateway_stopping', { signal });
        gateway.announceStop();
        void delay(readinessSeconds * 1000, null, { signal: waiting.signal })
          .catch(() => {})
          .then(() => {
            state = 'closing';
            return close();
          });
        return;
      case 'not_ready':
        waiting.abort();
        return;
      case 'closing':
        logger.event('gateway_stop_forced', { signal });
        process.exit(128 + constants.signals[signal]);
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

/**
 * Watches the rules in the configuration file. Changed rules may refer only to destinations that
 * this gateway already has.
 */
function rulesOf(config: Config, logger: Logger): RulesSource {
  const file = process.env.SONOGATE_CONFIG;
  if (!file) return fixedRules(config.routing);
  const read = (path: string) => {
    const { routing } = loadConfig({ ...process.env, SONOGATE_CONFIG: path });
    requireUsableRules(routing, ENDPOINTS);
    const named = routing.rules.flatMap(({ deliverTo, forwardTo, deidentifyTo }) => [
      ...deliverTo,
      ...forwardTo,
      ...deidentifyTo,
    ]);
    const running = new Set(config.destinations.map(({ name }) => name));
    const missing = named.filter((name) => !running.has(name));
    if (missing.length === 0) return routing;
    throw new ConfigError(`Restart the gateway to use new destinations: ${missing.join(', ')}.`);
  };
  return followRules(file, { first: config.routing, read, logger });
}

/** Runs the gateway until SIGINT or SIGTERM, then closes its parts in order. */
export async function serve(): Promise<void> {
  const config = loadConfig();
  const logger = createLogger(config.logging.level);
  const gateway = await startGateway(config, logger, rulesOf(config, logger));
  stopOnSignal(gateway, config.shutdown, logger);
  // Without this call, Node.js would write the compile cache only on an orderly exit.
  flushCompileCache();
}
