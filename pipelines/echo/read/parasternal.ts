import { scaleFor } from '../../contract/study.ts';
import { decodeBatch } from '../../input/decode-frames.ts';
import { sizeOf } from '../locate/label-map.ts';
import type { HeartLocator } from '../locate/open-heart-locator.ts';
import { type ParasternalMasks, parasternalLabel } from '../locate/parasternal.ts';
import { longAxisLines } from '../locate/parasternal-lines.ts';
import { fluidDepth } from '../parasternal/fluid-depth.ts';
import type { ParasternalClip, ParasternalFrame } from '../parasternal/parasternal-clip.ts';
import type { ClipView, EchoReader, EchoReaderInput } from '../reader.ts';
import { familyOf } from '../view-names.ts';

export interface ParasternalReadings {
  /** Null where no permitted model knows the parasternal and subcostal views. */
  clips: readonly ParasternalClip[] | null;
}

/** Clips outlined of each family of views, and frames of each: bounds the time of a long study. */
const CLIPS_PER_FAMILY = 2;
const FRAMES_PER_CLIP = 48;
const LEAST_FRAMES = 8;
const BATCH = 8;

const FAMILIES = ['PLAX', 'PSAX', 'subcostal'] as const;

type Family = ParasternalClip['family'];

function chosenClips(views: readonly ClipView[]): { family: Family; of: ClipView }[] {
  const worth = ({ clip, source, confidence }: ClipView) =>
    (clip.regions.length > 0 ? 2 : 0) + (source === 'header' ? 1 : (confidence ?? 0));
  return FAMILIES.flatMap((family) =>
    views
      .filter(
        ({ view, fan, clip }) =>
          view !== null &&
          // A vessel in its length has no ventricle.
          view !== 'SUBCOSTAL-IVC' &&
          familyOf(view) === family &&
          fan !== null &&
          clip.frames.length >= LEAST_FRAMES &&
          clip.mode !== 'colour',
      )
      .toSorted((one, other) => worth(other) - worth(one))
      .slice(0, CLIPS_PER_FAMILY)
      .map((of) => ({ family, of })),
  );
}

function readFrame(
  frame: number,
  time: number,
  masks: ParasternalMasks,
  family: Family,
): ParasternalFrame {
  return {
    frame,
    time,
    cavity: sizeOf(masks, parasternalLabel('lv')),
    lines: family === 'PLAX' ? longAxisLines(masks) : {},
    fluid: fluidDepth(masks),
    confidence: masks.confidence.lv,
    fluidConfidence: masks.confidence.effusion,
    accepted: masks.accepted,
  };
}

async function readClip(
  family: Family,
  { clip, fan, confidence }: ClipView,
  segment: NonNullable<HeartLocator['parasternal']>,
  signal: AbortSignal,
): Promise<ParasternalClip | null> {
  if (!fan) return null;
  const stride = Math.max(1, Math.round(clip.frames.length / FRAMES_PER_CLIP));
  const wanted = clip.frames.filter((_, index) => index % stride === 0);
  const frames: ParasternalFrame[] = [];
  for (let start = 0; start < wanted.length; start += BATCH) {
    signal.throwIfAborted();
    const batch = wanted.slice(start, start + BATCH).map((frame) => ({ clip, frame }));
    const { decoded } = await decodeBatch(batch, signal);
    const masks = await segment(
      decoded.map(({ image }) => image),
      fan,
    );
    for (const [index, { frame }] of decoded.entries()) {
      const found = masks[index];
      if (found) frames.push(readFrame(frame.index, frame.time, found, family));
    }
  }
  const corners = [
    { x: fan.minX, y: fan.minY },
    { x: fan.maxX, y: fan.maxY },
  ];
  const { file, sopInstanceUid, heartRate, rWaves } = clip;
  const scale = scaleFor(clip, corners)?.scale ?? clip.regions[0]?.scale ?? null;
  return {
    file,
    sopInstanceUid,
    family,
    viewConfidence: confidence,
    scale,
    heartRate,
    rWaves,
    stride,
    frames,
  };
}

async function read({ views, locator, signal }: EchoReaderInput): Promise<ParasternalReadings> {
  const segment = locator.parasternal;
  if (!segment) return { clips: null };
  const clips: ParasternalClip[] = [];
  for (const { family, of } of chosenClips(views)) {
    signal.throwIfAborted();
    const clip = await readClip(family, of, segment, signal);
    if (clip) clips.push(clip);
  }
  return { clips };
}

/** Lines of the parasternal long axis, and fluid around the heart in the views beside the apex. */
export const parasternalReader: EchoReader<ParasternalReadings> = {
  stage: 'parasternal',
  label: 'Measuring the parasternal views',
  read,
};
