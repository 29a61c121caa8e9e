/** Where an S3-compatible store is and how it is entered. */
export interface S3Location {
  /** `https://host[:port]` or `http://…`. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * Reads `s3://key:secret@host[:port]/bucket[?region=…]`. `s3` and `https` speak TLS, `http` is for a
 * server inside the hospital. Key and secret are percent-encoded where they hold `/`, `@` or `:`.
 * Null for what is no such address.
 */
export function parseS3Url(text: string): S3Location | null {
  // `URL` gives a host and port only to the schemes of the web.
  const url = URL.parse(text.replace(/^s3:/i, 'https:'));
  const bucket = /^\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?$/.exec(url?.pathname ?? '')?.[1];
  if (!url || !bucket || !/^https?:$/.test(url.protocol) || !url.username || !url.password) {
    return null;
  }
  try {
    return {
      endpoint: `${url.protocol}//${url.host}`,
      bucket,
      region: url.searchParams.get('region') ?? 'us-east-1',
      accessKeyId: decodeURIComponent(url.username),
      secretAccessKey: decodeURIComponent(url.password),
    };
  } catch {
    return null;
  }
}
