import { createLogger } from '../../../../src/platform/logging/logger.ts';
import { openSite } from '../requests/site.ts';

/**
 * A whole gateway core in a separate process that a test can kill. Arguments: the data folder, and
 * the behavior of a request to submit. Prints the request's id, then each status that it reaches.
 */
const [dataDir = '', behaviour] = process.argv.slice(2);
const site = await openSite({ dataDir, logger: createLogger('warn') });
await site.startWorker();
if (behaviour) {
  const id = await site.submit(behaviour, {}, { seconds: 60 });
  process.stdout.write(`${id}\n`);
  for await (const { name, data } of site.core.events.follow(
    id,
    0,
    '',
    new AbortController().signal,
  )) {
    if (name === 'status') process.stdout.write(`${(data as { status: string }).status}\n`);
  }
}
