/**
 * A process that only receives: `dimse-process.ts DATA_DIR CLOCK_OFFSET_SECONDS`. Prints `listening
 * PORT` and `submitted UNIQUE_KEY FILES`. Tests kill it.
 */
import { loadConfig } from '../../config/load.ts';
import { startDimse } from '../../dimse/gateway.ts';
import { objectsOnDisk } from '../../src/core/files/received-objects.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openDatabase } from '../../src/platform/database/open.ts';
import { createLogger } from '../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../src/platform/tls/client-files.ts';

const [dataDir = '', offsetSeconds = '0'] = process.argv.slice(2);
const config = loadConfig(
  {},
  {
    dataDir,
    dicom: { host: '127.0.0.1', port: 0 },
    // This rule does not depend on the content of the images, which would require another request.
    routing: {
      rules: [
        { name: 'all', when: { modality: 'US' }, run: { endpoint: 'us/obstetric/interpret' } },
      ],
    },
    sources: [
      {
        name: 'this-machine',
        callingAeTitles: ['*'],
        addresses: ['127.0.0.0/8'],
        completion: { signal: 'quiet-time', quietSeconds: 600, afterReleaseSeconds: 5 },
      },
    ],
  },
);
const logger = createLogger('error');
const database = await openDatabase({ dataDir, logger });
await migrate(database);
const gateway = await startDimse({
  certificates: new ClientCertificates(),
  config,
  database,
  objects: objectsOnDisk(dataDir),
  logger,
  now: () => new Date(Date.now() + Number(offsetSeconds) * 1000),
  forward: async () => {},
  submit: async ({ uniqueKey, files }) => {
    process.stdout.write(`submitted ${uniqueKey} ${files.length}\n`);
    return { id: `req_${uniqueKey}`, status: 'queued' };
  },
  result: async () => null,
});
process.stdout.write(`listening ${gateway.port}\n`);
process.once('SIGTERM', async () => {
  await gateway.close();
  await database.close();
  process.exit();
});
