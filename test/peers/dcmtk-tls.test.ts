import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientTls } from '../../dimse/network/dial.ts';
import { type Listener, listen } from '../../dimse/network/listener.ts';
import { echo as verify } from '../../dimse/send/verification.ts';
import { echo as echoCommand } from '../../src/app/cli/dicom.ts';
import { EXIT } from '../../src/app/cli/exit-status.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { ClientCertificates, type ClientFiles } from '../../src/platform/tls/client-files.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { sendBuffer } from '../dimse/send.ts';
import { DCMTK_INSTALLED, dcmtk, type Program, startListening } from './dcmtk.ts';

const OPENSSL = '/usr/bin/openssl';
const AVAILABLE = DCMTK_INSTALLED && existsSync(OPENSSL);

let folder = '';
const listeners: Listener[] = [];
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  if (!AVAILABLE) return;
  folder = await mkdtemp(join(tmpdir(), 'sonogate-tls-'));
  for (const name of ['gateway', 'cart', 'stranger']) {
    const subject = ['-subj', `/CN=${name}`, '-days', '2'];
    const output = ['-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)];
    execFileSync(
      OPENSSL,
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...output],
      { stdio: 'ignore' },
    );
  }
});
afterAll(async () => {
  for (const listener of listeners) await listener.close(0);
  if (folder) await rm(folder, { recursive: true });
});

async function start(caFile?: string): Promise<string> {
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    tls: {
      certFile: file('gateway.crt'),
      keyFile: file('gateway.key'),
      caFile,
      minVersion: '1.2',
    },
    aeTitle: 'SONOGATE',
    maxPduBytes: 131_072,
    maxAssociations: 4,
    offer: () => ({ preferred: [], others: ['1.2.840.10008.1.2'] }),
    admit: () => ({ idleTimeoutSeconds: 30 }),
    storage: {
      open: () => Promise.reject(new Error('nothing is stored here')),
      ended: async () => {},
    },
    logger: silentLogger,
  });
  listeners.push(listener);
  return String(listener.port);
}

const echo = (port: string, tls: readonly string[]) =>
  dcmtk('echoscu', [...tls, '-aec', 'SONOGATE', '127.0.0.1', port]);
const as = (name: string) => ['+tls', file(`${name}.key`), file(`${name}.crt`), '-ic'];

describe.skipIf(!AVAILABLE)('the listener with TLS', () => {
  test('answers a C-ECHO over TLS, but not without TLS', async () => {
    const port = await start();
    expect(await echo(port, ['+tla', '-ic'])).toMatchObject({ exitCode: 0 });
    expect((await echo(port, [])).exitCode).not.toBe(0);
  });

  test('accepts only peers with a certificate from its CA, if it has one', async () => {
    const port = await start(file('cart.crt'));
    expect(await echo(port, as('cart'))).toMatchObject({ exitCode: 0 });
    expect((await echo(port, as('stranger'))).exitCode).not.toBe(0);
    expect((await echo(port, ['+tla', '-ic'])).exitCode).not.toBe(0);
  });
});

describe.skipIf(!AVAILABLE)('a PACS contacted over TLS', () => {
  let pacs: Program;

  beforeAll(async () => {
    pacs = await startListening('storescp', (port) => [
      ...['+tls', file('gateway.key'), file('gateway.crt')],
      ...['+cf', file('cart.crt'), '-rc', '-od', folder, String(port)],
    ]);
  });
  afterAll(() => pacs?.stop());

  const node = (tls?: ClientFiles & { serverName?: string }) => ({
    host: '127.0.0.1',
    port: pacs.port,
    aeTitle: 'PACS',
    callingAeTitle: 'SONOGATE',
    timeoutSeconds: 10,
    tls: clientTls(tls, new ClientCertificates()),
  });
  const trusted = () => ({ caFile: file('gateway.crt'), serverName: 'gateway' });
  const ours = () => ({ certFile: file('cart.crt'), keyFile: file('cart.key') });
  const object = dicomFile({ sopInstanceUid: '1.2.3.1', studyInstanceUid: '1.2.3' });

  test('accepts objects and a C-ECHO from a caller with a certificate', async () => {
    const tls = { ...trusted(), ...ours() };
    expect(await sendBuffer(node(tls), object)).toMatchObject({ outcome: 'stored' });
    expect(await verify(node(tls))).toMatchObject({ status: 0 });
  });

  test.each<[string, () => Parameters<typeof echoCommand>[1], boolean]>([
    ['with the files of TLS', () => ({ ...trusted(), ...ours() }), true],
    ['that names none of them', () => ({}), false],
    ['that trusts only public authorities', () => ({ tls: true, ...ours() }), false],
    ['without a certificate', trusted, false],
  ])('answers the command echo %s, or refuses it', async (_how, options, answers) => {
    const text = `PACS@127.0.0.1:${pacs.port}`;
    expect((await echoCommand(text, options())) === EXIT.success).toBe(answers);
  });

  test.each<[string, () => Parameters<typeof node>[0]]>([
    ['without one of ours', trusted],
    ['whose authority we do not trust', ours],
    ['whose certificate names another', () => ({ ...trusted(), ...ours(), serverName: 'other' })],
    ['in the clear', () => undefined],
  ])('gets nothing %s', async (_what, tls) => {
    expect(await sendBuffer(node(tls()), object)).toMatchObject({ outcome: 'failed' });
  });

  test('gets nothing when our certificate cannot be read, and the error says so', async () => {
    const result = await sendBuffer(node({ ...trusted(), certFile: file('absent.crt') }), object);
    expect(result).toMatchObject({ code: 'invalid_config' });
    expect(result.detail).toContain('absent.crt');
  });
});
