import { createReadStream } from 'node:fs';
import { createInflateRaw } from 'node:zlib';
import { UnreadableInput } from '../../contract/study.ts';
import { hasPreamble, PREFIX_END } from '../../dicom/part10.ts';
import {
  DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN as DEFLATED,
  EXPLICIT_VR_LITTLE_ENDIAN,
} from '../../dicom/transfer-syntaxes.ts';
import { withByteSource } from '../study-file.ts';

/**
 * Size in bytes of (0002,0000): the element header and its value, which is the length of the rest
 * of the group.
 */
const GROUP_LENGTH_BYTES = 12;
/** Bytes of (0002,0010) in a deflated file: tag, VR UI, two bytes of length, and the UID. */
const DEFLATED_ELEMENT = Buffer.concat([
  Buffer.from([0x02, 0x00, 0x10, 0x00, 0x55, 0x49, DEFLATED.length, 0x00]),
  Buffer.from(DEFLATED),
]);
const LONGEST_META = 65_536;

async function deflatedMeta(path: string): Promise<Buffer | null> {
  return withByteSource(path, (source) => {
    const headBytes = PREFIX_END + GROUP_LENGTH_BYTES;
    if (source.size < headBytes) return null;
    const head = source.read(0, headBytes);
    if (!hasPreamble(head) || head.readUInt32BE(PREFIX_END) !== 0x02000000) return null;
    const length = headBytes + head.readUInt32LE(headBytes - 4);
    if (length > Math.min(source.size, LONGEST_META)) return null;
    const meta = Buffer.from(source.read(0, length));
    return meta.includes(DEFLATED_ELEMENT) ? meta : null;
  });
}

/**
 * Replaces the transfer syntax UID. The new UID is padded with NUL to the length of the old one
 * (PS3.5 6.2), so the group length stays correct.
 */
function renamed(meta: Buffer): Buffer {
  const value = meta.indexOf(DEFLATED_ELEMENT) + DEFLATED_ELEMENT.length - DEFLATED.length;
  meta.fill(0, value, value + DEFLATED.length);
  meta.write(EXPLICIT_VR_LITTLE_ENDIAN, value, 'latin1');
  return meta;
}

async function* inflated(path: string, meta: Buffer): AsyncGenerator<Buffer> {
  const begin = meta.length;
  yield renamed(meta);
  const source = createReadStream(path, { start: begin });
  const dataSet = source.pipe(createInflateRaw());
  source.once('error', (error) => dataSet.destroy(error));
  try {
    for await (const chunk of dataSet) yield chunk;
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw error;
    throw new UnreadableInput('the deflated data set is cut short or damaged', { cause: error });
  } finally {
    source.destroy();
  }
}

/**
 * Converts a Deflated Explicit VR Little Endian file (PS3.5 A.5) to Explicit VR Little Endian, so
 * that its frames can be read at any offset. Returns null for any other file.
 */
export async function inflateDicom(path: string): Promise<AsyncIterable<Buffer> | null> {
  const meta = await deflatedMeta(path);
  return meta && inflated(path, meta);
}
