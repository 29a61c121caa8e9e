import { inParallel } from '../../../src/platform/in-parallel.ts';
import type { GrayImage, PixelScale, Point } from '../../contract/image.ts';
import { type Frame, scaleFor } from '../../contract/study.ts';
import { DECODING, sampledBatches } from '../../input/decode-frames.ts';
import { contains, crossings, outlineOf } from '../../measure/outline.ts';
import type { HeartLocator } from '../locate/heart-locator.ts';
import { maskOf, sizeOf } from '../locate/label-map.ts';
import { familyOf, type HeartView } from '../locate/names.ts';
import { longAxisLines, type ParasternalMasks, parasternalLabel } from '../locate/parasternal.ts';
import {
  type ClipView,
  clipRank,
  cornersOf,
  type EchoReader,
  type EchoReaderInput,
  viewToRead,
} from '../locate/reader.ts';
import type { ParasternalClip, ParasternalFrame } from './clip.ts';
import { showsSegments } from './short-axis-segments.ts';
import { shortAxisWall } from './short-axis-wall.ts';
import { linesOnPicture, type PictureLines } from './wall-edges.ts';

const ANGLES = 24;
/** Approximate number of points in the fluid layer at which the depth is measured. */
const PLACES = 120;

function shortestThrough(
  outline: readonly Point[],
  from: Point,
): { ends: readonly [Point, Point]; length: number } | null {
  let best: { ends: readonly [Point, Point]; length: number } | null = null;
  for (let k = 0; k < ANGLES; k++) {
    const angle = (Math.PI * k) / ANGLES;
    const direction = { x: Math.cos(angle), y: Math.sin(angle) };
    const cuts = crossings(outline, from, direction);
    const ahead = cuts.find((cut) => cut > 0);
    const behind = cuts.findLast((cut) => cut <= 0);
    if (ahead === undefined || behind === undefined) continue;
    const length = ahead - behind;
    if (best && length >= best.length) continue;
    const at = (cut: number) => ({
      x: from.x + cut * direction.x,
      y: from.y + cut * direction.y,
    });
    best = { ends: [at(behind), at(ahead)], length };
  }
  return best;
}

/**
 * Returns the line across the pericardial fluid at its deepest place (echo 13). For each sampled
 * point in the fluid, the shortest line across the fluid through that point is found; the longest
 * of these lines is returned. In pixels of the stored frame; null if no fluid was outlined or no
 * such line was found.
 */
function fluidDepth(masks: ParasternalMasks): readonly [Point, Point] | null {
  const { area, width } = masks;
  const fluid = parasternalLabel('effusion');
  const own = sizeOf(masks, fluid);
  if (own === 0) return null;
  const mask = maskOf(masks, fluid);
  const outline = outlineOf(mask, width);
  if (!outline) return null;
  const every = Math.max(1, Math.floor(own / PLACES));
  let deepest: { ends: readonly [Point, Point]; length: number } | null = null;
  let seen = 0;
  // Without `entries()`, which makes an array for each pixel.
  for (let index = 0; index < mask.length; index++) {
    if (mask[index] === 0) continue;
    seen += 1;
    if (seen % every !== 0) continue;
    const from = { x: index % width, y: Math.floor(index / width) };
    const way = contains(outline, from) ? shortestThrough(outline, from) : null;
    if (way && (!deepest || way.length > deepest.length)) deepest = way;
  }
  if (!deepest) return null;
  const [from, to] = deepest.ends;
  const shifted = ({ x, y }: Point) => ({ x: x + area.minX, y: y + area.minY });
  return [shifted(from), shifted(to)];
}

export interface ParasternalReadings {
  /** Null if no permitted model can outline parasternal and subcostal views. */
  clips: readonly ParasternalClip[] | null;
}

/**
 * Maximum number of clips outlined per family of views, so that a long study does not take too
 * long.
 */
const CLIPS_PER_FAMILY = 2;
const FRAMES_PER_CLIP = 48;
const LEAST_FRAMES = 8;

const FAMILIES = ['PLAX', 'PSAX', 'subcostal'] as const;

type Family = ParasternalClip['family'];

interface Chosen {
  family: Family;
  view: HeartView;
  of: ClipView;
}

