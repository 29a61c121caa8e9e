import { stat } from 'node:fs/promises';
import type { Clip, RgbImage } from '../contract/study.ts';
import { UnreadableInput } from '../contract/study.ts';
import { isDicom } from '../dicom/part10.ts';
import { ultrasoundOf, wholeFrame } from '../measure/picture.ts';
import { rectanglePolygon } from '../measure/polygon.ts';
import { type ReadReport, readCartReport } from './cart-sr/read-report.ts';
import { showsColourFlow } from './colour-flow.ts';
import { readDicomClip } from './dicom/clip.ts';
import { pixelDigest, type ReadClip } from './duplicates.ts';
import { readAnimation, readStill } from './stills.ts';
import type { StudyFile } from './study-file.ts';
import { withByteSource } from './study-file.ts';
import { isVideo } from './video/container.ts';
import { readVideo } from './video/frames.ts';

type FileKind = 'dicom' | 'still' | 'animation' | 'video' | 'unknown';

/** Recognises the kind of a file by its content, never by its name. */
async function sniff(path: string): Promise<FileKind> {
  return withByteSource(path, (source) => {
    if (source.size === 0) throw new UnreadableInput('the file is empty');
    const head = source.read(0, Math.min(132, source.size));
    if (isDicom(head)) return 'dicom';
    if (head.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n') return 'still';
    if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'still';
    if (/^GIF8[79]a|^RIFF.{4}WEBP/s.test(head.toString('latin1', 0, 12))) return 'animation';
    if (isVideo(head)) return 'video';
    return 'unknown';
  });
}

/**
 * Returns the clip with its mode. If the header does not state whether the clip shows colour flow,
 * this is determined from the pixels.
 */
async function withColourMode(clip: Clip, firstFrame: RgbImage): Promise<Clip> {
  if (clip.mode !== '2d' && clip.mode !== 'unknown') return clip;
  // Most frames are grey, so the picture is located only if the frame has colour.
  if (!showsColourFlow(firstFrame, [rectanglePolygon(wholeFrame(clip))])) return clip;
  const { areas } = await ultrasoundOf(clip);
  return showsColourFlow(firstFrame, areas) ? { ...clip, mode: 'colour' } : clip;
}

async function readDicom({ name, path }: StudyFile, mmPerPx: number | null): Promise<ReadClip> {
  const { clip, taken, study, firstFrame, remark } = await readDicomClip(name, path, mmPerPx);
  return {
    // A frame of one channel shows no colour.
    clip: firstFrame.channels === 3 ? await withColourMode(clip, firstFrame) : clip,
    taken,
    study,
    remark,
    likeness: { pixels: pixelDigest(firstFrame.data) },
    path,
  };
}

async function withoutHeader(read: Promise<Clip>, path: string): Promise<ReadClip> {
  const clip = await read;
  const firstFrame = await clip.frames[0]?.rgb();
  const { size } = await stat(path);
  return {
    clip: firstFrame ? await withColourMode(clip, firstFrame) : clip,
    taken: null,
    study: null,
    remark: null,
    likeness: { bytes: size },
    path,
  };
}

/**
 * Reads one file, which is either a clip or a structured report of ultrasound measurements.
 * `mmPerPx` is the user's scale.
 *
 * @throws UnreadableInput with a readable sentence if the file cannot be used.
 */
export async function readFile(
  file: StudyFile,
  mmPerPx: number | null,
): Promise<ReadClip | ReadReport> {
  const { name, path } = file;
  switch (await sniff(path)) {
    case 'dicom':
      return (await readCartReport(file)) ?? readDicom(file, mmPerPx);
    case 'still':
      return withoutHeader(readStill(name, path, mmPerPx), path);
    case 'animation':
      return withoutHeader(readAnimation(name, path, mmPerPx), path);
    case 'video':
      return withoutHeader(readVideo(name, path, mmPerPx), path);
    case 'unknown':
      throw new UnreadableInput(
        'the file is neither DICOM nor a PNG, JPEG, GIF or WebP image nor a video',
      );
  }
}
