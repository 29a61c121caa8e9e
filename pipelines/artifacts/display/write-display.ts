import sharp from 'sharp';
import { freeMemory } from '../../../src/platform/free-memory.ts';
import { inParallel } from '../../../src/platform/in-parallel.ts';
import type { Clip, RgbImage, Study } from '../../contract/study.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import type { GrowthCurve } from '../drawing/growth-curve.ts';
import { PICTURES_AT_ONCE } from '../previews/raster.ts';
import type { ShownFrames } from '../previews/shown-frames.ts';
import { structuresInSections } from '../seg/outlined-structures.ts';
import { drawnMeasurements, geometryOf, growthCharts, masksOn } from './drawn-on-clip.ts';
import { contoursOn, type Listed, listedInSections, structuresOn } from './listed-structures.ts';
import type { Cine, KeyFrame, OverlayClip, Overlays } from './overlay-contract.ts';

/** Limits on what is stored for a viewer, per study. */
export const KEPT = {
  /**
   * Maximum number of evenly spaced frames in a cine, not counting frames with calipers, which are
   * always included.
   */
  cineFrames: 60,
  keyFrames: 200,
  /** Total size of all cines, in bytes. Once it is reached, further clips get only key frames. */
  cineBytes: 48 * 1024 * 1024,
} as const;

interface ChosenFrame {
  clip: Clip;
  /** 1-based. */
  frame: number;
  view: string | null;
  sections: readonly string[];
}

function measuredFrames(file: string, measurements: readonly Measurement[]) {
  const own = measurements.filter(
    ({ source }) => source.file === file && source.frame !== null && source.calipers.length > 0,
  );
  return Map.groupBy(own, ({ source }) => source.frame ?? 1);
}

/**
 * Returns the frame that represents a clip without measurements. For a sweep, this is the last
 * frame, where the sweep is complete.
 */
function faceOf({ frames, sweeps }: Clip): number {
  return sweeps.length > 0 ? frames.length : 1 + Math.floor(frames.length / 2);
}

/**
 * Returns the frames of a study that are shown as stills, in the order of the clips: frames with
 * calipers, the best frame of each plane, and one frame of every other clip.
 */
function chosenFrames(
  { clips }: Pick<Study, 'clips'>,
  measurements: readonly Measurement[],
  { bestOf, viewOf }: Pick<Listed, 'bestOf' | 'viewOf'>,
): ChosenFrame[] {
  const chosen = clips.flatMap((clip): ChosenFrame[] => {
    const measured = measuredFrames(clip.file, measurements);
    const best = new Set(bestOf(clip.file));
    const numbers = new Set([...measured.keys(), ...best]);
    if (numbers.size === 0) numbers.add(faceOf(clip));
    return [...numbers]
      .filter((frame) => frame <= clip.frames.length)
      .sort((a, b) => a - b)
      .map((frame) => {
        const sections = (measured.get(frame) ?? []).map(({ section }) => section);
        return {
          clip,
          frame,
          view: viewOf(clip.file, frame),
          sections: [...new Set(best.has(frame) ? ['planes', ...sections] : sections)],
        };
      });
  });
  return chosen.slice(0, KEPT.keyFrames);
}

/**
 * Returns the 1-based frame numbers for the cine of a clip: every n-th frame, up to sixty, plus
 * every frame with calipers. Empty for a still and for a sweep.
 * @param withCalipers numbers of the frames with calipers.
 * @param outlined numbers of the frames with outlines, evenly spaced. If there are any, every n-th
 *   of these frames is used instead of every n-th frame of the clip.
 */
export function cineFrames(
  { frames, mode }: Pick<Clip, 'frames' | 'mode'>,
  withCalipers: readonly number[],
  outlined: readonly number[],
): number[] {
  const still = frames.length < 2 || mode === 'spectral' || mode === 'm-mode';
  if (still) return [];
  const whole = Array.from({ length: frames.length }, (_, index) => index + 1);
  const even = outlined.length > 0 ? [...new Set(outlined)] : whole;
  const step = Math.ceil(even.length / KEPT.cineFrames);
  const kept = even.filter((_, index) => index % step === 0);
  return [...new Set([...kept, ...withCalipers])].sort((a, b) => a - b);
}

/**
 * Longest side in pixels, and JPEG quality. Stills have a higher quality to preserve speckle,
 * because readers look at them closely.
 */
const SHOWN_AS = {
  keyFrame: { longest: 1024, quality: 88 },
  cine: { longest: 640, quality: 78 },
} as const;
type ShownAs = (typeof SHOWN_AS)[keyof typeof SHOWN_AS];

interface JpegPicture {
  jpeg: Buffer;
  width: number;
  height: number;
}

/** Encodes a shown frame, and frees its pixels. */
async function toJpeg(
  { width, height, data }: RgbImage,
  { longest, quality }: ShownAs,
): Promise<JpegPicture> {
  const raw = sharp(data, { raw: { width, height, channels: 3 } });
  const fitted =
    Math.max(width, height) > longest ? raw.resize(longest, longest, { fit: 'inside' }) : raw;
  const { data: jpeg, info } = await fitted.jpeg({ quality }).toBuffer({ resolveWithObject: true });
  freeMemory([data]);
  return { jpeg, width: info.width, height: info.height };
}

interface CinePictures {
  bytes: Buffer;
  width: number;
  height: number;
  spans: { frame: number; offset: number; bytes: number }[];
}

/**
 * Returns the frames as Motion JPEG; null if no frame could be read.
 * @param read returns a frame by its number, or null for a damaged frame, which is left out.
 */
