import { crc32 } from 'node:zlib';
import { type Entry, getFileNameLowLevel, openPromise, type ZipFile } from 'yauzl';
import type { ArchiveMember } from './archive-member.ts';
import { Refusal } from './refusal.ts';

const FILE_TYPE = 0o170_000;
const SYMBOLIC_LINK = 0o120_000;

/** The Unix mode in the upper half of the attributes (APPNOTE 4.4.15); 0 where there is none. */
function isLink(entry: Entry): boolean {
  return ((entry.externalFileAttributes >>> 16) & FILE_TYPE) === SYMBOLIC_LINK;
}

function refusalOf(entry: Entry): string | null {
  if (isLink(entry)) return 'the archive holds a link here, and links are not followed';
  if (entry.isEncrypted()) return 'the file is encrypted';
  if (!entry.canDecodeFileData()) {
    return `the zip compression method ${entry.compressionMethod} is not supported`;
  }
  return null;
}

/**
 * The bytes of an entry; yauzl compares their number, the checksum is left to its caller. The stream
 * is opened when the first byte is asked for: an error before anyone listens would end the process.
 */
async function* entryBytes(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  const bytes = await zip.openReadStreamPromise(entry);
  let found = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    found = crc32(chunk, found);
    yield chunk;
  }
  if (found !== entry.crc32) {
    throw new Refusal('the file is damaged: its checksum in the zip differs');
  }
}

/**
 * The members of a zip file in the order of its directory. Names stay undecoded in yauzl, whose own
 * check would end the whole archive at the first bad one.
 */
export async function* zipMembers(path: string): AsyncGenerator<ArchiveMember> {
  const zip = await openPromise(path, { autoClose: false, decodeStrings: false });
  try {
    for await (const entry of zip.eachEntry()) {
      const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
      const name = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false);
      if (name.endsWith('/')) continue;
      yield {
        path: name,
        refused: refusalOf(entry),
        content: () => entryBytes(zip, entry),
      };
    }
  } finally {
    zip.close();
  }
}
