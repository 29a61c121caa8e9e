import type { Clip } from '../../contract/study.ts';
import type { FramePlane, Plane, Structure } from './plane.ts';
import { namedSweep } from './view-names.ts';

/**
 * Planes on which a structure is measured, in tiers: a later tier is used only where the earlier
 * ones gave nothing. HC may come from the transventricular plane, too (ISUOG 2019); the tilted
 * transcerebellar plane is a last resort, which a remark states. No plane counts where the cerebellum
 * is clearly in view (`excludedBy`). Within a tier the best plane stands first.
 */
export const MEASURING_PLANES: Readonly<Record<Structure, readonly (readonly Plane[])[]>> = {
  head: [['transthalamic', 'transventricular'], ['transcerebellar']],
  abdomen: [['abdominal']],
  femur: [['femur']],
};

/**
 * The same for the BPD alone, which belongs on the transthalamic plane (obstetric 1.4): HC
 * may come from either.
 */
export const BPD_PLANES: readonly (readonly Plane[])[] = [
  ['transthalamic'],
  ['transventricular'],
  ['transcerebellar'],
];

const STRUCTURE_OF: Readonly<Partial<Record<Plane, Structure | 'chest'>>> = {
  transthalamic: 'head',
  transventricular: 'head',
  transcerebellar: 'head',
  abdominal: 'abdomen',
  femur: 'femur',
  thorax: 'chest',
  'four-chamber': 'chest',
};

/** Share of the named frames of a clip that a part of the fetus has at least: fewer are misnamed. */
const PASSED = 0.1;

/**
 * Clips that pass through several parts of the fetus, or are named a sweep: nobody stopped at a plane to
 * measure it.
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

const byConfidence = (a: FramePlane, b: FramePlane) =>
  b.estimate.confidence - a.estimate.confidence;

/** The most confident frame of a plane; null where the plane was not found. */
export function keyFrame(planes: readonly FramePlane[], plane: Plane): FramePlane | null {
  return (
    planes.filter(({ estimate }) => estimate.label === plane).toSorted(byConfidence)[0] ?? null
  );
}

/**
 * Frames of one plane in the order in which they are measured: the best frame of every clip, then
 * the second best of every clip, and so on. Neighbours in one cine are nearly the same picture and
 * would make a median of three look better than it is.
 */
function acrossClips(frames: readonly FramePlane[]): FramePlane[] {
  const byClip = Map.groupBy(frames.toSorted(byConfidence), ({ clip }): Clip => clip);
  return [...byClip.values()]
    .flatMap((own) => own.map((frame, rank) => ({ frame, rank })))
    .toSorted((a, b) => a.rank - b.rank || byConfidence(a.frame, b.frame))
    .map(({ frame }) => frame);
}

/**
 * At most `limit` frames of some planes, best plane first; calibrated ones before others. Frames of a
 * sweep through the fetus cut a structure anyhow: they are taken only where no other frame shows its
 * planes.
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

/** At most `limit` frames on which to look for a structure. */
export const candidateFrames = (
  planes: readonly FramePlane[],
  structure: Structure,
  limit: number,
): FramePlane[] => bestFrames(planes, MEASURING_PLANES[structure].flat(), limit);
