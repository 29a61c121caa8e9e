import type { CartMeasurement } from '../contract/cart.ts';
import type { Clip, RefusedFile, Study } from '../contract/study.ts';
import { readAnimation } from './animation.ts';
import { withByteSource } from './byte-source.ts';
import { readCartReport } from './cart-sr/read-report.ts';
import { withoutRepeats } from './cart-sr/repeats.ts';
import { CONTAINER_LIMITS } from './container-limits.ts';
import { readDicomClip } from './dicom-clip.ts';
import { isDicom } from './dicom-start.ts';
import { takeDicomdirs } from './dicomdir.ts';
import { Refusal } from './refusal.ts';
import { readStill } from './still.ts';
import type { StudyFile } from './study-file.ts';
import { unpack } from './unpack.ts';
import { readVideo } from './video.ts';
import { isVideo } from './video-container.ts';

export interface ReadOptions {
  /** The user's scale for images that bring none, in millimetres per pixel. */
  mmPerPx?: number | undefined;
  /** Folder for what archives hold; without one they are not opened. */
  unpackTo?: string | undefined;
  /** Ends the reading between two files, and within an archive; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

type FileKind = 'dicom' | 'still' | 'animation' | 'video' | 'unknown';

/** By content, never by name. */
async function sniff(path: string): Promise<FileKind> {
  return withByteSource(path, async (source) => {
    if (source.size === 0) throw new Refusal('the file is empty');
    const head = await source.read(0, Math.min(132, source.size));
    if (isDicom(head)) return 'dicom';
    if (head.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n') return 'still';
    if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'still';
    if (/^GIF8[79]a|^RIFF.{4}WEBP/s.test(head.toString('latin1', 0, 12))) return 'animation';
    if (isVideo(head)) return 'video';
    return 'unknown';
  });
}

/** A clip, or the values of a structured report of the ultrasound machine. */
async function readFile(
  file: StudyFile,
  mmPerPx: number | null,
): Promise<Clip | CartMeasurement[]> {
  switch (await sniff(file.path)) {
    case 'dicom':
      return (
        (await readCartReport(file)) ?? (await readDicomClip(file.name, file.path, mmPerPx)).clip
      );
    case 'still':
      return readStill(file.name, file.path, mmPerPx);
    case 'animation':
      return readAnimation(file.name, file.path, mmPerPx);
    case 'video':
      return readVideo(file.name, file.path, mmPerPx);
    case 'unknown':
      throw new Refusal('the file is neither DICOM nor a PNG, JPEG, GIF or WebP image nor a video');
  }
}

/**
 * Reads every file of a study, those in archives and DICOMDIR sets too. One that cannot be read is
 * refused with a sentence and nothing else suffers; only an error of this machine (a file that is
 * gone, a full disk) is thrown.
 */
export async function readStudy(
  given: readonly StudyFile[],
  options: ReadOptions = {},
): Promise<Study> {
  const unpacked = options.unpackTo
    ? await unpack(given, options.unpackTo, CONTAINER_LIMITS, options.signal)
    : { files: given, refused: [] };
  const { files, missing } = await takeDicomdirs(unpacked.files);
  const clips: Clip[] = [];
  const cart: CartMeasurement[] = [];
  const refused: RefusedFile[] = [...unpacked.refused, ...missing];
  for (const file of files) {
    options.signal?.throwIfAborted();
    try {
      const read = await readFile(file, options.mmPerPx ?? null);
      if (Array.isArray(read)) cart.push(...read);
      else clips.push(read);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused.push({ file: file.name, reason: error.message });
    }
  }
  const series = new Set(clips.map((clip) => clip.seriesInstanceUid ?? ''));
  const count = files.length + unpacked.refused.length;
  return {
    clips,
    refused,
    files: count,
    series: series.size,
    ...(cart.length > 0 && { cart: withoutRepeats(cart) }),
  };
}
