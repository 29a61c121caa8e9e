import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import {
  createSecureContext,
  type SecureContextOptions,
  type Server,
  type TLSSocket,
  type TlsOptions,
} from 'node:tls';
import type { CertificateBinding, ListenerTls } from '../../../config/tls.ts';
import { EVENTS } from '../logging/events.ts';
import type { Logger } from '../logging/logger.ts';
import { bcp195 } from './profile.ts';

const LOOK_EVERY_MILLISECONDS = 5000;

/** Whether clients are asked for a certificate, and whether one without is refused. */
function clientCertificateMode({ clientCertificate, caFile }: ListenerTls) {
  return clientCertificate ?? (caFile === undefined ? 'none' : 'require');
}

/**
 * Options of a TLS server as the settings say.
 * @throws the system's error when a file cannot be read, OpenSSL's when it is no certificate or key.
 */
export async function serverOptions(tls: ListenerTls): Promise<TlsOptions> {
  const mode = clientCertificateMode(tls);
  return {
    ...(await contextOptions(tls)),
    requestCert: mode !== 'none',
    rejectUnauthorized: mode === 'require',
  };
}

async function contextOptions(tls: ListenerTls): Promise<SecureContextOptions> {
  const [cert, key, ca] = await Promise.all([
    readFile(tls.certFile),
    readFile(tls.keyFile),
    tls.caFile === undefined ? undefined : readFile(tls.caFile),
  ]);
  return { ...bcp195(tls.minVersion), cert, key, ...(ca && { ca }) };
}

/**
 * Uses new certificate files for new handshakes while connections go on. Files that do not fit
 * together, as in the middle of a change, are left until they do.
 * @returns ends it.
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
        // Throws when certificate and key are not of one pair, before the server is touched.
        createSecureContext(options);
        server.setSecureContext(options);
        const { validTo } = new X509Certificate(options.cert as Buffer);
        logger.event(EVENTS.certificateRenewed, { certFile: tls.certFile, validTo });
        return now;
      } catch (error) {
        logger.event(EVENTS.certificateUnusable, { err: error, certFile: tls.certFile });
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

/** The certificate that the other side of a handshake showed and proved; null without one. */
export function peerCertificate(socket: TLSSocket): X509Certificate | null {
  return socket.getPeerX509Certificate() ?? null;
}

/** With `want`: a certificate was shown and is of no authority of ours. */
export function showsUntrustedCertificate(socket: TLSSocket): boolean {
  return peerCertificate(socket) !== null && !socket.authorized;
}

/** Whether a certificate, checked by its authority, is the one that stands for its holder. */
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
  // One attribute a line: `CN=voluson-3`.
  const attributes = new Set(subject?.split('\n'));
  return Object.entries(wanted).every(([name, value]) => attributes.has(`${name}=${value}`));
}

/** The names themselves are compared: a wildcard in a certificate stands for no one device. */
function hasAlternativeName(name: string, { subjectAltName = '' }: X509Certificate): boolean {
  // Node quotes a name that holds a comma; none that stands for a machine does.
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
