import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '../../platform/database/port.ts';
import { loadSiteSecret } from '../../platform/database/site-secret.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';

const SECRET_NAME = 'url-signing';

/**
 * Signs URLs (HMAC-SHA-256). Until it expires, a signed URL permits calls with one method to one
 * path without a key.
 */
export interface UrlSigner {
  /** Returns `path` with the query parameters that permit `method` until `expires`. */
  sign(method: string, path: string, expires: Date): string;
  /**
   * Checks a signed URL.
   * @throws SonogateError `not_found` for a missing or wrong signature, `expired` for an expired
   * URL.
   */
  verify(method: string, path: string, query: SignedQuery, now: Date): void;
}

type SignedQuery = Partial<Record<string, string | string[]>>;

/**
 * Returns the secret with which all processes of the installation sign URLs. It is created on first
 * use.
 */
export function loadSigningSecret(database: Queryable): Promise<Buffer> {
  return loadSiteSecret(database, SECRET_NAME);
}

export function createUrlSigner(secret: Buffer): UrlSigner {
  const signature = (method: string, path: string, expires: string) =>
    createHmac('sha256', secret).update(`${method}\n${path}\n${expires}`).digest();

  return {
    sign(method, path, expires) {
      const seconds = String(Math.floor(expires.getTime() / 1000));
      const query = new URLSearchParams({
        expires: seconds,
        signature: signature(method, path, seconds).toString('base64url'),
      });
      return `${path}?${query}`;
    },

    verify(method, path, { expires, signature: given }, now) {
      if (typeof expires !== 'string' || typeof given !== 'string') {
        throw new SonogateError('not_found', 'The URL is incomplete.');
      }
      const wanted = signature(method, path, expires);
      const found = Buffer.from(given, 'base64url');
      if (found.length !== wanted.length || !timingSafeEqual(found, wanted)) {
        throw new SonogateError('not_found', 'The signature of the URL does not match.');
      }
      if (Number(expires) * 1000 <= now.getTime()) {
        throw new SonogateError('expired', 'The URL has expired; request a new one.');
      }
    },
  };
}
