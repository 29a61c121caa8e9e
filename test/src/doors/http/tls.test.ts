import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { responseHeaders } from '../../../../src/doors/http/middleware.ts';
import { type HttpServer, startHttp } from '../../../../src/doors/http/server.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import {
  type Authority,
  handshake,
  makeAuthority,
  OPENSSL_INSTALLED,
  servedSubject,
} from '../../../peers/certificates.ts';

describe.skipIf(!OPENSSL_INSTALLED)('the HTTP door with TLS', () => {
  let folder = '';
  let authority: Authority;
  const servers: HttpServer[] = [];
  const files = () => ({ certFile: join(folder, 'live.crt'), keyFile: join(folder, 'live.key') });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-https-'));
    authority = makeAuthority(folder);
    await use('gateway');
    authority.issue('client');
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  async function use(name: string): Promise<void> {
    const issued = authority.issue(name);
    await copyFile(issued.certFile, files().certFile);
    await copyFile(issued.keyFile, files().keyFile);
  }

  async function start(tls: object = {}): Promise<HttpServer> {
    const app = new Koa();
    app.use(responseHeaders({ config: { maxBodyBytes: 1, maxFileBytes: 1 } }));
    app.use((context) => {
      context.body = 'here';
    });
    const server = await startHttp(app, {
      host: '127.0.0.1',
      port: 0,
      tls: { ...files(), minVersion: '1.2', ...tls },
      certificateEveryMs: 100,
      logger: silentLogger,
    });
    servers.push(server);
    return server;
  }

  /** Returns the status and the HSTS header of a response, or null if there was no response. */
  const call = (port: number, options: object = {}) =>
    new Promise<{ status?: number; hsts?: string } | null>((resolve) => {
      const ca = readFileSync(authority.caFile);
      const servername = 'gateway.hospital.example';
      const sent = request({ host: '127.0.0.1', port, ca, servername, ...options }, (answer) => {
        answer.resume();
        resolve({
          status: answer.statusCode,
          hsts: answer.headers['strict-transport-security'],
        });
      });
      sent.on('error', () => resolve(null));
      sent.end();
    });

  test('answers over HTTPS, with HSTS, and accepts no old protocol', async () => {
    const server = await start();
    expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
    expect(await call(server.port)).toEqual({ status: 200, hsts: 'max-age=31536000' });
    expect(await handshake(server.port, ['-tls1_1', '-cipher', 'ALL:@SECLEVEL=0'])).toBeNull();
    await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow();
  });

  test('presents a renewed certificate to new callers', async () => {
    const { port } = await start();
    await use('renewed');
    await expect.poll(() => servedSubject(port)).toContain('renewed');
    await use('gateway');
  });

  test('with a client authority accepts only clients with a certificate from it', async () => {
    const { port } = await start({ caFile: authority.caFile });
    expect(await call(port)).toBeNull();
    const own = {
      cert: readFileSync(join(folder, 'client.crt')),
      key: readFileSync(join(folder, 'client.key')),
    };
    expect(await call(port, own)).toMatchObject({ status: 200 });
  });
});
