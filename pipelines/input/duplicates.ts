import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Clip, type RefusedFile, UnreadableInput } from '../contract/study.ts';
import type { AcquisitionTime } from './dicom/acquisition-time.ts';

export interface ReadClip {
  clip: Clip;
  taken: AcquisitionTime | null;
  study: string | null;
  /** Remark on an inconsistency in a file that is still readable; null for a consistent file. */
  remark: string | null;
  /** Equal for all duplicates: the digest of the first frame's pixels, or the file size. */
  likeness: { pixels: string } | { bytes: number };
  path: string;
}

/**
 * Returns a digest of decoded pixels. Two files with the same picture have the same digest, however
 * they are compressed.
 */
export function pixelDigest(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('base64');
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('base64');
}

/**
 * Digests of files and frames. Each is computed only once, even if the file has to be compared with
 * many others of the same size or the same first frame.
 */
interface Digests {
  ofFile(read: ReadClip): Promise<string>;
  /** Returns null for a damaged frame. */
  ofFrame(read: ReadClip, index: number): Promise<string | null>;
}

async function frameDigest({ clip }: ReadClip, index: number): Promise<string | null> {
  try {
    const frame = await clip.frames[index]?.rgb();
    return frame ? pixelDigest(frame.data) : null;
  } catch (error) {
    if (error instanceof UnreadableInput) return null;
    throw error;
  }
}

function createDigests(): Digests {
  const files = new Map<ReadClip, Promise<string>>();
  const frames = new Map<ReadClip, Map<number, Promise<string | null>>>();
  const once = <K, V>(known: Map<K, V>, key: K, make: () => V): V => {
    const value = known.get(key) ?? make();
    known.set(key, value);
    return value;
  };
  return {
    ofFile: (read) => once(files, read, () => fileDigest(read.path)),
    ofFrame: (read, index) =>
      once(
        once(frames, read, () => new Map()),
        index,
        () => frameDigest(read, index),
      ),
  };
}

/**
 * Returns true if two clips with equal first frames seem to have the same pixels throughout. Only
 * the middle and last frames are compared, because they differ between two cines of one scene. A
 * frame that is damaged in both counts as the same.
 */
async function samePixels(one: ReadClip, other: ReadClip, digests: Digests): Promise<boolean> {
  const last = one.clip.frames.length - 1;
  for (const index of new Set([last >> 1, last])) {
    if (index === 0) continue;
    if ((await digests.ofFrame(one, index)) !== (await digests.ofFrame(other, index))) return false;
  }
  return true;
}

function keyOf({ clip, likeness }: ReadClip): string {
  return JSON.stringify([clip.width, clip.height, clip.frames.length, likeness]);
}

async function isSame(one: ReadClip, other: ReadClip, digests: Digests): Promise<boolean> {
  if ('pixels' in one.likeness) return samePixels(one, other, digests);
  return (await digests.ofFile(one)) === (await digests.ofFile(other));
}

/**
 * Removes duplicates. Of several files with the same SOP Instance UID, the same bytes or the same
 * pixels, the first is kept and the others are refused.
 */
export async function withoutDuplicates(
  read: readonly ReadClip[],
): Promise<{ kept: ReadClip[]; refused: RefusedFile[] }> {
  const kept: ReadClip[] = [];
  const refused: RefusedFile[] = [];
  const byUid = new Map<string, ReadClip>();
  const byKey = new Map<string, ReadClip[]>();
  const digests = createDigests();
  for (const one of read) {
    const { file, sopInstanceUid } = one.clip;
    const key = keyOf(one);
    const namesake = sopInstanceUid ? byUid.get(sopInstanceUid) : undefined;
    const alike = byKey.get(key) ?? [];
    if (namesake) {
      const differs = keyOf(namesake) !== key;
      const reason = 'duplicate of another file: the same SOP Instance UID';
      refused.push({ file, reason: differs ? `${reason}, though the pixels differ` : reason });
      continue;
    }
    const twin = await firstThat(alike, (other) => isSame(one, other, digests));
    if (twin) {
      refused.push({ file, reason: 'duplicate of another file: the same image' });
      continue;
    }
    kept.push(one);
    alike.push(one);
    byKey.set(key, alike);
    if (sopInstanceUid) byUid.set(sopInstanceUid, one);
  }
  return { kept, refused };
}

async function firstThat<T>(
  items: readonly T[],
  holds: (item: T) => Promise<boolean>,
): Promise<T | undefined> {
  for (const item of items) if (await holds(item)) return item;
  return undefined;
}
