import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';

/** SMART App Launch 2.2, "Client Authentication: Asymmetric": at most five minutes. */
const LIFETIME_SECONDS = 240;

export interface AssertionClaims {
  clientId: string;
  /** `kid` of the public key that the EHR has of us. */
  keyId: string;
  /** URL of the token endpoint, exactly as it is called. */
  audience: string;
}

/**
 * The signed JWT by which a backend service proves who it is (RFC 7523; SMART App Launch 2.2): RS384
 * with an RSA key, ES384 with one on P-384.
 * @param privateKey PEM.
 * @throws Error when the key is of another kind, or is no key.
 */
export function clientAssertion(
  { clientId, keyId, audience }: AssertionClaims,
  privateKey: string,
  now = Date.now(),
): string {
  const key = createPrivateKey(privateKey);
  const issued = Math.floor(now / 1000);
  const header = { alg: algorithmOf(key), kid: keyId, typ: 'JWT' };
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: audience,
    iat: issued,
    exp: issued + LIFETIME_SECONDS,
    jti: randomUUID(),
  };
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  // JWS has the two numbers of an ECDSA signature side by side, not as DER (RFC 7518 3.4).
  const signature = sign('sha384', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): 'RS384' | 'ES384' {
  if (asymmetricKeyType === 'rsa') return 'RS384';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'secp384r1') {
    return 'ES384';
  }
  throw new Error('The key is neither RSA nor on P-384');
}
