import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsOn } from '../../../src/operations/commands.ts';
import {
  adminSocketPath,
  callAdminSocket,
  NoGatewayError,
  serveAdminSocket,
} from '../../../src/operations/socket.ts';
import { SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { NO_OPERATIONS } from './no-operations.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'sonogate-admin-'));

describe('admin socket', () => {
  it('answers a command, and only to the owner of the process', async () => {
    const dataDir = folder();
    const server = await serveAdminSocket(
      dataDir,
      async (name, n) => JSON.stringify({ [name]: Number(n) * 2 }),
      silentLogger,
    );
    expect(statSync(adminSocketPath(dataDir)).mode & 0o777).toBe(0o600);
    await expect(callAdminSocket(dataDir, 'double', 21)).resolves.toBe('{"double":42}');
    await server.close();
  });

  it('passes the code and the sentence of a refusal on', async () => {
    const dataDir = folder();
    const server = await serveAdminSocket(
      dataDir,
      async () => {
        throw new SonogateError('not_found', 'no study has this UID');
      },
      silentLogger,
    );
    await expect(callAdminSocket(dataDir, 'fail', {})).rejects.toMatchObject({
      code: 'not_found',
      detail: 'no study has this UID',
    });
    await server.close();
  });

  it('stays with the first process of a data folder, and is taken over when that is gone', async () => {
    const dataDir = folder();
    const first = await serveAdminSocket(dataDir, async () => '"first"', silentLogger);
    const second = await serveAdminSocket(dataDir, async () => '"second"', silentLogger);
    await expect(callAdminSocket(dataDir, 'who', {})).resolves.toBe('"first"');
    await second.close();
    await expect(callAdminSocket(dataDir, 'who', {})).resolves.toBe('"first"');
    await first.close();
    const third = await serveAdminSocket(dataDir, async () => '"third"', silentLogger);
    await expect(callAdminSocket(dataDir, 'who', {})).resolves.toBe('"third"');
    await third.close();
  });

  it('says that no gateway runs when there is no socket or a stale one', async () => {
    const dataDir = folder();
    await expect(callAdminSocket(dataDir, 'double', 1)).rejects.toBeInstanceOf(NoGatewayError);
  });

  it('stays within the length of a socket address in a deep data folder', () => {
    const deep = join('/srv', 'x'.repeat(120));
    expect(Buffer.byteLength(adminSocketPath(deep))).toBeLessThanOrEqual(100);
    expect(adminSocketPath(deep)).not.toBe(adminSocketPath(`${deep}y`));
  });
});

describe('commands by name', () => {
  it('are those of the table, and nothing that every object has', async () => {
    const run = commandsOn(NO_OPERATIONS, async () => {});
    for (const name of ['constructor', 'toString', 'keys', 'keys.steal']) {
      await expect(run(name, {})).rejects.toThrow('no command');
    }
  });
});
