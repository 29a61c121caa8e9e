import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { pipeline as finished } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { type Entry, getFileNameLowLevel, openPromise, type ZipFile } from 'yauzl';
import { type RefusedFile, UnreadableInput } from '../contract/study.ts';
import { inflateDicom } from './dicom/deflated.ts';
import { CONTAINER_LIMITS, type ContainerLimits } from './limits.ts';
import { type StudyFile, withByteSource } from './study-file.ts';

interface ArchiveMember {
  /**
   * Path in the archive, as written there. It must not be shown or used before it is checked and
   * cleaned (`checkPath`, `memberName`).
   */
  path: string;
  /** Sentence that explains why the entry is refused; null for a plain file. */
  refused: string | null;
  /**
   * Returns the bytes, unpacked on demand. They must be consumed before the next member is
   * requested.
   */
  content(): AsyncIterable<Buffer>;
}

/**
 * Layout of a tar header. It is the same in POSIX.1-1988 (ustar) and in the older V7 format, which
 * has no magic number.
 */
const BLOCK = 512;
const CHECKSUM_START = 148;
const CHECKSUM_END = 156;

/**
 * Recognises a tar header by its checksum: the sum of all bytes, with the checksum field counted as
 * spaces.
 */
function isTarHeader(block: Buffer): boolean {
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

function tarRefusal({ type }: Header): string | null {
  if (type === 'file' || type === 'contiguous-file') return null;
  if (type === 'symlink' || type === 'link') {
    return 'the archive holds a link here, and links are not followed';
  }
  return 'the archive holds no plain file here';
}

/**
 * tar-stream option that makes it accept the pre-POSIX format. It is missing from the type
 * declarations.
 */
const ANY_FORMAT: Parameters<typeof extract>[0] & { allowUnknownFormat: true } = {
  allowUnknownFormat: true,
};

/**
 * Yields the members of a tar file in file order. A member whose content is not consumed is
 * skipped.
 */
async function* tarMembers(path: string): AsyncGenerator<ArchiveMember> {
  const entries = extract(ANY_FORMAT);
  // The callback does nothing, because the consumer of the entries receives any source error.
  pipeline(createReadStream(path), entries, () => {});
  for await (const entry of entries) {
    if (entry.header.type !== 'directory') {
      yield {
        path: entry.header.name,
        refused: tarRefusal(entry.header),
        content: () => entry as AsyncIterable<Buffer>,
      };
    }
    entry.resume();
  }
}

const FILE_TYPE = 0o170_000;
const SYMBOLIC_LINK = 0o120_000;

/**
 * The upper half of the attributes is the Unix mode (APPNOTE 4.4.15), or 0 if the archive has none.
 */
function isLink(entry: Entry): boolean {
  return ((entry.externalFileAttributes >>> 16) & FILE_TYPE) === SYMBOLIC_LINK;
}

function zipRefusal(entry: Entry): string | null {
  if (isLink(entry)) return 'the archive holds a link here, and links are not followed';
  if (entry.isEncrypted()) return 'the file is encrypted';
  if (!entry.canDecodeFileData()) {
    return `the zip compression method ${entry.compressionMethod} is not supported`;
  }
  return null;
}

/**
 * Yields the bytes of an entry and verifies the checksum; yauzl itself verifies only the length.
 * The stream is opened when the first byte is requested, because an error event without a listener
 * would end the process.
 */
async function* entryBytes(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  const bytes = await zip.openReadStreamPromise(entry);
  let found = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    found = crc32(chunk, found);
    yield chunk;
  }
  if (found !== entry.crc32) {
    throw new UnreadableInput('the file is damaged: its checksum in the zip differs');
  }
}

/**
 * Yields the members of a zip file in directory order. yauzl must not decode the names, because it
 * would reject the whole archive at the first invalid name.
 */
async function* zipMembers(path: string): AsyncGenerator<ArchiveMember> {
  const zip = await openPromise(path, { autoClose: false, decodeStrings: false });
  try {
    for await (const entry of zip.eachEntry()) {
      const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
      const name = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false);
      if (name.endsWith('/')) continue;
      yield {
        path: name,
        refused: zipRefusal(entry),
        content: () => entryBytes(zip, entry),
      };
    }
  } finally {
    zip.close();
  }
}

interface Unpacked {
  /**
   * Files that are not archives, in the order of the request and, within an archive, in its order.
   */
  files: StudyFile[];
  refused: RefusedFile[];
}

/**
 * Thrown if a limit for the whole study or for the outermost archive is reached. Nothing more is
 * then read from that archive.
 */
class LimitReached extends UnreadableInput {}

