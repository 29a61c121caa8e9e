import { execFile, execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const OPENSSL = '/usr/bin/openssl';
export const OPENSSL_INSTALLED = existsSync(OPENSSL);

const run = (args: readonly string[]) => execFileSync(OPENSSL, args, { stdio: 'ignore' });
const KEY = ['-newkey', 'rsa:2048', '-nodes'];

export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

/** A hospital's certificate authority, as files in a folder. */
export interface Authority {
  caFile: string;
  /** Issues a certificate for `name` (used as CN, O and DNS name), signed by the authority. */
  issue(name: string): CertificateFiles;
}

/** Creates an authority that signs with SHA-256. */
export function makeAuthority(folder: string, name = 'authority'): Authority {
  const file = (of: string, end: string) => join(folder, `${of}.${end}`);
  const caFile = file(name, 'crt');
  run([
    ...['req', '-x509', ...KEY, '-days', '2', '-subj', `/CN=${name}`],
    ...['-keyout', file(name, 'key'), '-out', caFile],
  ]);
  return {
    caFile,
    issue(of) {
      const [certFile, keyFile, request] = [file(of, 'crt'), file(of, 'key'), file(of, 'csr')];
      const subject = `/O=Example Hospital/CN=${of}`;
      run(['req', ...KEY, '-subj', subject, '-keyout', keyFile, '-out', request]);
      writeFileSync(file(of, 'ext'), `subjectAltName=DNS:${of}.hospital.example\n`);
      run([
        ...['x509', '-req', '-in', request, '-days', '2', '-extfile', file(of, 'ext')],
        ...['-CA', caFile, '-CAkey', file(name, 'key'), '-CAcreateserial', '-out', certFile],
      ]);
      return { certFile, keyFile };
    },
  };
}

/** Asynchronous because the listener under test runs in this process and must not be blocked. */
function sClient(port: number, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const connect = ['s_client', '-connect', `127.0.0.1:${port}`, ...args];
    const child = execFile(OPENSSL, connect, { timeout: 10_000 }, (_error, stdout) => {
      resolve(stdout);
    });
    child.stdin?.end();
  });
}

/**
 * Returns the protocol version and cipher suite that `openssl s_client` and a port agree on, or
 * null if they do not agree.
 */
export async function handshake(port: number, args: readonly string[]): Promise<string | null> {
  const output = await sClient(port, args);
  const [, version, suite] = /^New, (TLSv[\d.]+), Cipher is (\S+)$/m.exec(output) ?? [];
  return version && suite ? `${version} ${suite}` : null;
}

/** Returns the subject of the certificate that a port presents. */
export async function servedSubject(port: number): Promise<string> {
  return /^subject=(.*)$/m.exec(await sClient(port, []))?.[1] ?? '';
}
