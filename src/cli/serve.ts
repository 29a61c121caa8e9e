import { loadConfig } from '../../config/load.ts';
import { createLogger } from '../logging/logger.ts';
import { startGateway } from '../main.ts';

/** Runs the gateway until SIGINT or SIGTERM, then ends what is open in order. */
export async function serve(): Promise<void> {
  const config = loadConfig();
  const logger = createLogger(config.logging.level);
  const gateway = await startGateway(config, logger);
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    gateway.close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'the gateway did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}
