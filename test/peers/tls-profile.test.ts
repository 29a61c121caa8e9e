import { X509Certificate } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ListenerTls } from '../../config/tls.ts';
import { type Listener, listen } from '../../dimse/network/listener.ts';
import { admitCaller, createSourceLimits } from '../../dimse/receive/admission.ts';
import { createLogger } from '../../src/platform/logging/logger.ts';
import { source } from '../dimse/receive/source.ts';
import {
  type Authority,
  type CertificateFiles,
  handshake,
  makeAuthority,
  OPENSSL_INSTALLED,
  servedSubject,
} from './certificates.ts';
import { DCMTK_INSTALLED, dcmtk } from './dcmtk.ts';

let folder = '';
let hospital: Authority;
let gateway: CertificateFiles;
let cart: CertificateFiles;
let other: CertificateFiles;
let stranger: CertificateFiles;
const listeners: Listener[] = [];

beforeAll(async () => {
  if (!OPENSSL_INSTALLED) return;
  folder = await mkdtemp(join(tmpdir(), 'sonogate-profile-'));
  hospital = makeAuthority(folder);
  [gateway, cart, other] = ['gateway', 'cart', 'other'].map((name) => hospital.issue(name)) as [
    CertificateFiles,
    CertificateFiles,
    CertificateFiles,
  ];
  stranger = makeAuthority(folder, 'elsewhere').issue('stranger');
});
afterAll(async () => {
  for (const listener of listeners) await listener.close(0);
  if (folder) await rm(folder, { recursive: true });
});

interface Seen {
  port: number;
  refused: string[];
  /** Addresses of the peers whose handshake failed. */
  addresses: string[];
  warned: string[];
}

/** Starts a listener that accepts a C-ECHO from `CART`, a title bound to the cart's certificate. */
async function start(tls: Partial<ListenerTls> = {}): Promise<Seen> {
  const refused: string[] = [];
  const addresses: string[] = [];
  const warned: string[] = [];
  const limits = createSourceLimits();
  const sources = [
    source('cart', {
      callingAeTitles: ['CART'],
      certificate: { subject: { CN: 'cart' }, san: ['cart.hospital.example'] },
    }),
    source('any', {}),
  ];
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    tls: { ...gateway, minVersion: '1.2', ...tls },
    aeTitle: 'SONOGATE',
    maxPduBytes: 131_072,
    maxAssociations: 4,
    offer: () => ({ preferred: [], others: ['1.2.840.10008.1.2'] }),
    admit: (peer) => admitCaller(sources, limits, peer),
    onRefused: (_peer, code) => refused.push(code),
    onTlsRefused: (address, reason) => {
      refused.push(reason);
      addresses.push(address);
    },
    certificateEveryMilliseconds: 100,
    storage: {
      open: () => Promise.reject(new Error('nothing is stored here')),
      ended: async () => {},
    },
    logger: createLogger('warn', { write: (line) => warned.push(line) }),
  });
  listeners.push(listener);
  return { port: listener.port, refused, addresses, warned };
}

const echo = async (port: number, title: string, tls: readonly string[]) =>
  (await dcmtk('echoscu', [...tls, '-aet', title, '-aec', 'SONOGATE', '127.0.0.1', `${port}`]))
    .exitCode === 0;
const as = ({ keyFile, certFile }: CertificateFiles) => ['+tls', keyFile, certFile, '-ic'];
const ANONYMOUS = ['+tla', '-ic'];

