import { isConfirmed } from '../../result/measured.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import { type Drawn, drawnMeasurement, type Phased, phased } from '../parasternal/measure.ts';
import type { ParasternalReadings } from '../parasternal/read.ts';
import { lengthOf } from '../parasternal/wall-edges.ts';
import type { FluidFinding } from './judge.ts';

/** Depth, mm, below which fluid is normal or only a border between two outlines. */
const LEAST_FLUID = 3;

const FLUID_GATE = 0.7;

/** Minimum share of a clip's accepted frames that must show the fluid. */
const PERSISTENT = 0.6;

/**
 * Number of clips that must show the fluid. In a single clip, it may be a shadow, fat or a failed
 * outline.
 */
const CONFIRMED = 2;

function gapOf({ clip, scale, frames, beats }: Phased): Drawn | null {
  const share = frames.filter(({ gap }) => gap !== null).length / Math.max(1, frames.length);
  const found = beats.flatMap(({ diastole }) => {
    const at = frames[diastole];
    return at?.gap ? [{ at, line: at.gap, depth: lengthOf(at.gap, scale) }] : [];
  });
  const [first] = found;
  if (!first || share < PERSISTENT) return null;
  return {
    key: 'effusion-depth',
    section: 'pericardial-effusion',
    method: 'echo-free-space',
    clip,
    value: found.reduce((sum, { depth }) => sum + depth, 0) / found.length,
    beats: found.length,
    at: first.at,
    line: first.line,
    confidence: share,
    remark: remarkOfEcho('fluid.place', { place: 'behind-wall' }),
  };
}

function fluidOf({ clip, scale, frames, beats }: Phased): Drawn | null {
  const shown = frames.filter(
    ({ fluid, fluidConfidence }) =>
      fluid && fluidConfidence >= FLUID_GATE && lengthOf(fluid, scale) >= LEAST_FLUID,
  );
  if (shown.length < PERSISTENT * frames.length) return null;
  const depths = beats.flatMap(({ diastole }) => {
    const at = frames[diastole];
    return at?.fluid ? [{ at, line: at.fluid, depth: lengthOf(at.fluid, scale) }] : [];
  });
  const deepest = depths.reduce<(typeof depths)[number] | null>(
    (best, one) => (best && best.depth >= one.depth ? best : one),
    null,
  );
  return deepest && deepest.depth >= LEAST_FLUID
    ? {
        key: 'effusion-depth',
        section: 'pericardial-effusion',
        method: 'echo-free-space',
        clip,
        value: deepest.depth,
        beats: 1,
        at: deepest.at,
        line: deepest.line,
        confidence: deepest.at.fluidConfidence,
        remark: remarkOfEcho('fluid.view', { family: clip.family }),
      }
    : null;
}

/** Finds fluid in the parasternal and subcostal clips (echo 13). */
export function fluidFinding(readings: ParasternalReadings | null): FluidFinding {
  const clips = readings?.clips ?? [];
  const searched = clips.flatMap((clip) => phased(clip) ?? []);
  const outlined = searched.flatMap((one) => fluidOf(one) ?? []);
  const gaps = searched.flatMap((one) => gapOf(one) ?? []);
  const shown = searched.filter(({ clip }) =>
    [...outlined, ...gaps].some((of) => of.clip === clip),
  );
  const seen = shown.length < CONFIRMED ? [] : shown.map(({ clip }) => clip.family);
  const deepest = (of: readonly Drawn[]) => of.toSorted((a, b) => b.value - a.value)[0];
  const [gap, outline] = [deepest(gaps), deepest(outlined)];
  const found = {
    searched: searched.map(({ clip }) => clip.family),
    seen,
    outlined: outline ? { depth: outline.value, family: outline.clip.family } : null,
  };
  if (gap && seen.length > 0) return { ...found, depth: drawnMeasurement(gap), ofOutline: false };
  const depth = outline ? drawnMeasurement(outline) : null;
  const ofOutline = depth !== null;
  if (!depth || isConfirmed(depth)) return { ...found, depth, ofOutline };
  const remarks = [remarkOfEcho('fluid.place', { place: 'outline' })];
  return { ...found, depth: { ...depth, quality: 'low', remarks }, ofOutline };
}