interface Unpacking extends Unpacked {
  folder: string;
  limits: ContainerLimits;
  signal: AbortSignal | undefined;
  /** Number of the last member with each name, so that repeated names are numbered. */
  names: Map<string, number>;
  members: number;
  bytes: number;
  /** Number of unpacked bytes at which free disk space is measured again. */
  measureAt: number;
  /**
   * Number of files written so far. Written files are named after this number, never after a name
   * in an archive.
   */
  written: number;
  outermost: { size: number; unpacked: number };
}

type ContainerKind = 'zip' | 'tar' | 'gzip';

/**
 * Returns the kind of archive, recognised by its content and never by its name. Null for other
 * files, including DICOM files with a preamble that looks like an archive header.
 */
async function containerKind(path: string): Promise<ContainerKind | null> {
  return withByteSource(path, (source) => {
    const head = source.read(0, Math.min(512, source.size));
    if (head.toString('latin1', 128, 132) === 'DICM') return null;
    const magic = head.toString('latin1', 0, 4);
    if (magic === 'PK\x03\x04' || magic === 'PK\x05\x06') return 'zip';
    if (magic.startsWith('\x1f\x8b\x08')) return 'gzip';
    return isTarHeader(head) ? 'tar' : null;
  });
}

/**
 * Converts library errors, which are caused by damaged files, to UnreadableInput. An error of this
 * host, such as a full disk, names a system call and is rethrown unchanged. After a cancellation,
 * the cancellation reason is thrown instead.
 */
function asRefusal(error: unknown, { signal }: Unpacking): UnreadableInput {
  signal?.throwIfAborted();
  if (error instanceof UnreadableInput) return error;
  if (error instanceof Error && 'syscall' in error) throw error;
  return new UnreadableInput('the archive is cut short or damaged at this point', { cause: error });
}

function countBytes(unpacking: Unpacking, bytes: number): void {
  const { limits, outermost, signal } = unpacking;
  signal?.throwIfAborted();
  unpacking.bytes += bytes;
  outermost.unpacked += bytes;
  if (unpacking.bytes > limits.unpackedBytes) {
    throw new LimitReached(
      `the archives of the study unpack to more than ${limits.unpackedBytes} bytes; the rest of this one is not read`,
    );
  }
  const bomb = outermost.unpacked > outermost.size * limits.ratio;
  if (bomb && outermost.unpacked > limits.ratioFreeBytes) {
    throw new LimitReached(
      `the archive unpacks to more than ${limits.ratio} times its size; the rest of it is not read`,
    );
  }
}

function countMember(unpacking: Unpacking): void {
  unpacking.signal?.throwIfAborted();
  unpacking.members += 1;
  if (unpacking.members <= unpacking.limits.members) return;
  throw new LimitReached(
    `the archives of the study hold more than ${unpacking.limits.members} files; the rest of this one is not read`,
  );
}

/** Number of bytes unpacked between two measurements of the free space. */
const MEASURED_EVERY = 8 * 1024 ** 2;

/** Throws a disk-full error if less than the reserved space is free. */
async function measureRoom(unpacking: Unpacking): Promise<void> {
  unpacking.measureAt = unpacking.bytes + MEASURED_EVERY;
  const { bavail, bsize } = await statfs(unpacking.folder);
  if (bavail * bsize >= unpacking.limits.freeBytes) return;
  const full = new Error('ENOSPC: the archives of the study leave no room on the disk');
  throw Object.assign(full, { code: 'ENOSPC', syscall: 'write' });
}

async function spool(unpacking: Unpacking, content: AsyncIterable<Buffer>): Promise<string> {
  await mkdir(unpacking.folder, { recursive: true });
  const path = join(unpacking.folder, String(unpacking.written));
  unpacking.written += 1;
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      countBytes(unpacking, chunk.length);
      if (unpacking.bytes >= unpacking.measureAt) await measureRoom(unpacking);
      yield chunk;
    }
  };
  try {
    await finished(content, counted, createWriteStream(path));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return path;
}

const MAX_SHOWN = 120;

function shown(path: string): string {
  const printable = path.replaceAll(/\p{C}/gu, '?');
  return printable.length > MAX_SHOWN ? `${printable.slice(0, MAX_SHOWN)}…` : printable;
}

function checkPath(path: string, limits: ContainerLimits): void {
  const parts = path.split(/[\\/]/);
  if (parts.includes('..'))
    throw new UnreadableInput('the path in the archive leads out of it (..)');
  if (path.length > limits.pathLength) {
    throw new UnreadableInput(
      `the path in the archive is longer than ${limits.pathLength} characters`,
    );
  }
  if (parts.length > limits.pathDepth) {
    throw new UnreadableInput(`the path in the archive is deeper than ${limits.pathDepth} folders`);
  }
}

