import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { startGateway } from '../../src/app/main.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { siteSettings } from './site.ts';

test('a part that cannot be closed does not keep the others open', async () => {
  const dataDir = await freshDataDir();
  const config = loadConfig({}, siteSettings({ dataDir }, { roles: ['api'] }));
  try {
    const gateway = await startGateway(config, silentLogger);
    const close = gateway.core.close;
    gateway.core.close = () => Promise.reject(new Error('the queue does not close'));
    await expect(gateway.close()).rejects.toThrow('the queue does not close');
    await close();
    // The folder lock of the embedded database is free again.
    await (await startGateway(config, silentLogger)).close();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
