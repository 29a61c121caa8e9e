import { constants } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import type { TlsVersion } from '../../../config/tls.ts';

/**
 * Cipher suites for TLS 1.2. All have forward secrecy and authenticated encryption. Those with 256
 * bits come first (RFC 9325 4.2).
 */
const TLS_1_2_SUITES = [
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
] as const;

/** All cipher suites of TLS 1.3 except the two CCM suites for small devices (RFC 8446 9.1). */
const TLS_1_3_SUITES = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
] as const;

/** Signature algorithms: only those with SHA-2 (RFC 9325 4.2.1, 4.3). */
const SIGNATURES = [
  'ecdsa_secp256r1_sha256',
  'ecdsa_secp384r1_sha384',
  'ed25519',
  'rsa_pss_rsae_sha256',
  'rsa_pss_rsae_sha384',
  'rsa_pss_rsae_sha512',
  'rsa_pkcs1_sha256',
  'rsa_pkcs1_sha384',
  'rsa_pkcs1_sha512',
] as const;

/** Groups for key exchange, of 255 bits or more (RFC 9325 4.4 and 4.5). */
const GROUPS = ['X25519', 'P-256', 'P-384', 'P-521'] as const;

/**
 * Returns the options for every TLS connection, incoming and outgoing: BCP 195 (RFC 8996, RFC 9325)
 * as required by the profile of PS3.15 B.12. TLS 1.3 is used whenever the peer supports it. There
 * is no fallback below the minimum version, no renegotiation (RFC 9325 3.5) and no compression (RFC
 * 9325 3.3).
 */
export function bcp195(minVersion: TlsVersion): SecureContextOptions {
  return {
    minVersion: `TLSv${minVersion}`,
    maxVersion: 'TLSv1.3',
    ciphers: [...TLS_1_3_SUITES, ...TLS_1_2_SUITES].join(':'),
    honorCipherOrder: true,
    sigalgs: SIGNATURES.join(':'),
    ecdhCurve: GROUPS.join(':'),
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_COMPRESSION,
  };
}
