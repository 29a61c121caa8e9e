import { inParallel } from '../../../src/platform/in-parallel.ts';
import type { Point } from '../../contract/image.ts';
import { type Clip, type Rectangle, scaleFor } from '../../contract/study.ts';
import { DECODING, decodeBatch, sampledBatches, spreadImages } from '../../input/decode-frames.ts';
import { outlineOfRegion } from '../../measure/outline.ts';
import { largestOf, regionsOf } from '../../measure/regions.ts';
import { fractionalChange } from '../formulas.ts';
import { areaOf, type ChamberMasks, labelOf } from '../locate/chambers.ts';
import type { HeartLocator } from '../locate/heart-locator.ts';
import { CHAMBERS } from '../locate/names.ts';
import { type JudgedChamber, outlineFault } from '../locate/outline-faults.ts';
import {
  type ClipView,
  clipRank,
  cornersOf,
  type EchoReader,
  type EchoReaderInput,
  viewToRead,
} from '../locate/reader.ts';
import { litHull } from '../locate/sector.ts';
import { jumpingFrames, shapeFaults, ventriclePose } from '../locate/ventricle-pose.ts';
import { bestClip, type ClipBeat, measuredClip } from './beats.ts';
import { APICAL_VIEWS, type ApicalView } from './gaps.ts';
import {
  type ChamberClip,
  type ChamberFrame,
  type JointEjection,
  planeVolume,
} from './geometry.ts';

export interface ApicalReadings {
  /** Null if no permitted model outlines chambers. */
  clips: readonly ChamberClip[] | null;
  /**
   * True if a second network checks the outlines. Without this check, no volume or EF is reported,
   * because outlines alone were not shown to be more accurate than assuming the same value for
   * every patient.
   */
  volumesTrusted: boolean;
}

/**
 * Maximum number of clips outlined per view, so that a long study does not take too long. Only the
 * view is identified in the other clips.
 */
const CLIPS_PER_VIEW = 2;
/**
 * Approximate number of frames outlined first in a clip: two seconds at 30 frames per second. They
 * show which clip of a view is measured.
 */
const FRAMES_PER_CLIP = 64;
/**
 * Approximate number of frames outlined in the clip that is measured: every frame of five seconds
 * at 60 frames per second.
 */
const FRAMES_OF_MEASURED_CLIP = 300;
/**
 * Minimum number of frames in a clip. A single picture cannot show a beat, but two pictures may be
 * end-diastole and end-systole.
 */
const LEAST_FRAMES = 2;
/**
 * Number of frames examined to determine whether a display is mirrored and where the edge of its
 * fan is.
 */
const SIDE_FRAMES = 2;

interface Chosen {
  view: ApicalView;
  of: ClipView & { fan: Rectangle };
}

function chosenClips(views: readonly ClipView[]): Chosen[] {
  return APICAL_VIEWS.flatMap((view) =>
    views
      .flatMap((of) => {
        const { clip, fan, underStress } = of;
        const moves = clip.frames.length >= LEAST_FRAMES && clip.mode !== 'colour';
        const usable = viewToRead(of) === view && moves && !underStress;
        return fan && usable ? [{ view, of: { ...of, fan } }] : [];
      })
      .toSorted((one, other) => clipRank(other.of) - clipRank(one.of))
      .slice(0, CLIPS_PER_VIEW),
  );
}

function outlinesIn({ area, width, labels }: ChamberMasks) {
  const regions = Map.groupBy(regionsOf(labels, width), ({ value }) => value);
  return CHAMBERS.flatMap((chamber) => {
    const largest = largestOf(regions.get(labelOf(chamber)) ?? []);
    const outline = largest && outlineOfRegion(largest, width);
    if (!outline) return [];
    return [
      [chamber, outline.map(({ x, y }) => ({ x: x + area.minX, y: y + area.minY }))] as const,
    ];
  });
}

