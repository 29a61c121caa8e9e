const UNTRUSTED =
  "its certificate is signed by an authority that is not trusted here: name the authority's file in `caFile`, or in NODE_EXTRA_CA_CERTS";

/** Text for the codes of Node.js and OpenSSL with which a connection fails, and what to check. */
const MEANINGS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'another process uses that port: stop it, or set another one (http.port, dicom.port, hl7v2.port, monitoring.port)',
  ENOTFOUND: 'the host name was not found',
  EAI_AGAIN: 'the DNS server does not respond',
  ECONNREFUSED: 'nothing is listening on that port: is the peer running, and is the port correct?',
  ECONNRESET: 'the peer closed the connection',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ETIMEDOUT: 'no response in time: does a firewall drop the connection?',
  UND_ERR_CONNECT_TIMEOUT: 'no response in time: does a firewall drop the connection?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the peer does not use TLS on that port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the peer does not use TLS on that port',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${UNTRUSTED}. The peer may also have left out an intermediate certificate`,
  CERT_HAS_EXPIRED: 'its certificate has expired: renew it at the peer, or correct our clock',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: is our clock right?',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another host name: use that name as the address, or as `serverName` where there is one',
};

/** Returns what the code of a failed connection means; null if the code is not of one. */
export const connectionFailure = (code: string): string | null => MEANINGS[code] ?? null;

/** Appends what the code of a failed connection in a text means, if there is one. */
export function withMeaning(text: string): string {
  const meaning = text
    .match(/\b[A-Z][A-Z_]+\b/g)
    ?.map(connectionFailure)
    .find((found) => found !== null);
  return meaning ? `${text}; ${meaning}` : text;
}