/**
 * Ranks the clips: calibrated clips first, then clips with a more certain view. The best clip of
 * each short-axis level that shows wall segments comes before all others.
 */
function ranked(clips: readonly Chosen[]): Chosen[] {
  const best = clips.toSorted((one, other) => clipRank(other.of) - clipRank(one.of));
  const leads = ({ view }: Chosen, place: number) =>
    showsSegments(view) && best.findIndex((one) => one.view === view) === place;
  return [...best.filter(leads), ...best.filter((one, place) => !leads(one, place))];
}

function chosenClips(views: readonly ClipView[]): Chosen[] {
  return FAMILIES.flatMap((family) => {
    const own = views.flatMap((of): Chosen[] => {
      const { fan, clip, underStress } = of;
      const view = viewToRead(of);
      // A view along a vessel is left out, because it does not show a ventricle.
      if (view === null || view === 'SUBCOSTAL-IVC' || familyOf(view) !== family) return [];
      const moves = clip.frames.length >= LEAST_FRAMES && clip.mode !== 'colour';
      return fan !== null && moves && !underStress ? [{ family, view, of }] : [];
    });
    return ranked(own).slice(0, CLIPS_PER_FAMILY);
  });
}

function linesOf(masks: ParasternalMasks, { image, view, scale }: Pictured): PictureLines {
  if (view !== 'PLAX') return { lines: {}, gap: null };
  const outlined = longAxisLines(masks);
  return scale ? linesOnPicture(image, scale, outlined) : { lines: outlined, gap: null };
}

interface Pictured {
  image: GrayImage;
  view: HeartView;
  scale: PixelScale | null;
}

function readFrame(
  { index: frame, time }: Frame,
  masks: ParasternalMasks,
  pictured: Pictured,
): ParasternalFrame {
  return {
    frame,
    time,
    cavity: sizeOf(masks, parasternalLabel('lv')),
    ...linesOf(masks, pictured),
    fluid: fluidDepth(masks),
    wall: showsSegments(pictured.view) ? shortAxisWall(masks, pictured.scale) : null,
    confidence: masks.confidence.lv,
    fluidConfidence: masks.confidence.effusion,
    accepted: masks.accepted,
  };
}

async function readClip(
  { family, view, of: { clip, fan } }: Chosen,
  segment: NonNullable<HeartLocator['parasternal']>,
  signal: AbortSignal,
): Promise<ParasternalClip | null> {
  if (!fan) return null;
  const stride = Math.max(1, Math.round(clip.frames.length / FRAMES_PER_CLIP));
  const scale = scaleFor(clip, cornersOf(fan))?.scale ?? null;
  const frames: ParasternalFrame[] = [];
  for await (const decoded of sampledBatches(clip, stride, signal)) {
    const masks = await segment(
      decoded.map(({ image }) => image),
      fan,
    );
    for (const [index, { frame, image }] of decoded.entries()) {
      const found = masks[index];
      if (found) frames.push(readFrame(frame, found, { image, view, scale }));
    }
  }
  const { file, sopInstanceUid, heartRate, rWaves } = clip;
  return {
    file,
    sopInstanceUid,
    family,
    view,
    scale,
    heartRate,
    rWaves,
    frames,
  };
}

async function read(
  { views, locator, signal }: EchoReaderInput,
  known?: (soFar: ParasternalReadings) => void,
): Promise<ParasternalReadings> {
  const segment = locator.parasternal;
  if (!segment) return { clips: null };
  const soFar: ParasternalClip[] = [];
  const clips = await inParallel(chosenClips(views), DECODING.clips, async (chosen) => {
    signal.throwIfAborted();
    const clip = await readClip(chosen, segment, signal);
    if (clip) {
      soFar.push(clip);
      known?.({ clips: [...soFar] });
    }
    return clip;
  });
  return { clips: clips.filter((clip) => clip !== null) };
}

/**
 * Reads the lines of the parasternal long axis, the wall in the short axis, and the fluid around
 * the heart in parasternal and subcostal views.
 */
export const parasternalReader: EchoReader<ParasternalReadings> = {
  stage: 'parasternal',
  label: 'Measuring the parasternal views',
  read,
};
