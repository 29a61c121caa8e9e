import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, unlink } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dial } from '../../../dimse/network/dial.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { type Authority, makeAuthority, OPENSSL_INSTALLED } from '../../peers/certificates.ts';

describe.skipIf(!OPENSSL_INSTALLED)('a client certificate that is replaced', () => {
  let folder: string;
  let authority: Authority;
  let server: Server;
  let reported: string[];
  let certificates: ClientCertificates;
  const certFile = () => join(folder, 'ours.crt');
  const keyFile = () => join(folder, 'ours.key');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-dial-'));
    authority = makeAuthority(folder);
    const own = authority.issue('pacs');
    server = createServer({
      cert: await readFile(own.certFile),
      key: await readFile(own.keyFile),
      ca: await readFile(authority.caFile),
      requestCert: true,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    reported = [];
    certificates = new ClientCertificates((error, files) =>
      reported.push(`${files.certFile}: ${error}`),
    );
  });
  afterEach(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  /** Returns the common name of the certificate that the server receives. */
  async function presented(): Promise<unknown> {
    const { port } = server.address() as AddressInfo;
    const served = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const tls = {
      ...{ caFile: authority.caFile, certFile: certFile(), keyFile: keyFile() },
      serverName: 'pacs.hospital.example',
      certificates,
    };
    const socket = await dial({ host: '127.0.0.1', port, tls });
    const [accepted] = await served;
    const { CN } = accepted.getPeerCertificate().subject;
    accepted.destroy();
    socket.destroy();
    return CN;
  }

  test('stays in use until the key of the new one is there', async () => {
    const old = authority.issue('gateway-2026');
    const renewed = authority.issue('gateway-2027');
    await copyFile(old.certFile, certFile());
    await copyFile(old.keyFile, keyFile());
    expect(await presented()).toBe('gateway-2026');
    await copyFile(renewed.certFile, certFile());
    expect(await presented()).toBe('gateway-2026');
    expect(await presented()).toBe('gateway-2026');
    expect(reported).toEqual([expect.stringMatching(/ours\.crt: .*key values mismatch/)]);
    await unlink(keyFile());
    expect(await presented()).toBe('gateway-2026');
    await copyFile(renewed.keyFile, keyFile());
    expect(await presented()).toBe('gateway-2027');
    expect(reported).toHaveLength(2);
  });

  test('is an error if there never was one that could be used', async () => {
    const old = authority.issue('gateway-2026');
    await copyFile(old.certFile, certFile());
    await expect(presented()).rejects.toMatchObject({ code: 'invalid_config' });
    await copyFile(authority.issue('gateway-2027').keyFile, keyFile());
    await expect(presented()).rejects.toThrow('key values mismatch');
    await copyFile(old.keyFile, keyFile());
    expect(await presented()).toBe('gateway-2026');
    expect(reported).toEqual([]);
  });
});
