import { createHash, type Hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, format, parse } from 'node:path';
import { promisify } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import type { Digests } from '../../src/core/studies/study-store.ts';
import {
  type DiskAnswer,
  type DiskSettings,
  type DiskTask,
  REPORTED_TOGETHER,
} from './disk-writer.ts';

/**
 * Entry point of the thread that writes received objects (disk-writer.ts). The thread uses
 * synchronous file system calls: they cost less than the thread pool of Node.js, and block no
 * socket, because sockets belong to the main thread.
 */

interface ObjectFile {
  id: number;
  path: string;
  /** Null if the file could not be opened or written; `failure` is the reason. */
  handle: number | null;
  failure: unknown;
  whole: Hash;
  dataSet: Hash | null;
  /** Number of written blocks that have not been hashed yet. */
  unhashed: number;
  /** Number of hashed blocks that have not been reported to the main thread yet. */
  unreported: number;
  durable: boolean;
  bytes: number;
  /** CRC-32 of the written bytes. */
  checksum: number;
  unsynced: number;
}

/** An object whose bytes have been written and which must now become durable. */
interface Finish {
  file: ObjectFile;
  to: string;
}

/**
 * A large object is synced each time this many bytes have been written, so that the disk begins to
 * write while the rest is still arriving.
 */
const SYNC_EVERY_BYTES = 32 * 1024 * 1024;
/**
 * Number of unsynced bytes above which a file is synced asynchronously, so that the thread hashes
 * while the disk is working. Below it, a synchronous sync costs less.
 */
const SMALL_SYNC_BYTES = 128 * 1024;

/**
 * Maximum number of blocks that are written but not in the digests yet. Until they are, their
 * objects cannot get rows, and their memory cannot be reused.
 */
const MOST_UNHASHED = 32;

const { dataSetDigests } = workerData as DiskSettings;
const sync = promisify(fdatasync);
const files = new Map<number, ObjectFile>();
/** Handles of open folders, kept for syncing. Each day has one folder for each source. */
const folders = new Map<string, number>();
const MOST_FOLDERS = 64;
const finishing: Finish[] = [];
let busy = false;
const unhashed: { file: ObjectFile; block: Uint8Array }[] = [];
let hashing = false;

const post = (answer: DiskAnswer) => parentPort?.postMessage(answer);

/** Creates a folder and its missing parents, and syncs the folder above each of them. */
function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true });
  if (first === undefined) return;
  // If a folder was removed and is created again, its open handle refers to the removed folder.
  forgetFolders();
  for (let each = path; ; each = dirname(each)) {
    const parent = openSync(dirname(each), constants.O_RDONLY);
    try {
      fsyncSync(parent);
    } finally {
      closeSync(parent);
    }
    if (each === first) return;
  }
}

function create(path: string): number {
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
  try {
    return openSync(path, flags, 0o666);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    return openSync(path, flags, 0o666);
  }
}

function open(id: number, path: string): ObjectFile {
  const file: ObjectFile = {
    id,
    path,
    handle: null,
    failure: null,
    whole: createHash('sha256'),
    dataSet: dataSetDigests ? createHash('sha256') : null,
    unhashed: 0,
    unreported: 0,
    durable: false,
    bytes: 0,
    checksum: 0,
    unsynced: 0,
  };
  files.set(id, file);
  return attempt(file, () => {
    file.handle = create(path);
  });
}

function attempt(file: ObjectFile, work: () => void): ObjectFile {
  try {
    if (file.failure === null) work();
  } catch (error) {
    file.failure = error;
  }
  return file;
}

function write(file: ObjectFile, bytes: Uint8Array): void {
  attempt(file, () => {
    const { handle } = file;
    if (handle === null) return;
    for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
    file.bytes += bytes.length;
    file.checksum = crc32(bytes, file.checksum);
    file.unsynced += bytes.length;
    if (file.unsynced < SYNC_EVERY_BYTES) return;
    file.unsynced = 0;
    // The sync at the end of the object will report the same error.
    sync(handle).catch(() => {});
  });
}

/** Adds the oldest written block to the digests of its file. */
function hashNext(): void {
  const next = unhashed.shift();
  if (!next) return;
  const { file, block } = next;
  file.unhashed -= 1;
  file.unreported += 1;
  if (file.failure !== null) return;
  file.whole.update(block);
  file.dataSet?.update(block);
  if (file.durable) {
    const digests = digestsOf(file);
    if (digests) post({ id: file.id, digests });
  } else if (file.unreported >= REPORTED_TOGETHER) {
    post({ id: file.id, read: file.unreported });
    file.unreported = 0;
  }
}

