import { ConfigError, loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { fixedRules, followRules, type RulesSource } from '../../dimse/routing/rules-source.ts';
import { createLogger, type Logger } from '../logging/logger.ts';
import { startGateway } from '../main.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/** The site's file may change its rules, for destinations that this gateway has. */
function rulesOf(config: Config, logger: Logger): RulesSource {
  const file = process.env.SONOGATE_CONFIG;
  if (!file) return fixedRules(config.routing);
  const read = () => {
    const { routing } = loadConfig();
    const named = routing.rules.flatMap(({ deliverTo, forwardTo }) => [...deliverTo, ...forwardTo]);
    const running = new Set(config.destinations.map(({ name }) => name));
    const missing = named.filter((name) => !running.has(name));
    if (missing.length === 0) return routing;
    throw new ConfigError(`Restart the gateway for new destinations: ${missing.join(', ')}.`);
  };
  return followRules(file, { first: config.routing, read, logger });
}

/** Runs the gateway until SIGINT or SIGTERM, then ends what is open in order. */
export async function serve(): Promise<void> {
  const config = loadConfig();
  const logger = createLogger(config.logging.level);
  const gateway = await startGateway(config, logger, rulesOf(config, logger));
  stopOnSignal(gateway, config.shutdown, logger);
}
