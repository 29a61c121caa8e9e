import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInflateRaw } from 'node:zlib';
import { SonogateError } from '../src/errors/catalogue.ts';
import { decodeFileMeta, encodeFileMeta } from './part10.ts';
import { EXPLICIT_LITTLE_ENDIAN } from './sop-classes.ts';

const DEFLATED_EXPLICIT_LITTLE_ENDIAN = '1.2.840.10008.1.2.1.99';

/** The first bytes of a DICOM file, in a buffer of their own. */
export interface FileStart {
  start: Buffer<ArrayBuffer>;
  /** Nothing follows. */
  whole: boolean;
}

/**
 * The start of a DICOM file. Of a deflated one it is that of the inflated file: no more is inflated
 * than is asked for, since a megabyte may hold a thousand.
 * @param limit bytes of the file, or of the inflated data set.
 * @throws SonogateError `object_not_understood`.
 */
export async function fileStart(path: string, limit: number): Promise<FileStart> {
  const { start, whole } = await firstBytes(path, limit);
  const { meta, dataSetOffset } = decodeFileMeta(start);
  if (meta.transferSyntax !== DEFLATED_EXPLICIT_LITTLE_ENDIAN) return { start, whole };
  const plainMeta = encodeFileMeta({ ...meta, transferSyntax: EXPLICIT_LITTLE_ENDIAN });
  const inflated = await firstInflated(path, dataSetOffset, limit);
  return { start: joined([plainMeta, ...inflated.chunks]), whole: inflated.whole };
}

async function firstBytes(path: string, limit: number): Promise<FileStart> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Buffer.alloc(Math.min(limit, size));
    await file.read(start, 0, start.length, 0);
    return { start, whole: start.length === size };
  } finally {
    await file.close();
  }
}

/** PS3.5 A.5: the data set alone is deflated. */
async function firstInflated(
  path: string,
  offset: number,
  limit: number,
): Promise<{ chunks: Buffer[]; whole: boolean }> {
  const source = createReadStream(path, { start: offset });
  const dataSet = source.pipe(createInflateRaw());
  source.once('error', (error) => dataSet.destroy(error));
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of dataSet as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= limit) return { chunks, whole: false };
    }
    return { chunks, whole: true };
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw error;
    throw new SonogateError('object_not_understood', 'The deflated data set is damaged.', {
      cause: error,
    });
  } finally {
    source.destroy();
  }
}

/** `Buffer.concat` may lay it into memory that others share, which dcmjs would read too. */
function joined(parts: readonly Buffer[]): Buffer<ArrayBuffer> {
  const whole = Buffer.alloc(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}
