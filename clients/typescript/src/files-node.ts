import { createHash } from 'node:crypto';
import { createWriteStream, openAsBlob } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { LocalFile } from './upload.ts';

/** Returns the file at a path, or every file in a folder and its subfolders, sorted by path. */
export async function filesAt(path: string): Promise<LocalFile[]> {
  if (!(await stat(path)).isDirectory())
    return [{ name: basename(path), data: await openAsBlob(path) }];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Promise.all(
    paths.map(async (each) => ({ name: basename(each), data: await openAsBlob(each) })),
  );
}

/**
 * Writes an artifact to a folder. If the download is incomplete or its SHA-256 differs, the file is
 * removed.
 */
export async function save(
  folder: string,
  { name, sha256 }: { name: string; sha256: string },
  body: ReadableStream<Uint8Array>,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, basename(name));
  const partial = `${path}.partial`;
  const hash = createHash('sha256');
  try {
    const source = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
    source.on('data', (chunk: Buffer) => hash.update(chunk));
    await pipeline(source, createWriteStream(partial));
    if (hash.digest('hex') !== sha256)
      throw new Error(`${name}: the file does not have the SHA-256 in the result`);
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
  return path;
}

export const environment = (name: string): string | undefined => process.env[name];
