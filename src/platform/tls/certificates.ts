import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { type Server as NetServer, Socket } from 'node:net';
import {
  createSecureContext,
  type SecureContextOptions,
  type Server,
  type TLSSocket,
  type TlsOptions,
} from 'node:tls';
import type { CertificateBinding, ListenerTls } from '../../../config/tls.ts';
import { SonogateError } from '../errors/catalogue.ts';
import type { Logger } from '../logging/logger.ts';
import { bcp195 } from './profile.ts';

const LOOK_EVERY_MILLISECONDS = 5000;

/**
 * Returns the mode in use: whether clients are asked for a certificate, and whether those without
 * one are refused.
 */
function clientCertificateMode({ clientCertificate, caFile }: ListenerTls) {
  return clientCertificate ?? (caFile === undefined ? 'none' : 'require');
}

/**
 * Returns TLS server options from the settings.
 * @throws the system error if a file cannot be read.
 * @throws SonogateError `invalid_config` if certificate and key do not match, or if a file is not a
 * certificate or key.
 */
export async function serverOptions(tls: ListenerTls): Promise<TlsOptions & { cert: Buffer }> {
  const mode = clientCertificateMode(tls);
  const options = await contextOptions(tls);
  requireUsable(options, tls);
  return {
    ...options,
    requestCert: mode !== 'none',
    rejectUnauthorized: mode === 'require',
  };
}

type ContextOptions = Omit<SecureContextOptions, 'ca' | 'cert'> & {
  cert: Buffer;
  ca: Buffer | undefined;
};

/**
 * Checks the files. Unlike the errors of OpenSSL, these errors name the file. OpenSSL also accepts
 * a `caFile` without any certificate.
 */
function requireUsable(options: ContextOptions, { certFile, keyFile, caFile }: ListenerTls): void {
  const checked = (files: string, check: () => unknown) => {
    try {
      check();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new SonogateError('invalid_config', `${files} cannot be used: ${why}`, { cause });
    }
  };
  checked(`${certFile} with ${keyFile}`, () => createSecureContext(options));
  const { ca } = options;
  if (ca) checked(`${caFile}`, () => new X509Certificate(ca));
}

async function contextOptions(tls: ListenerTls): Promise<ContextOptions> {
  const [cert, key, ca] = await Promise.all([
    readFile(tls.certFile),
    readFile(tls.keyFile),
    tls.caFile === undefined ? undefined : readFile(tls.caFile),
  ]);
  return { ...bcp195(tls.minVersion), cert, key, ca };
}

/**
 * Uses new certificate files for new handshakes, while existing connections continue. A certificate
 * and key that do not match, for example while they are being replaced, are ignored until they
 * match.
 * @returns a function that stops watching the files.
 */
export function followCertificate(
  server: Pick<Server, 'setSecureContext'>,
  tls: ListenerTls,
  logger: Logger,
  everyMilliseconds = LOOK_EVERY_MILLISECONDS,
): () => void {
  let seen = timesOf(tls).catch(() => '');
  const timer = setInterval(() => {
    seen = seen.then(async (before) => {
      const now = await timesOf(tls).catch(() => before);
      if (now === before) return before;
      try {
        const options = await contextOptions(tls);
        // If certificate and key do not match, this throws before the server is changed.
        createSecureContext(options);
        server.setSecureContext(options);
        const { validTo } = new X509Certificate(options.cert);
        logger.event('certificate_renewed', { certFile: tls.certFile, validTo });
        return now;
      } catch (error) {
        logger.event('certificate_unusable', { err: error, certFile: tls.certFile });
        return before;
      }
    });
  }, everyMilliseconds);
  timer.unref();
  return () => clearInterval(timer);
}

async function timesOf({ certFile, keyFile, caFile }: ListenerTls): Promise<string> {
  const files = [certFile, keyFile, caFile].filter((file) => file !== undefined);
  const seen = await Promise.all(files.map((file) => stat(file)));
  return seen.map(({ mtimeMs, ino, size }) => `${ino}.${mtimeMs}.${size}`).join();
}

/**
 * Returns the certificate that the peer presented and proved in the handshake; null if there is
 * none.
 */
export function peerCertificate(socket: TLSSocket): X509Certificate | null {
  return socket.getPeerX509Certificate() ?? null;
}

/**
 * Reports the address and the reason of each handshake that fails. Node.js closes a socket with an
 * untrusted certificate before it reports the failure, and then knows the address of the peer only
 * on the connection below (`_parent`).
 */
export function onFailedHandshake(
  server: NetServer,
  onRefused: (address: string, reason: string) => void,
): void {
  const addresses = new WeakMap<Socket, string>();
  server.on('connection', (socket: Socket) => addresses.set(socket, socket.remoteAddress ?? ''));
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    const below: unknown = Reflect.get(socket, '_parent');
    const address = below instanceof Socket ? addresses.get(below) : socket.remoteAddress;
    // For an untrusted certificate, the error itself only reports that the connection ended.
    const reason = socket.authorizationError ?? error.code ?? 'TLS';
    onRefused(address ?? '', String(reason));
  });
}

/**
 * Returns true if the peer presented a certificate that is not signed by one of our authorities.
 * This is possible only with the setting `want`.
 */
export function showsUntrustedCertificate(socket: TLSSocket): boolean {
  return peerCertificate(socket) !== null && !socket.authorized;
}

/**
 * Returns true if a certificate, already verified by its authority, is bound to a configured peer.
 */
export function isBoundTo(
  { subject, san, fingerprint256 }: CertificateBinding,
  certificate: X509Certificate,
): boolean {
  return (
    (subject === undefined || hasSubject(subject, certificate)) &&
    (san === undefined || san.some((name) => hasAlternativeName(name, certificate))) &&
    (fingerprint256 === undefined ||
      fingerprint256.some((each) => hex(each) === hex(certificate.fingerprint256)))
  );
}

function hasSubject(wanted: Readonly<Record<string, string>>, { subject }: X509Certificate) {
  // One attribute on each line: `CN=voluson-3`.
  const attributes = new Set(subject?.split('\n'));
  return Object.entries(wanted).every(([name, value]) => attributes.has(`${name}=${value}`));
}

/**
 * Returns true if a certificate has this alternative name. Names must be equal: a wildcard
 * certificate does not identify a single peer.
 */
function hasAlternativeName(name: string, { subjectAltName = '' }: X509Certificate): boolean {
  // Node quotes a name that contains a comma. The names of peers contain none, so such a
  // certificate is not matched by name.
  if (subjectAltName.includes('"')) return false;
  const wanted = name.toLowerCase();
  return subjectAltName
    .split(', ')
    .map((each) => each.replace(/^(DNS|IP Address|URI):/, '').toLowerCase())
    .includes(wanted);
}

function hex(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}
