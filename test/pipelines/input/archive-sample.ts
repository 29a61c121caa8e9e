import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

/** Archives are written entry by entry, so that tests can also write invalid ones. */

export interface ZipEntry {
  name: string;
  content: Buffer | string;
  /** Unix mode of the entry; a regular file by default. */
  mode?: number;
  encrypted?: boolean;
  method?: number;
  /** If omitted, the checksum of the content. */
  checksum?: number;
}

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;
const MADE_ON_UNIX = 3 << 8;

function uint(size: 2 | 4, value: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntLE(value, 0, size);
  return bytes;
}

/** Encodes a zip file with deflated entries (APPNOTE 4.3). */
export function zipFile(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const content = Buffer.from(entry.content);
    const packed = deflateRawSync(content);
    const name = Buffer.from(entry.name);
    const shared = Buffer.concat([
      uint(2, 20),
      uint(2, (entry.encrypted ? 1 : 0) | 0x800),
      uint(2, entry.method ?? 8),
      uint(4, 0),
      uint(4, entry.checksum ?? crc32(content)),
      uint(4, packed.length),
      uint(4, content.length),
      uint(2, name.length),
      uint(2, 0),
    ]);
    const local = Buffer.concat([uint(4, LOCAL_HEADER), shared, name, packed]);
    const mode = entry.mode ?? 0o100_644;
    directory.push(
      Buffer.concat([
        uint(4, CENTRAL_HEADER),
        uint(2, MADE_ON_UNIX | 20),
        shared,
        Buffer.alloc(6),
        uint(2, 0),
        uint(2, mode),
        uint(4, offset),
        name,
      ]),
    );
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.concat([
    uint(4, END_OF_DIRECTORY),
    Buffer.alloc(4),
    uint(2, entries.length),
    uint(2, entries.length),
    uint(4, central.length),
    uint(4, offset),
    uint(2, 0),
  ]);
  return Buffer.concat([...locals, central, end]);
}

export function zipOf(files: Readonly<Record<string, Buffer | string>>): Buffer {
  return zipFile(Object.entries(files).map(([name, content]) => ({ name, content })));
}

export interface TarEntry {
  name: string;
  content?: Buffer | string;
  type?: Header['type'];
  linkname?: string;
}

export async function tarFile(entries: readonly TarEntry[]): Promise<Buffer> {
  const archive = pack();
  for (const { content = '', ...header } of entries) archive.entry(header, content);
  archive.finalize();
  return buffer(Readable.from(archive));
}