function readFrame(
  frame: number,
  time: number,
  masks: ChamberMasks,
  picture: readonly Point[],
): ChamberFrame {
  const outlines: ChamberFrame['outlines'] = Object.fromEntries(outlinesIn(masks));
  const faultOf = (chamber: JudgedChamber) => {
    const outline = outlines[chamber];
    return outline ? outlineFault(chamber, outline, picture) : null;
  };
  const shapes: ChamberFrame['faults'] = shapeFaults(masks);
  const dented = faultOf('lv') === 'dented' ? (['dented'] as const) : [];
  return {
    frame,
    time,
    outlines,
    confidence: masks.confidence,
    pose: ventriclePose(masks),
    faults: [...(masks.accepted ? [] : (['below-gate'] as const)), ...shapes, ...dented],
    chamberFaults: Object.fromEntries(
      (['la', 'rv', 'ra'] as const).flatMap((chamber) => {
        const fault = faultOf(chamber);
        return fault ? [[chamber, fault]] : [];
      }),
    ),
  };
}

type Segment = NonNullable<HeartLocator['segment']>;

interface Outlining {
  clip: Clip;
  fan: Rectangle;
  mirrored: boolean;
  /** Convex hull of the lit pixels of the fan, in pixels of the stored frame. */
  picture: readonly Point[];
  segment: Segment;
  signal: AbortSignal;
}

function withJumps(frames: OutlinedFrames['frames']): ChamberFrame[] {
  const jumps = new Set(jumpingFrames(frames.map(({ cavity }) => cavity)));
  return frames.map(({ frame }, index) =>
    jumps.has(index) ? { ...frame, faults: [...frame.faults, 'area-jump' as const] } : frame,
  );
}

const imageOf = async (clip: Clip, index: number, signal: AbortSignal) => {
  const frame = clip.frames[index];
  const { decoded } = await decodeBatch(frame ? [{ clip, frame }] : [], signal);
  return decoded[0]?.image ?? null;
};

interface OutlinedFrames {
  /** Every `stride`-th frame of the clip was outlined. */
  stride: number;
  /** In the order of the clip, with the area of the cavity in pixels of the mask. */
  frames: readonly { frame: ChamberFrame; cavity: number }[];
}

const strideFor = ({ frames }: Clip, most: number) => Math.max(1, Math.round(frames.length / most));

async function outlineFrames(
  { clip, fan, mirrored, picture, segment, signal }: Outlining,
  stride: number,
  before: OutlinedFrames['frames'] = [],
): Promise<OutlinedFrames> {
  const frames = before.filter(({ frame }) => frame.frame % stride === 0);
  const known = new Set(frames.map(({ frame }) => frame.frame));
  for await (const decoded of sampledBatches(clip, stride, signal, known)) {
    const masks = await segment(
      decoded.map(({ image }) => image),
      fan,
      mirrored,
    );
    for (const [index, { frame }] of decoded.entries()) {
      const found = masks[index];
      if (!found) continue;
      frames.push({
        frame: readFrame(frame.index, frame.time, found, picture),
        cavity: areaOf(found, 'lv'),
      });
    }
  }
  return { stride, frames: frames.toSorted((one, other) => one.frame.frame - other.frame.frame) };
}

/**
 * Returns the EF of one beat from the outlines, per cent. It is a ratio, so no scale is needed.
 * Null if a volume is missing.
 */
function discEjection({ diastole, systole }: ClipBeat): number | null {
  const [filled, emptied] = [planeVolume(diastole.lv), planeVolume(systole.lv)];
  return filled !== null && emptied !== null ? fractionalChange(filled, emptied) : null;
}

async function ejectionsOf(
  read: ChamberClip,
  clip: Clip,
  estimate: HeartLocator['ejectionFraction'],
  signal: AbortSignal,
): Promise<JointEjection[]> {
  // The second network was trained on the four-chamber view only.
  if (!estimate || read.view !== 'A4C') return [];
  const found: JointEjection[] = [];
  for (const beat of measuredClip(read).beats) {
    const [diastole, systole] = [beat.diastole.frame, beat.systole.frame];
    const pose = read.frames.find(({ frame }) => frame === diastole)?.pose;
    const byDiscs = discEjection(beat);
    const ed = await imageOf(clip, diastole, signal);
    const es = await imageOf(clip, systole, signal);
    if (!pose || !ed || !es || byDiscs === null) continue;
    const joint = await estimate({ ed, es, pose, byDiscs });
    found.push({ ...joint, diastole, systole });
  }
  return found;
}

