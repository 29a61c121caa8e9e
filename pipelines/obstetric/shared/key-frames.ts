import type { Clip } from '../../contract/study.ts';
import {
  byConfidence,
  type FramePlane,
  MEASURING_PLANES,
  type Plane,
  type Structure,
} from './plane.ts';
import { namedSweep } from './view-names.ts';

const STRUCTURE_OF: Readonly<Partial<Record<Plane, Structure | 'chest'>>> = {
  transthalamic: 'head',
  transventricular: 'head',
  transcerebellar: 'head',
  abdominal: 'abdomen',
  femur: 'femur',
  thorax: 'chest',
  'four-chamber': 'chest',
};

/**
 * Minimum share of the classified frames of a clip that must show a part of the fetus for the clip
 * to count as passing through it. Rarer labels are probably wrong.
 */
const PASSED = 0.1;

/**
 * Returns clips that pass through several parts of the fetus or are labelled as a sweep. In these,
 * the operator did not stop at a plane to measure it.
 */
function sweptClips(planes: readonly FramePlane[]): ReadonlySet<Clip> {
  const parts = Map.groupBy(planes, ({ clip }) => clip);
  const swept = [...parts].filter(([clip, own]) => {
    const named = own.flatMap(({ estimate }) => STRUCTURE_OF[estimate.label] ?? []);
    const passed = [...Map.groupBy(named, (part) => part).values()].filter(
      (frames) => frames.length >= PASSED * named.length,
    );
    return passed.length > 1 || namedSweep(clip).sweep;
  });
  return new Set(swept.map(([clip]) => clip));
}

/**
 * Sorts the frames of a plane into the order in which they are measured: the best frame of every
 * clip, then the second best of every clip, and so on. Neighbouring frames of a cine are almost the
 * same image, so a median of three of them would look more reliable than it is.
 */
function acrossClips(frames: readonly FramePlane[]): FramePlane[] {
  const byClip = Map.groupBy(frames.toSorted(byConfidence), ({ clip }): Clip => clip);
  return [...byClip.values()]
    .flatMap((own) => own.map((frame, rank) => ({ frame, rank })))
    .toSorted((a, b) => a.rank - b.rank || byConfidence(a.frame, b.frame))
    .map(({ frame }) => frame);
}

/**
 * Returns at most `limit` frames of the wanted planes: calibrated frames first, and among them in
 * the order of `wanted`. A frame of a sweep through the fetus cuts a structure at random and is
 * used only if no other frame shows the planes.
 */
export function bestFrames(
  planes: readonly FramePlane[],
  wanted: readonly Plane[],
  limit: number,
): FramePlane[] {
  const swept = sweptClips(planes);
  const found = ranked(
    planes.filter(({ clip }) => !swept.has(clip)),
    wanted,
    limit,
  );
  return found.length > 0 ? found : ranked(planes, wanted, limit);
}

function ranked(
  planes: readonly FramePlane[],
  wanted: readonly Plane[],
  limit: number,
): FramePlane[] {
  const candidates = wanted.flatMap((plane) =>
    acrossClips(planes.filter(({ estimate }) => estimate.label === plane)),
  );
  const calibrated = candidates.filter(({ clip }) => clip.regions.length > 0);
  const uncalibrated = candidates.filter(({ clip }) => clip.regions.length === 0);
  return [...calibrated, ...uncalibrated].slice(0, limit);
}

/** Returns at most `limit` frames in which to search for a structure. */
export const candidateFrames = (
  planes: readonly FramePlane[],
  structure: Structure,
  limit: number,
): FramePlane[] => bestFrames(planes, MEASURING_PLANES[structure].flat(), limit);
