import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect, type DetailedPeerCertificate } from 'node:tls';
import { withMeaning } from '../../platform/errors/connection-failures.ts';
import { DAY_MS } from '../../platform/time.ts';
import { type Finding, fault, inOneLine, ok, warning } from './finding.ts';

/** Number of days before expiry at which the doctor starts to warn about a certificate. */
const CERTIFICATE_DAYS = 30;
const PATIENCE_MILLISECONDS = 10_000;

/** Checks the first certificate in a PEM file. It is one that the gateway presents to others. */
export function checkOwnCertificate(what: string, pem: Buffer): Finding {
  const { validFrom, validTo } = new X509Certificate(pem);
  const start = new Date(validFrom);
  if (start.getTime() > Date.now()) {
    return fault(what, `is not valid before ${start.toISOString()}; is the clock right?`);
  }
  return certificateEnds(what, new Date(validTo));
}

function certificateEnds(what: string, end: Date): Finding {
  const days = Math.floor((end.getTime() - Date.now()) / DAY_MS);
  if (days < 0) return fault(what, `expired ${-days} days ago`);
  const words = `expires in ${days} days`;
  return days < CERTIFICATE_DAYS ? warning(what, words) : ok(what, words);
}

/**
 * Checks TLS with a peer as deliveries will use it: the TLS version, the chain from the peer's
 * certificate to the authority, and the expiry date of each certificate. The authority is `caFile`,
 * or one that Node.js trusts. `certFile` is the certificate that the gateway presents to the peer.
 */
export async function checkChain(
  what: string,
  {
    host,
    port,
    caFile,
    certFile,
    keyFile,
    serverName,
  }: {
    host: string;
    port: number;
    caFile?: string | undefined;
    certFile?: string | undefined;
    keyFile?: string | undefined;
    serverName?: string | undefined;
  },
): Promise<Finding[]> {
  const name = serverName ?? host;
  let socket: ReturnType<typeof connect> | null = null;
  try {
    const own = certFile
      ? [checkOwnCertificate(`${what}, our certificate`, await readFile(certFile))]
      : [];
    socket = connect({
      host,
      port,
      ...(caFile && { ca: await readFile(caFile) }),
      // With TLS 1.2, a peer that requires our certificate ends the handshake without it.
      ...(certFile && keyFile && { cert: await readFile(certFile), key: await readFile(keyFile) }),
      ...(isIP(name) ? {} : { servername: name }),
      // The chain is checked afterwards, so that the finding can describe what is wrong.
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) });
    const chain = chainOf(socket.getPeerCertificate(true));
    const path = chain.map(({ subject }) => subject?.CN ?? subject?.O ?? '?').join(' ◂ ');
    const words = `${socket.getProtocol()}, chain ${path}`;
    const trusted = socket.authorized
      ? ok(what, words)
      : fault(what, withMeaning(`${words}: ${String(socket.authorizationError)}`));
    const ends = chain.map(({ valid_to }) => new Date(valid_to).getTime());
    return [trusted, certificateEnds(`${what}, certificate`, new Date(Math.min(...ends))), ...own];
  } catch (error) {
    const ended = (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    const words = ended
      ? 'the peer ended the TLS handshake: does it use TLS on that port, and does it require a certificate (`certFile`)?'
      : inOneLine(error);
    return [fault(what, words)];
  } finally {
    socket?.destroy();
    socket?.on('error', () => {});
  }
}

const HTTPS_PORT = 443;

/**
 * Checks TLS with the server of a URL. If the URL begins with http, which is permitted, warns that
 * the data named by `sent` is transmitted unencrypted.
 */
export async function checkWebChain(
  what: string,
  address: string,
  {
    tls,
    sent,
  }: { tls?: Partial<Parameters<typeof checkChain>[1]> | undefined; sent?: string } = {},
): Promise<Finding[]> {
  const { protocol, hostname, port } = new URL(address);
  if (protocol === 'https:') {
    // An IPv6 address has brackets only in a URL.
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    return checkChain(what, { host, port: Number(port || HTTPS_PORT), ...tls });
  }
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (local || sent === undefined) return [];
  return [warning(what, `${sent} are sent to it unencrypted, because its address is http`)];
}

/** Returns the peer's certificate, the certificate of its issuer and so on, up to the root. */
function chainOf(first: DetailedPeerCertificate): DetailedPeerCertificate[] {
  const chain: DetailedPeerCertificate[] = [];
  for (let at = first; at && !chain.includes(at); at = at.issuerCertificate) chain.push(at);
  return chain;
}
