import type { Clip, RefusedFile, Study } from '../contract/study.ts';
import { readAnimation } from './animation.ts';
import { withByteSource } from './byte-source.ts';
import { readDicomClip } from './dicom-clip.ts';
import { takeDicomdirs } from './dicomdir.ts';
import { Refusal } from './refusal.ts';
import { readStill } from './still.ts';
import type { StudyFile } from './study-file.ts';
import { unpack } from './unpack.ts';

export interface ReadOptions {
  /** The user's scale for images that bring none, in millimetres per pixel. */
  mmPerPx?: number | undefined;
  /** Folder for what archives hold; without one they are not opened. */
  unpackTo?: string | undefined;
}

type FileKind = 'dicom' | 'still' | 'animation' | 'video' | 'unknown';

/** MP4 and MOV (ISO/IEC 14496-12; QuickTime may leave `ftyp` out), AVI, MPEG program stream. */
function isVideo(head: Buffer): boolean {
  const start = head.toString('latin1', 0, 12);
  if (/^RIFF.{4}AVI /s.test(start)) return true;
  if (/^.{4}(ftyp(?!heic|heix|mif1|avif)|moov|mdat|wide)/s.test(start)) return true;
  return head.length >= 4 && head.readUInt32BE(0) === 0x1ba;
}

/** By content, never by name. */
async function sniff(path: string): Promise<FileKind> {
  return withByteSource(path, async (source) => {
    if (source.size === 0) throw new Refusal('the file is empty');
    const head = await source.read(0, Math.min(132, source.size));
    if (head.toString('latin1', 128, 132) === 'DICM') return 'dicom';
    if (head.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n') return 'still';
    if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'still';
    if (/^GIF8[79]a|^RIFF.{4}WEBP/s.test(head.toString('latin1', 0, 12))) return 'animation';
    if (isVideo(head)) return 'video';
    return 'unknown';
  });
}

async function readClip(file: StudyFile, mmPerPx: number | null): Promise<Clip> {
  switch (await sniff(file.path)) {
    case 'dicom':
      return readDicomClip(file.name, file.path, mmPerPx);
    case 'still':
      return readStill(file.name, file.path, mmPerPx);
    case 'animation':
      return readAnimation(file.name, file.path, mmPerPx);
    case 'video':
      throw new Refusal('video files (MP4, MOV, AVI, MPEG) are not supported');
    case 'unknown':
      throw new Refusal('the file is neither DICOM nor a PNG, JPEG, GIF or WebP image');
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
    ? await unpack(given, options.unpackTo)
    : { files: given, refused: [] };
  const { files, missing } = await takeDicomdirs(unpacked.files);
  const clips: Clip[] = [];
  const refused: RefusedFile[] = [...unpacked.refused, ...missing];
  for (const file of files) {
    try {
      clips.push(await readClip(file, options.mmPerPx ?? null));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused.push({ file: file.name, reason: error.message });
    }
  }
  const series = new Set(clips.map((clip) => clip.seriesInstanceUid ?? ''));
  const count = files.length + unpacked.refused.length;
  return { clips, refused, files: count, series: series.size };
}
