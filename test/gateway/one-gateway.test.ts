import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { startGateway } from '../../src/app/main.ts';
import { adminSocketPath } from '../../src/operations/socket.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { siteSettings } from './site.ts';

const other = createServer();
let dataDir = '';

beforeAll(async () => {
  dataDir = await freshDataDir();
  await new Promise<void>((done) => other.listen(adminSocketPath(dataDir), done));
});
afterAll(async () => {
  other.close();
  await rm(dataDir, { recursive: true, force: true });
});

// Simulates a shared file system whose locks are not exclusive.
test('a gateway does not start on a data folder whose admin socket responds', async () => {
  const started = startGateway(loadConfig({}, siteSettings({ dataDir })), silentLogger);
  await expect(started).rejects.toThrow(`the gateway that serves ${adminSocketPath(dataDir)}`);
});