/**
 * Returns a name such as `archive.zip/inner/file.dcm`. A number is appended if the archive contains
 * the name twice.
 */
function memberName(unpacking: Unpacking, archive: string, path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
  const wanted = `${archive}/${parts.join('/').replaceAll(/\p{C}/gu, '?')}`;
  const { names } = unpacking;
  let copy = (names.get(wanted) ?? 0) + 1;
  const named = () => (copy === 1 ? wanted : `${wanted} (${copy})`);
  while (names.has(named())) copy += 1;
  const name = named();
  names.set(name, 1);
  names.set(wanted, copy);
  return name;
}

async function openMember(
  unpacking: Unpacking,
  archive: string,
  member: ArchiveMember,
  depth: number,
): Promise<void> {
  countMember(unpacking);
  try {
    checkPath(member.path, unpacking.limits);
    if (member.refused) throw new UnreadableInput(member.refused);
    const path = await spool(unpacking, member.content());
    await openFile(unpacking, { name: memberName(unpacking, archive, member.path), path }, depth);
  } catch (error) {
    const refusal = asRefusal(error, unpacking);
    if (refusal instanceof LimitReached) throw refusal;
    unpacking.refused.push({ file: `${archive}/${shown(member.path)}`, reason: refusal.message });
  }
}

async function openMembers(
  unpacking: Unpacking,
  name: string,
  members: AsyncIterable<ArchiveMember>,
  depth: number,
): Promise<void> {
  const before = unpacking.members;
  for await (const member of members) await openMember(unpacking, name, member, depth + 1);
  if (unpacking.members === before) throw new UnreadableInput('the archive holds no file');
}

/**
 * Opens a gzip file. Its content keeps the name of the gzip file. A tar.gz counts as one nesting
 * level, not two.
 */
async function openGzip(unpacking: Unpacking, file: StudyFile, depth: number): Promise<void> {
  // The callback does nothing, because the consumer of the bytes receives the errors of both
  // streams.
  const content = pipeline(createReadStream(file.path), createGunzip(), () => {});
  const path = await spool(unpacking, content);
  if ((await containerKind(path)) === 'tar') {
    await openMembers(unpacking, file.name, tarMembers(path), depth);
    await rm(path);
  } else {
    await openFile(unpacking, { name: file.name, path }, depth + 1);
  }
}

async function plain(unpacking: Unpacking, file: StudyFile, depth: number): Promise<StudyFile> {
  const content = await inflateDicom(file.path);
  if (!content) return file;
  const path = await spool(unpacking, content);
  if (depth > 1) await rm(file.path);
  return { name: file.name, path };
}

/**
 * Adds a file to the study or, if it is an archive, opens it. `depth` is the nesting level of the
 * archive.
 */
async function openFile(unpacking: Unpacking, file: StudyFile, depth: number): Promise<void> {
  const kind = await containerKind(file.path);
  if (!kind) {
    unpacking.files.push(await plain(unpacking, file, depth));
    return;
  }
  if (depth > unpacking.limits.nesting) {
    throw new UnreadableInput(
      `the archive is nested in ${unpacking.limits.nesting} others, which is too deep to be opened`,
    );
  }
  if (kind === 'gzip') await openGzip(unpacking, file, depth);
  else {
    const members = kind === 'zip' ? zipMembers(file.path) : tarMembers(file.path);
    await openMembers(unpacking, file.name, members, depth);
  }
  if (depth > 1) await rm(file.path);
}

/**
 * Opens zip, tar, tar.gz and gzip files, including nested archives, and inflates deflated DICOM
 * files. All other files are returned unchanged. Members are named `archive.zip/path/in/it` and are
 * written to `folder`, which is created when it is first needed. A file that cannot be opened is
 * refused with a sentence, and the other files are still read. Throws only errors of this host and,
 * at most one chunk after an abort, the reason of `signal`.
 */
export async function unpack(
  files: readonly StudyFile[],
  folder: string,
  limits: ContainerLimits = CONTAINER_LIMITS,
  signal?: AbortSignal,
): Promise<Unpacked> {
  const unpacking: Unpacking = {
    folder,
    limits,
    signal,
    files: [],
    refused: [],
    names: new Map(),
    members: 0,
    bytes: 0,
    measureAt: MEASURED_EVERY,
    written: 0,
    outermost: { size: 0, unpacked: 0 },
  };
  for (const file of files) {
    unpacking.outermost = { size: (await stat(file.path)).size, unpacked: 0 };
    try {
      await openFile(unpacking, file, 1);
    } catch (error) {
      unpacking.refused.push({ file: file.name, reason: asRefusal(error, unpacking).message });
    }
  }
  return { files: unpacking.files, refused: unpacking.refused };
}
