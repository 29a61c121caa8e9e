import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { extract, type Header } from 'tar-stream';
import type { ArchiveMember } from './archive-member.ts';

/** Header fields of POSIX.1-1988 (ustar), and of the older format, which has no magic. */
const BLOCK = 512;
const CHECKSUM_START = 148;
const CHECKSUM_END = 156;

/** Whether `block` is a tar header, told by its checksum: every byte, its own field as spaces. */
export function isTarHeader(block: Buffer): boolean {
  if (block.length < BLOCK || block[0] === 0) return false;
  const field = block.toString('latin1', CHECKSUM_START, CHECKSUM_END);
  const digits = /^ *([0-7]+)[\0 ]*$/.exec(field)?.[1];
  if (digits === undefined) return false;
  let sum = 0;
  for (const [at, byte] of block.subarray(0, BLOCK).entries()) {
    sum += at >= CHECKSUM_START && at < CHECKSUM_END ? 0x20 : byte;
  }
  return sum === Number.parseInt(digits, 8);
}

function refusalOf({ type }: Header): string | null {
  if (type === 'file' || type === 'contiguous-file') return null;
  if (type === 'symlink' || type === 'link') {
    return 'the archive holds a link here, and links are not followed';
  }
  return 'the archive holds no plain file here';
}

/** Also the format before POSIX; the option is missing from the types of tar-stream. */
const ANY_FORMAT: Parameters<typeof extract>[0] & { allowUnknownFormat: true } = {
  allowUnknownFormat: true,
};

/** The members of a tar file in its order. A member that nobody takes is passed over. */
export async function* tarMembers(path: string): AsyncGenerator<ArchiveMember> {
  const entries = extract(ANY_FORMAT);
  // An error of the source reaches whoever takes the entries; there is nothing to do about it here.
  pipeline(createReadStream(path), entries, () => {});
  for await (const entry of entries) {
    if (entry.header.type !== 'directory') {
      yield {
        path: entry.header.name,
        refused: refusalOf(entry.header),
        content: () => entry as AsyncIterable<Buffer>,
      };
    }
    entry.resume();
  }
}
