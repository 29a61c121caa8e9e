import { createReadStream } from 'node:fs';
import type { Context } from 'koa';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { HeaderParameter } from './openapi/operation.ts';

interface StoredFile {
  path: string;
  name: string;
  mediaType: string;
  bytes: number;
  sha256: string;
}

const ETAG = { type: 'string', examples: [`"${'3c40f8af'.repeat(8)}"`] };

/** Headers of a call that is answered by `sendFile`. */
export const FILE_HEADERS: readonly HeaderParameter[] = [
  {
    name: 'Range',
    required: false,
    description: 'One range of bytes, to continue a download that broke off.',
    schema: { type: 'string', examples: ['bytes=1048576-'] },
  },
  {
    name: 'If-Range',
    required: false,
    description: '`ETag` of the part already received. If it differs, the whole file is sent.',
    schema: ETAG,
  },
  {
    name: 'If-None-Match',
    required: false,
    description: '`ETag` of the copy that the client has. If it is current, the answer is 304.',
    schema: ETAG,
  },
];

/**
 * Answers with a file, or with one range of it (RFC 9110 14), so that a download that broke off can
 * be continued as from S3-compatible storage. The digest of the file is its ETag.
 * @throws SonogateError `range_not_satisfiable` if the range begins after the end of the file.
 */
export function sendFile(context: Context, file: StoredFile): void {
  const etag = `"${file.sha256}"`;
  context.type = file.mediaType;
  context.attachment(file.name);
  context.set('Accept-Ranges', 'bytes');
  context.set('ETag', etag);
  // Koa's `fresh` is unsuitable: it regards no copy as current if the call has `Cache-Control:
  // no-cache`, which `fetch` adds to every conditional call.
  const copies = context.get('If-None-Match').split(',');
  if (copies.some((copy) => copy.trim() === '*' || copy.trim().replace(/^W\//, '') === etag)) {
    context.status = 304;
    return;
  }
  const ifRange = context.get('If-Range');
  const asked = ifRange === '' || ifRange === etag ? context.get('Range') : '';
  const range = context.method === 'GET' ? rangeOf(asked, file.bytes) : null;
  if (range) {
    const [first, last] = range;
    context.status = 206;
    context.set('Content-Range', `bytes ${first}-${last}/${file.bytes}`);
    context.body = createReadStream(file.path, { start: first, end: last });
    context.length = last - first + 1;
  } else {
    context.body = createReadStream(file.path);
    context.length = file.bytes;
  }

  /**
   * Returns the first and last byte of a range; null if the whole file is to be sent. Several
   * ranges and other units are ignored, as RFC 9110 14.2 permits.
   */
  function rangeOf(header: string, bytes: number): readonly [number, number] | null {
    const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header) ?? [];
    if (first === '' && last === '') return null;
    if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
    const end = bytes - 1;
    const [from, to] =
      first === ''
        ? [Math.max(0, bytes - Number(last)), Number(last) === 0 ? -1 : end]
        : [Number(first), last === '' ? end : Math.min(Number(last), end)];
    if (from <= to) return [from, to];
    context.set('Content-Range', `bytes */${bytes}`);
    throw new SonogateError('range_not_satisfiable', `The file has ${bytes} bytes.`);
  }
}