describe.skipIf(!OPENSSL_INSTALLED)('the profile of RFC 9325', () => {
  test('prefers TLS 1.3 to 1.2, and 256 bits to 128', async () => {
    const { port } = await start();
    expect(await handshake(port, [])).toBe('TLSv1.3 TLS_AES_256_GCM_SHA384');
    expect(await handshake(port, ['-tls1_2'])).toMatch(/^TLSv1.2 ECDHE-RSA-AES256-GCM-SHA384$/);
  });

  test.each([
    ['TLS 1.1', ['-tls1_1', '-cipher', 'ALL:@SECLEVEL=0']],
    ['TLS 1.0', ['-tls1', '-cipher', 'ALL:@SECLEVEL=0']],
    ['a suite without forward secrecy', ['-tls1_2', '-cipher', 'AES256-GCM-SHA384']],
    ['a suite in CBC mode', ['-tls1_2', '-cipher', 'ECDHE-RSA-AES256-SHA384']],
    ['a suite without a certificate', ['-tls1_2', '-cipher', 'aNULL:@SECLEVEL=0']],
    ['signatures with SHA-1', ['-tls1_2', '-cipher', 'ALL:@SECLEVEL=0', '-sigalgs', 'RSA+SHA1']],
  ])('refuses %s', async (_what, args) => {
    expect(await handshake((await start()).port, args)).toBeNull();
  });

  test('with minVersion 1.3 refuses 1.2', async () => {
    const { port } = await start({ minVersion: '1.3' });
    expect(await handshake(port, ['-tls1_2'])).toBeNull();
    expect(await handshake(port, ['-tls1_3'])).toContain('TLSv1.3');
  });
});

describe.skipIf(!OPENSSL_INSTALLED || !DCMTK_INSTALLED)('client certificates', () => {
  test.each([
    ['none', true, true, true],
    ['want', true, true, false],
    ['require', false, true, false],
  ] as const)('%s: anonymous %s, of our authority %s, of another %s', async (mode, ...taken) => {
    const { port } = await start({ caFile: hospital.caFile, clientCertificate: mode });
    const callers = [ANONYMOUS, as(other), as(stranger)];
    const answers = [];
    for (const tls of callers) answers.push(await echo(port, 'ANYONE', tls));
    expect(answers).toEqual(taken);
  });

  test('a title bound to a certificate is refused to everyone else, with 1/1/3', async () => {
    const seen = await start({ caFile: hospital.caFile, clientCertificate: 'want' });
    expect(await echo(seen.port, 'CART', as(cart))).toBe(true);
    const wrong = await dcmtk('echoscu', [
      ...as(other),
      ...['-d', '-aet', 'CART', '-aec', 'SONOGATE', '127.0.0.1', `${seen.port}`],
    ]);
    expect(wrong.output).toContain('Calling AE Title Not Recognized');
    expect(await echo(seen.port, 'CART', ANONYMOUS)).toBe(false);
    expect(seen.refused).toEqual(Array(2).fill('certificate_not_of_calling_ae'));
  });

  test('a handshake that fails is reported with its reason and the address', async () => {
    const seen = await start({ caFile: hospital.caFile });
    await echo(seen.port, 'CART', as(stranger));
    await echo(seen.port, 'CART', []);
    expect(seen.refused).toHaveLength(2);
    expect(seen.refused.join()).toMatch(/CERT|VERIFY|ISSUER/);
    expect(seen.addresses).toEqual(['127.0.0.1', '127.0.0.1']);
  });
});

describe.skipIf(!OPENSSL_INSTALLED)('a renewed certificate', () => {
  test('is presented to new callers; without its key it is not used until the key arrives', async () => {
    const files = { certFile: join(folder, 'live.crt'), keyFile: join(folder, 'live.key') };
    copyFileSync(gateway.certFile, files.certFile);
    copyFileSync(gateway.keyFile, files.keyFile);
    const { port, warned } = await start(files);
    expect(await servedSubject(port)).toContain('gateway');
    copyFileSync(other.certFile, files.certFile);
    await expect.poll(() => warned.join()).toContain('new certificate cannot be used yet');
    expect(await servedSubject(port)).toContain('gateway');
    copyFileSync(other.keyFile, files.keyFile);
    await expect.poll(() => servedSubject(port)).toContain('other');
    expect(new X509Certificate(readFileSync(files.certFile)).subject).toContain('CN=other');
  });
});
