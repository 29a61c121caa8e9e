import { createHash, createHmac } from 'node:crypto';

/**
 * Computes the signature that a presigned URL must have according to AWS Signature Version 4 (query
 * string, unsigned payload), because s3rver accepts any signature.
 */
export function presignedSignature(
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  secret: string,
): string {
  const value = (name: string) => url.searchParams.get(name) ?? '';
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map((pair) => pair.map(encoded).join('='))
    .sort()
    .join('&');
  const names = value('X-Amz-SignedHeaders');
  const all: Record<string, string> = { ...headers, host: url.host };
  const lines = names.split(';').map((name) => `${name}:${all[name]}\n`);
  const canonical = [method, url.pathname, query, lines.join(''), names, 'UNSIGNED-PAYLOAD'];

  const [, date = '', region = '', service = '', end = ''] = value('X-Amz-Credential').split('/');
  const toSign = [
    'AWS4-HMAC-SHA256',
    value('X-Amz-Date'),
    [date, region, service, end].join('/'),
    createHash('sha256').update(canonical.join('\n')).digest('hex'),
  ].join('\n');
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text).digest();
  const key = [date, region, service, end].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, toSign).toString('hex');
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
