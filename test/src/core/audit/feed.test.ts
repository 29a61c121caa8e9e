import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tlsOptions } from '../../../../dimse/network/dial.ts';
import type { AuditEntry } from '../../../../src/core/audit/audit.ts';
import { createAuditWriter } from '../../../../src/core/audit/audit.ts';
import { dicomAuditMessage } from '../../../../src/core/audit/dicom-message.ts';
import { type AuditFacts, factsOf } from '../../../../src/core/audit/facts.ts';
import { startAuditFeed } from '../../../../src/core/audit/feed.ts';
import { createRefusalAudit } from '../../../../src/core/audit/refusals.ts';
import { loadSealKey, sealAudit } from '../../../../src/core/audit/seal.ts';
import { syslogMessage, syslogOverTls, syslogOverUdp } from '../../../../src/core/audit/syslog.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../../../src/platform/tls/client-files.ts';
import { makeAuthority, OPENSSL_INSTALLED } from '../../../peers/certificates.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../peers/database.ts';
import { auditRow, SITE } from './sample.ts';

const AT = { at: new Date('2026-03-04T05:06:07.089Z'), hostName: 'a b', processId: 7 };
const HEADER = '<85>1 2026-03-04T05:06:07.089Z a-b sonogate 7 DICOM+RFC3881 - \ufeff<?xml';

describe('syslog', () => {
  test('a message has the header of RFC 5424 and its text after a byte order mark', () => {
    const xml = dicomAuditMessage(factsOf(auditRow('gateway.start'), null, SITE));
    expect(syslogMessage(xml, AT).toString()).toMatch(
      new RegExp(`^${HEADER.replace(/[<?+]/g, '\\$&')}`),
    );
  });

  test('over UDP each message is a datagram', async () => {
    const receiver = createSocket('udp4');
    receiver.bind(0, '127.0.0.1');
    await once(receiver, 'listening');
    const arrived = once(receiver, 'message');
    const sender = syslogOverUdp({ host: '127.0.0.1', port: receiver.address().port });
    await sender.send([Buffer.from('<85>1 one')]);
    expect(String((await arrived)[0])).toBe('<85>1 one');
    receiver.close();
  });

  test('over TLS fails if the repository accepts the connection but does not answer the handshake', async () => {
    const silent = createTcpServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const sender = syslogOverTls({ host: '127.0.0.1', port }, async () => ({}), 200);
    await expect(sender.send([Buffer.from('one')])).rejects.toThrow('no progress');
    silent.close();
  });
});

describe.skipIf(!OPENSSL_INSTALLED)('syslog over TLS', () => {
  let folder = '';
  let server: Server;
  let received = '';
  const sockets = new Set<TLSSocket>();
  let sender: ReturnType<typeof syslogOverTls>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-syslog-'));
    const authority = makeAuthority(folder);
    const [repository, gateway] = [authority.issue('arr'), authority.issue('gateway')];
    server = createServer(
      {
        cert: readFileSync(repository.certFile),
        key: readFileSync(repository.keyFile),
        ca: readFileSync(authority.caFile),
        requestCert: true,
        rejectUnauthorized: true,
      },
      (socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('data', (bytes) => {
          received += bytes.toString();
        });
      },
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const tls = {
      ...{ caFile: authority.caFile, serverName: 'arr.hospital.example', ...gateway },
      certificates: new ClientCertificates(),
    };
    sender = syslogOverTls({ host: '127.0.0.1', port }, () => tlsOptions(tls, '127.0.0.1'));
  });
  afterAll(async () => {
    sender.close();
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(folder, { recursive: true });
  });

  test('messages are framed by their length in bytes, on one connection that is reopened when lost', async () => {
    await sender.send([Buffer.from('é1'), Buffer.from('two')]);
    await expect.poll(() => received).toBe('3 é13 two');
    for (const socket of sockets) socket.destroy();
    await expect
      .poll(async () => {
        await sender.send([Buffer.from('again')]).catch(() => {});
        return received;
      })
      .toContain('5 again');
    expect(sockets.size).toBeGreaterThan(1);
  });
});

describe('an audit repository', () => {
  let fresh: OpenDatabase;
  let dataDir = '';
  let database: PooledDatabase;
  beforeAll(async () => {
    fresh = await openFreshDatabase();
    ({ database, dataDir } = fresh);
  });
  afterAll(async () => {
    await fresh.close();
  });

  test('that could not be reached receives what it missed, in order, and only sealed rows', async () => {
    const write = createAuditWriter(database);
    for (const row of [1, 2, 3]) {
      await write({ at: new Date(), action: 'gateway.start', actor: 'gateway', detail: { row } });
    }
    await sealAudit(database, await loadSealKey(dataDir), new Date());
    await write({ at: new Date(), action: 'gateway.stop', actor: 'gateway' });

    const attempts: string[][] = [];
    const told: string[] = [];
    let away = true;
    const parts = {
      name: 'repository',
      database,
      subjectsOf: async () => new Map(),
      site: SITE,
      logger: silentLogger,
      async send(events: readonly AuditFacts[]) {
        const rows = events.map(({ row }) => row);
        attempts.push(rows);
        if (away) throw new Error('away');
        told.push(...rows);
      },
    };
    const feeds = [startAuditFeed(parts), startAuditFeed(parts)];
    await expect.poll(() => attempts.length).toBeGreaterThan(1);
    away = false;
    await expect.poll(() => told).toEqual(['1', '2', '3']);
    for (const feed of feeds) await feed.stop();
    for (const rows of attempts) expect(rows).toEqual(['1', '2', '3']);
    expect(told).toEqual(['1', '2', '3']);
  });
});

describe('refusals', () => {
  test('from one address are written once and then counted, separately for each address', async () => {
    const written: AuditEntry[] = [];
    const audit = createRefusalAudit({
      writeAudit: async (entry) => {
        written.push(entry);
      },
      logger: silentLogger,
      windowMilliseconds: 60_000,
    });
    const from = (address: string) =>
      audit.refused({ action: 'dicom.refused', actor: 'ae:X', address });
    for (let n = 0; n < 500; n++) from('10.0.0.1');
    from('10.0.0.2');
    expect(written.map(({ address }) => address)).toEqual(['10.0.0.1', '10.0.0.2']);
    await audit.stop();
    expect(written.slice(2)).toMatchObject([
      { address: '10.0.0.1', outcome: 'refused', detail: { times: 499 } },
    ]);
  });

  test('of keys are counted separately for each key, even from one address', () => {
    const written: AuditEntry[] = [];
    const audit = createRefusalAudit({
      writeAudit: async (entry) => {
        written.push(entry);
      },
      logger: silentLogger,
    });
    for (const keyId of ['key_1', 'key_2', 'key_1']) {
      audit.refused({ action: 'permission.refused', keyId, address: '10.0.0.1' });
    }
    expect(written.map(({ keyId }) => keyId)).toEqual(['key_1', 'key_2']);
    return audit.stop();
  });

  test('from more addresses than are listed separately are counted together', async () => {
    let rows = 0;
    const audit = createRefusalAudit({
      writeAudit: async () => {
        rows += 1;
      },
      logger: silentLogger,
    });
    for (let n = 0; n < 5000; n++) {
      audit.refused({
        action: 'key.refused',
        actor: 'key:unknown',
        address: `10.0.${n >> 8}.${n & 255}`,
      });
    }
    await audit.stop();
    expect(rows).toBe(1002);
  });
});
