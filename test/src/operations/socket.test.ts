import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  adminSocketPath,
  callAdminSocket,
  NoGatewayError,
  serveAdminSocket,
} from '../../../src/operations/socket.ts';
import { SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'sonogate-admin-'));

describe('admin socket', () => {
  it('answers a command, and only to the owner of the process', async () => {
    const dataDir = folder();
    const server = await serveAdminSocket(
      dataDir,
      { double: async (n) => ({ twice: Number(n) * 2 }) },
      silentLogger,
    );
    expect(statSync(adminSocketPath(dataDir)).mode & 0o777).toBe(0o600);
    await expect(callAdminSocket(dataDir, 'double', 21)).resolves.toEqual({ twice: 42 });
    await server.close();
  });

  it('passes the sentence of an error on, and knows no command that it was not given', async () => {
    const dataDir = folder();
    const server = await serveAdminSocket(
      dataDir,
      {
        fail: async () => {
          throw new SonogateError('not_found', 'no study has this UID');
        },
      },
      silentLogger,
    );
    await expect(callAdminSocket(dataDir, 'fail', {})).rejects.toThrow('no study has this UID');
    await expect(callAdminSocket(dataDir, 'constructor', {})).rejects.toThrow('no command');
    await server.close();
  });

  it('stays with the first process of a data folder, and is taken over when that is gone', async () => {
    const dataDir = folder();
    const first = await serveAdminSocket(dataDir, { who: async () => 'first' }, silentLogger);
    const second = await serveAdminSocket(dataDir, { who: async () => 'second' }, silentLogger);
    await expect(callAdminSocket(dataDir, 'who', {})).resolves.toBe('first');
    await second.close();
    await expect(callAdminSocket(dataDir, 'who', {})).resolves.toBe('first');
    await first.close();
    const third = await serveAdminSocket(dataDir, { who: async () => 'third' }, silentLogger);
    await expect(callAdminSocket(dataDir, 'who', {})).resolves.toBe('third');
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