/** Returns the digests of a durable object; null while blocks of it are not hashed yet. */
function digestsOf({ unhashed, whole, dataSet }: ObjectFile): Digests | null {
  if (unhashed > 0) return null;
  return { fileSha256: whole.digest('hex'), dataSetSha256: dataSet?.digest('hex') ?? null };
}

/**
 * Hashes only when the thread would otherwise be idle. Writes and syncs come first, because senders
 * are waiting for them.
 */
function hashInPauses(): void {
  if (hashing || unhashed.length === 0) return;
  hashing = true;
  setImmediate(() => {
    hashing = false;
    if (busy || finishing.length === 0) hashNext();
    hashInPauses();
  });
}

async function makeContentDurable(file: ObjectFile, alone: boolean): Promise<void> {
  try {
    if (file.failure !== null) throw file.failure;
    if (file.handle === null) throw new Error('the file is not open');
    // Syncs of several files run concurrently, because they then share one commit of the file
    // system. For a single small file, a synchronous call costs less.
    if (alone && file.unsynced < SMALL_SYNC_BYTES) fdatasyncSync(file.handle);
    else await sync(file.handle);
  } catch (error) {
    file.failure = error;
  }
}

function close(file: ObjectFile): void {
  attempt({ ...file, failure: null }, () => {
    if (file.handle !== null) closeSync(file.handle);
  });
  file.handle = null;
}

/**
 * Removes the file of a refused object. A file that cannot be removed is found at the next startup.
 */
function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}

function forgetFolders(): void {
  for (const each of folders.values()) closeSync(each);
  folders.clear();
}

function syncFolder(path: string): void {
  let handle = folders.get(path);
  if (handle === undefined) {
    if (folders.size >= MOST_FOLDERS) forgetFolders();
    handle = openSync(path, constants.O_RDONLY);
    folders.set(path, handle);
  }
  fsyncSync(handle);
}

/** Returns the final path of a file, with the checksum of its content before the suffix. */
function checkedPath(to: string, { checksum }: ObjectFile): string {
  const { dir, name, ext } = parse(to);
  return format({ dir, name: `${name}.${checksum.toString(16).padStart(8, '0')}`, ext });
}

/**
 * Makes a group of objects durable: their content, their names, and each folder once. Objects
 * finished during the call form the next group. Files are renamed before they are synced, because
 * the file system then commits content and name together, and a commit takes most of the time spent
 * on an object. If the host loses power in between, the checksum in the name shows at the next
 * start that the content is incomplete (intake-folder.ts).
 */
async function finishGroup(finished: readonly Finish[]): Promise<void> {
  const alone = finished.length === 1 && files.size === 0;
  const group = finished.map(({ file, to }) => ({ file, to: checkedPath(to, file) }));
  for (const { file, to } of group) attempt(file, () => renameSync(file.path, to));
  await Promise.all(group.map(({ file }) => makeContentDurable(file, alone)));
  for (const { file } of group) close(file);
  const unsafe = new Map<string, unknown>();
  for (const folder of new Set(group.map(({ to }) => dirname(to)))) {
    try {
      syncFolder(folder);
    } catch (error) {
      unsafe.set(folder, error);
    }
  }
  for (const { file, to } of group) {
    const { id, bytes } = file;
    file.failure ??= unsafe.get(dirname(to)) ?? null;
    if (file.failure !== null) {
      for (const path of [file.path, to]) remove(path);
      post({ id, error: described(file.failure) });
      continue;
    }
    file.durable = true;
    post({ id, durable: { path: to, bytes }, digests: digestsOf(file) });
  }
}

async function finishAll(): Promise<void> {
  busy = true;
  while (finishing.length > 0) await finishGroup(finishing.splice(0));
  busy = false;
}

function described(error: unknown): { message: string; code: string | undefined } {
  const { code } = error as NodeJS.ErrnoException;
  return { message: error instanceof Error ? error.message : String(error), code };
}

parentPort?.on('message', ({ id, path, prefix, blocks, finish, discard }: DiskTask) => {
  const file = files.get(id) ?? open(id, path);
  if (prefix) {
    write(file, prefix);
    file.whole.update(prefix);
  }
  for (const block of blocks) {
    write(file, block);
    unhashed.push({ file, block });
    file.unhashed += 1;
  }
  if (file.failure !== null) post({ id, failed: true });
  while (unhashed.length > MOST_UNHASHED) hashNext();
  hashInPauses();
  if (discard) {
    files.delete(id);
    file.failure ??= new Error('the object was discarded');
    close(file);
    remove(file.path);
    post({ id, discarded: true });
  }
  if (finish === null) return;
  files.delete(id);
  finishing.push({ file, to: finish });
  // Start only after the tasks that are already in the thread's queue, so that objects finished by
  // them belong to the same group.
  if (!busy) setImmediate(() => void (busy || finishAll()));
});
