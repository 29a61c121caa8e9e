import type { Clip, Study } from '../../contract/study.ts';
import { inParallel } from '../../input/in-parallel.ts';
import type { Result } from '../../result/envelope.ts';
import type { GrowthCurve } from '../growth-curve.ts';
import { PICTURES_AT_ONCE } from '../raster.ts';
import type { ShownFrames } from '../shown-frames.ts';
import { structuresInSections } from '../structures-in-sections.ts';
import { type ChosenFrame, chosenFrames, cineFrames, KEPT } from './choose-frames.ts';
import { drawnMeasurements, geometryOf, masksOn } from './drawn-on-clip.ts';
import { growthCharts } from './growth-charts.ts';
import { type Listed, listedInSections } from './listed-in-sections.ts';
import { contoursOn, structuresOn } from './listed-structures.ts';
import type { Cine, KeyFrame, OverlayClip, Overlays } from './overlay-contract.ts';
import { SHOWN_AS, toJpeg, toMotionJpeg } from './pictures.ts';

export interface DisplayInput {
  result: Result;
  study: Study;
  shown: ShownFrames;
  /** Null: no growth charts. */
  gaDays: number | null;
  curves: readonly GrowthCurve[];
}

export type WriteArtifact = (name: string, mediaType: string, content: Buffer) => Promise<void>;

/** Of a clip whose file says no times. */
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
 * Writes what a viewer shows of a result: key frames without a drawing (`key-frame-<n>.jpg`), the
 * clips that were measured (`cine-<n>.mjpeg`), and all that is drawn over them (`overlays.json`,
 * overlay-contract.ts); nothing for a study without images and charts. What the previews blacken is
 * black here too.
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
