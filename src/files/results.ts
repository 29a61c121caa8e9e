import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifMissing } from '../errors/if-missing.ts';
import type { ArtifactEntry } from '../requests/artifacts.ts';
import { workFolder } from './work-folder.ts';

export const RESULT = 'result.json';

/** Suffix of a result that is not yet complete. */
const MAKING = '.making';

/** What a pipeline left does not agree with its own result. */
export class ArtifactMismatchError extends Error {
  override name = 'ArtifactMismatchError';
}

function resultFolder(dataDir: string, id: string): string {
  return join(dataDir, 'results', id);
}

/** Where the result of a request has something by that name, whether or not it is there. */
export function resultPath(dataDir: string, id: string, name: string): string {
  return inFolder(resultFolder(dataDir, id), name);
}

function inFolder(folder: string, name: string): string {
  return name === RESULT ? join(folder, RESULT) : join(folder, 'artifacts', name);
}

/**
 * Takes `result.json` and the artifacts it lists out of a work folder into the result store:
 * checked, on the disk (fsync) and in place by one rename, before the request may end.
 * @returns all that was stored: the envelope, which cannot list itself, then the artifacts.
 * @throws ArtifactMismatchError
 */
export async function storeResult(
  dataDir: string,
  id: string,
  artifacts: readonly ArtifactEntry[],
): Promise<ArtifactEntry[]> {
  const from = workFolder(dataDir, id);
  const to = resultFolder(dataDir, id);
  const making = to + MAKING;
  await rm(making, { recursive: true, force: true });
  await mkdir(join(making, 'artifacts'), { recursive: true });

  await rename(join(from, RESULT), join(making, RESULT));
  await syncFile(join(making, RESULT));
  for (const artifact of artifacts) {
    const path = join(making, 'artifacts', artifact.name);
    await takeArtifact(join(from, 'artifacts', artifact.name), path, artifact);
  }
  await syncFile(join(making, 'artifacts'));
  await syncFile(making);
  await rm(to, { recursive: true, force: true });
  await rename(making, to);
  await syncFile(dirname(to));
  const envelope = await describeFile(join(to, RESULT));
  const asArtifact = { name: RESULT, media_type: 'application/json', ...envelope, section: null };
  return [asArtifact, ...artifacts];
}

async function takeArtifact(from: string, to: string, { name, bytes, sha256 }: ArtifactEntry) {
  if (!isPlainName(name)) throw new ArtifactMismatchError(`artifact name ${JSON.stringify(name)}`);
  const found = await ifMissing(describeFile(from), null);
  if (!found) throw new ArtifactMismatchError(`artifact ${name} is missing`);
  if (found.bytes !== bytes || found.sha256 !== sha256) {
    throw new ArtifactMismatchError(`artifact ${name} differs from what the result says`);
  }
  // A link and no move: a preview announced early stays reachable until the request has ended.
  await link(from, to);
  await syncFile(to);
}

/** One path segment of letters, digits, dot, hyphen and underscore that does not start with a dot. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(name);
}

/** Size and SHA-256 of a file, read as a stream. */
export async function describeFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return { bytes: (await stat(path)).size, sha256: hash.digest('hex') };
}

/** Flushes a file, or the entries of a folder. */
async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Where an artifact lies: in the store once the request has succeeded, in the work folder while it
 * runs (previews announced early). Null when it is not there. @throws when it cannot be reached.
 */
export async function artifactPath(
  dataDir: string,
  id: string,
  name: string,
  status: string,
): Promise<string | null> {
  if (!isPlainName(name)) return null;
  const folder = status === 'running' ? workFolder(dataDir, id) : resultFolder(dataDir, id);
  const path = inFolder(folder, name);
  return ifMissing(
    access(path).then(() => path),
    null,
  );
}

export async function removeResult(dataDir: string, id: string): Promise<void> {
  for (const folder of [resultFolder(dataDir, id), resultFolder(dataDir, id) + MAKING]) {
    await rm(folder, { recursive: true, force: true });
  }
}
