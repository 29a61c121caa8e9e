import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { startGateway } from '../../src/app/main.ts';
import { createAuditWriter } from '../../src/core/audit/audit.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openDatabase } from '../../src/platform/database/open.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { siteSettings } from './site.ts';

const HOUR_MS = 3_600_000;

test('a clock that was set back while the gateway was stopped is noticed at the start', async () => {
  const dataDir = await freshDataDir();
  const config = loadConfig({}, siteSettings({ dataDir }, { roles: ['api'] }));
  const database = await openDatabase({ dataDir, logger: silentLogger });
  await migrate(database);
  const at = new Date(Date.now() + HOUR_MS);
  const entry = { actor: 'gateway', action: 'gateway.stop', outcome: 'success' } as const;
  await createAuditWriter(database)({ ...entry, at });
  await database.query(
    `INSERT INTO destination_holds VALUES ('archive', now() + interval '1 hour')`,
  );
  await database.close();
  const jumps: unknown[] = [];
  const logger = {
    ...silentLogger,
    event: (id: string, fields?: object) => {
      if (id === 'clock_jumped') jumps.push(fields);
    },
  };
  try {
    await (await startGateway(config, logger)).close();
    // The entry of the first start shows the new time.
    await (await startGateway(config, logger)).close();
    expect(jumps).toEqual([{ seconds: expect.closeTo(-3600, -3) }]);
    const again = await openDatabase({ dataDir, logger: silentLogger });
    const { rows } = await again.query('SELECT 1 FROM destination_holds');
    await again.close();
    expect(rows).toEqual([]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