interface Read {
  chosen: Chosen;
  outlining: Outlining;
  outlined: OutlinedFrames;
  clip: ChamberClip;
}

function chamberClip(
  { view, of: { clip, fan } }: Chosen,
  { mirrored }: Outlining,
  { stride, frames: outlined }: OutlinedFrames,
): ChamberClip {
  const frames = withJumps(outlined);
  const lv = frames.flatMap(({ outlines }) => outlines.lv ?? []);
  return {
    file: clip.file,
    sopInstanceUid: clip.sopInstanceUid,
    view,
    scale: scaleFor(clip, lv.length > 0 ? lv : cornersOf(fan))?.scale ?? null,
    heartRate: clip.heartRate,
    rWaves: clip.rWaves,
    framesInClip: clip.frames.length,
    stride,
    mirrored,
    frames,
    ejections: [],
  };
}

async function survey(
  chosen: Chosen,
  locator: HeartLocator,
  segment: Segment,
  signal: AbortSignal,
): Promise<Read> {
  const { clip, fan } = chosen.of;
  const some = await spreadImages(clip, SIDE_FRAMES, signal);
  // Mirroring is recognised from the position of the right heart, which only the four-chamber view
  // shows.
  const mirrored = chosen.view === 'A4C' && ((await locator.isMirrored?.(some, fan)) ?? false);
  const outlining = { clip, fan, mirrored, picture: litHull(some, fan), segment, signal };
  const outlined = await outlineFrames(outlining, strideFor(clip, FRAMES_PER_CLIP));
  return { chosen, outlining, outlined, clip: chamberClip(chosen, outlining, outlined) };
}

/** Outlines more frames of a clip than the survey did. */
async function outlineWhole({ chosen, outlining, outlined }: Read): Promise<ChamberClip> {
  const stride = strideFor(outlining.clip, FRAMES_OF_MEASURED_CLIP);
  const whole = await outlineFrames(outlining, stride, outlined.frames);
  return chamberClip(chosen, outlining, whole);
}

/**
 * Returns the clip to measure for a view: the best clip in which the surveyed frames show a beat.
 * If no clip of the view shows one, returns its first clip, because the surveyed frames of a long
 * clip can be too far apart to show a beat.
 */
const clipToMeasure = (clips: readonly ChamberClip[], view: ApicalView) =>
  bestClip(clips.map(measuredClip), view)?.clip ?? clips.find((clip) => clip.view === view);

async function read(
  { views, locator, signal }: EchoReaderInput,
  known?: (soFar: ApicalReadings) => void,
): Promise<ApicalReadings> {
  const { segment } = locator;
  const volumesTrusted = locator.ejectionFraction !== null;
  if (!segment) return { clips: null, volumesTrusted };
  const soFar: ChamberClip[] = [];
  const finished = async (clip: ChamberClip, { outlining }: Read) => {
    const estimate = locator.ejectionFraction;
    const ejections = await ejectionsOf(clip, outlining.clip, estimate, signal);
    const complete = { ...clip, ejections };
    soFar.push(complete);
    known?.({ clips: [...soFar], volumesTrusted });
    return complete;
  };
  const surveyed = await inParallel(chosenClips(views), DECODING.clips, async (chosen) => {
    signal.throwIfAborted();
    const found = await survey(chosen, locator, segment, signal);
    // A clip that is already outlined on every frame is finished here, without waiting for the
    // other clips of its view.
    return found.outlined.stride > 1
      ? found
      : { ...found, clip: await finished(found.clip, found) };
  });
  const outlined = surveyed.map(({ clip }) => clip);
  const measured = new Set(APICAL_VIEWS.map((view) => clipToMeasure(outlined, view)));
  const clips = await inParallel(surveyed, DECODING.clips, async (found) => {
    signal.throwIfAborted();
    const { clip, outlined } = found;
    if (outlined.stride === 1) return clip;
    return finished(measured.has(clip) ? await outlineWhole(found) : clip, found);
  });
  return { clips, volumesTrusted };
}

/** Outlines the chambers on the frames of the apical clips. */
export const apicalReader: EchoReader<ApicalReadings> = {
  stage: 'chambers',
  label: 'Outlining the chambers',
  read,
};
