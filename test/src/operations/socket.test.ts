import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { commandsOn } from '../../../src/operations/commands.ts';
import {
  adminSocketPath,
  callAdminSocket,
  NoGatewayError,
  serveAdminSocket,
} from '../../../src/operations/socket.ts';
import { DatabaseUnreachableError } from '../../../src/platform/database/pooled.ts';
import { SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { NO_OPERATIONS } from './no-operations.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'sonogate-admin-'));

describe('admin socket', () => {
  it('executes a command, and only for the owner of the process', async () => {
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

  it('passes on the code and the sentence of a refusal', async () => {
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

  it('reports a database that is down as such, not as a fault of the gateway', async () => {
    const dataDir = folder();
    const server = await serveAdminSocket(
      dataDir,
      async () => {
        throw new DatabaseUnreachableError('connect ECONNREFUSED 10.0.0.1:5432');
      },
      silentLogger,
    );
    await expect(callAdminSocket(dataDir, 'deliveries.list', {})).rejects.toMatchObject({
      code: 'database_unreachable',
    });
    await server.close();
  });

  it('belongs to the first process of a data folder, and is taken over once that has ended', async () => {
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

  it('is served even if processes of one folder start and end simultaneously', async () => {
    const dataDir = folder();
    const module = new URL('../../../src/operations/socket.ts', import.meta.url);
    const script = `
      const { serveAdminSocket } = await import(${JSON.stringify(module.href)});
      for (let n = 0; n < 300; n += 1) {
        const served = await serveAdminSocket(process.argv[1], async () => '', { event() {} });
        await served.close();
      }`;
    const starting = () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, dataDir]);
    await Promise.all([starting(), starting(), starting()]);
    const last = await serveAdminSocket(dataDir, async () => '"last"', silentLogger);
    await expect(callAdminSocket(dataDir, 'who', {})).resolves.toBe('"last"');
    await last.close();
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('replaces the file of a process that was killed', async () => {
    const dataDir = folder();
    writeFileSync(adminSocketPath(dataDir), '');
    const server = await serveAdminSocket(dataDir, async () => '"served"', silentLogger);
    await expect(callAdminSocket(dataDir, 'who', {})).resolves.toBe('"served"');
    await server.close();
  });

  it('reports that no gateway is running if there is no socket or a stale one', async () => {
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
  it('are those in the table, excluding properties that every object has', async () => {
    const run = commandsOn(NO_OPERATIONS, async () => {});
    for (const name of ['constructor', 'toString', 'keys', 'keys.steal']) {
      await expect(run(name, {})).rejects.toThrow('no command');
    }
  });
});