async function toMotionJpeg(
  numbers: readonly number[],
  read: (frame: number) => Promise<RgbImage | null>,
): Promise<CinePictures | null> {
  const pictures = await inParallel(numbers, PICTURES_AT_ONCE, async (frame) => {
    const image = await read(frame);
    return image && { frame, ...(await toJpeg(image, SHOWN_AS.cine)) };
  });
  const readable = pictures.filter((picture) => picture !== null);
  const [first] = readable;
  if (!first) return null;
  let end = 0;
  const spans = readable.map(({ frame, jpeg }) => {
    const offset = end;
    end += jpeg.length;
    return { frame, offset, bytes: jpeg.length };
  });
  const { width, height } = first;
  return { bytes: Buffer.concat(readable.map(({ jpeg }) => jpeg)), width, height, spans };
}

interface DisplayInput {
  result: Result;
  study: Study;
  shown: ShownFrames;
  /** Gestational age in days; null if no growth charts are to be drawn. */
  gaDays: number | null;
  curves: readonly GrowthCurve[];
}

type WriteArtifact = (name: string, mediaType: string, content: Buffer) => Promise<void>;

/** Frame rate assumed for a clip whose file contains no times. */
const UNTIMED_PER_SECOND = 25;

const timeOf = ({ frames }: Clip, frame: number) => frames[frame - 1]?.time ?? 0;

async function writeKeyFrames(
  chosen: readonly ChosenFrame[],
  { shown }: DisplayInput,
  write: WriteArtifact,
): Promise<Map<Clip, KeyFrame[]>> {
  const pictures = await inParallel(chosen, PICTURES_AT_ONCE, async ({ clip, frame }) => {
    const image = await shown.frame(clip, frame);
    return image && toJpeg(image, SHOWN_AS.keyFrame);
  });
  const written = new Map<Clip, KeyFrame[]>();
  let count = 0;
  for (const [index, { clip, frame, view, sections }] of chosen.entries()) {
    const picture = pictures[index];
    if (!picture) continue;
    const { jpeg, width, height } = picture;
    count += 1;
    const artifact = `key-frame-${count}.jpg`;
    await write(artifact, 'image/jpeg', jpeg);
    const time = timeOf(clip, frame);
    const entry = { frame, time, view, artifact, width, height, sections: [...sections] };
    written.set(clip, [...(written.get(clip) ?? []), entry]);
  }
  return written;
}

async function writeCines(
  { study, result, shown }: DisplayInput,
  listed: Listed,
  write: WriteArtifact,
): Promise<Map<Clip, Cine>> {
  const written = new Map<Clip, Cine>();
  let room: number = KEPT.cineBytes;
  for (const clip of study.clips) {
    const { file } = clip;
    const outlined = listed.contoursOf(file).map(({ frame }) => frame);
    const measured = result.measurements.some(({ source }) => source.file === file);
    if (room <= 0 || (!measured && outlined.length === 0)) continue;
    const withCalipers = drawnMeasurements(file, result.measurements).map(({ frame }) => frame);
    const numbers = cineFrames(clip, withCalipers, outlined);
    if (numbers.length === 0) continue;
    const pictures = await toMotionJpeg(numbers, (frame) => shown.frame(clip, frame));
    if (!pictures) continue;
    const { bytes, width, height, spans } = pictures;
    room -= bytes.length;
    const artifact = `cine-${written.size + 1}.mjpeg`;
    await write(artifact, 'video/x-motion-jpeg', bytes);
    const timed = clip.timing !== 'none';
    const frames = spans.map(({ frame, offset, bytes: length }) => {
      const time = timed ? timeOf(clip, frame) : (frame - 1) / UNTIMED_PER_SECOND;
      return { frame, time, offset, bytes: length };
    });
    written.set(clip, { artifact, width, height, timed, frames });
  }
  return written;
}

function overlayOf(
  clip: Clip,
  keyFrames: KeyFrame[],
  cine: Cine | null,
  result: Result,
  listed: Listed,
): OverlayClip {
  const { file } = clip;
  const { measurements } = result;
  const structures = structuresInSections(result);
  return {
    ...geometryOf(clip),
    view: keyFrames[0]?.view ?? null,
    beats: listed.beatsOf(file),
    key_frames: keyFrames,
    cine,
    calipers: drawnMeasurements(file, measurements),
    contours: [...listed.contoursOf(file), ...contoursOn(file, structures)],
    masks: masksOn(clip, measurements, structures),
    structures: structuresOn(file, structures),
    traces: listed.tracesOf(file),
  };
}

/**
 * Writes everything a viewer needs to display a result: key frames without drawings
 * (`key-frame-<n>.jpg`), the clips that were measured (`cine-<n>.mjpeg`), and the drawings over
 * them (`overlays.json`, overlay-contract.ts). Writes nothing for a study with neither images nor
 * charts. Parts that may show a name are black, as in the previews (`ShownFrames`).
 */
export async function writeDisplay(input: DisplayInput, write: WriteArtifact): Promise<void> {
  const { result, study, gaDays, curves } = input;
  const growth = gaDays === null ? null : growthCharts(curves, result, gaDays);
  if (study.clips.length === 0 && growth === null) return;
  const listed = listedInSections(result);
  const chosen = chosenFrames(study, result.measurements, listed);
  const keyFrames = await writeKeyFrames(chosen, input, write);
  const cines = await writeCines(input, listed, write);
  const overlays: Overlays = {
    schema: 'sonogate.overlays/1',
    draft: true,
    clips: study.clips.map((clip) =>
      overlayOf(clip, keyFrames.get(clip) ?? [], cines.get(clip) ?? null, result, listed),
    ),
    growth,
  };
  await write('overlays.json', 'application/json', Buffer.from(JSON.stringify(overlays)));
}
