import type { ConceptKey, MethodKey } from '../../concepts/concepts.ts';
import type { PixelScale } from '../../contract/image.ts';
import type { Measurement } from '../../result/envelope.ts';
import { createMeasurement, lineBetween, measuredOn } from '../../result/measurement.ts';
import { outlinedId } from '../chambers/outlined.ts';
import type { Line, LongAxisLine } from '../locate/parasternal.ts';
import { withPlausibility } from '../shared/plausibility.ts';
import type { ParasternalClip, ParasternalFrame } from './clip.ts';
import { type BeatsOfClip, beatsOf } from './clip.ts';
import type { ParasternalReadings } from './read.ts';
import { lengthOf } from './wall-edges.ts';

const CENTIMETRE = 10;

interface Phased extends BeatsOfClip {
  clip: ParasternalClip;
  scale: PixelScale;
}

/** The accepted frames of a calibrated clip with its beats; null where it shows none. */
function phased(clip: ParasternalClip): Phased | null {
  const found = beatsOf(clip);
  return clip.scale && found.beats.length > 0 ? { clip, scale: clip.scale, ...found } : null;
}

/** Which line at which phase is which quantity (reference 5.1, 6). */
const DIMENSIONS: readonly {
  key: ConceptKey;
  section: string;
  line: LongAxisLine;
  phase: 'diastole' | 'systole';
  unit: 'cm' | 'mm';
}[] = [
  { key: 'ivsd', section: 'lv-size', line: 'septum', phase: 'diastole', unit: 'cm' },
  { key: 'lvidd', section: 'lv-size', line: 'cavity', phase: 'diastole', unit: 'cm' },
  { key: 'lvpwd', section: 'lv-size', line: 'posterior-wall', phase: 'diastole', unit: 'cm' },
  { key: 'lvids', section: 'lv-size', line: 'cavity', phase: 'systole', unit: 'cm' },
  { key: 'la-diameter', section: 'la-volume', line: 'left-atrium', phase: 'systole', unit: 'cm' },
];

interface Drawn {
  key: ConceptKey;
  section: string;
  method: MethodKey;
  clip: ParasternalClip;
  value: number;
  at: ParasternalFrame;
  line: Line;
  confidence: number;
  note: string;
}

function drawnMeasurement({
  key,
  section,
  method,
  clip,
  value,
  at,
  line,
  confidence,
  note,
}: Drawn) {
  const measurement = createMeasurement(outlinedId(key), key, value, method, {
    section,
    derivation: 'mean',
    source: measuredOn(clip, at.frame, 'model', [lineBetween(...line)]),
    confidence,
    note,
  });
  return withPlausibility(measurement, key);
}

function dimensions({ clip, scale, frames, beats }: Phased): Measurement[] {
  return DIMENSIONS.flatMap(({ key, section, line, phase, unit }) => {
    const found = beats.flatMap((beat) => {
      const at = frames[beat[phase]];
      const own = at?.lines[line];
      return at && own ? [{ at, own, length: lengthOf(own, scale) }] : [];
    });
    const [first] = found;
    if (!first) return [];
    const mean = found.reduce((sum, { length }) => sum + length, 0) / found.length;
    return [
      drawnMeasurement({
        key,
        section,
        method: 'outlined-dimension',
        clip,
        value: unit === 'cm' ? mean / CENTIMETRE : mean,
        at: first.at,
        line: first.own,
        confidence: first.at.confidence,
        note: `${found.length} beat${found.length === 1 ? '' : 's'}`,
      }),
    ];
  });
}

/** Less than this, mm, is the trivial fluid of health, or the border of two outlines. */
const LEAST_FLUID = 3;
/** Mean probability below which a space is not called fluid. */
const FLUID_GATE = 0.7;
/** Share of the accepted frames of a clip that must show it. */
const PERSISTENT = 0.6;

/** Clips that must show it: one alone may be a shadow, fat, or an outline that went astray. */
const CONFIRMED = 2;

export interface FluidFinding {
  /** Clips that were searched: calibrated ones with accepted frames and a whole beat. */
  searched: readonly string[];
  /** Clips that show a space free of echoes outside of the heart, by their view. */
  seen: readonly string[];
  /**
   * End-diastolic depth: behind the posterior wall as the picture shows it, else the greatest of the
   * outlines, which is not accepted; null where no searched clip shows any.
   */
  depth: Measurement | null;
  /** The deepest outline, mm, and its view; it may run beyond the fluid by OUTLINE_EXCESS. */
  outlined: { depth: number; family: ParasternalClip['family'] } | null;
}

/** An outline may run beyond the fluid by OUTLINE_EXCESS (guidelines/pericardium.ts). */
const NO_DEPTH = 'the outline of the space runs beyond the fluid; to be measured by hand';

/** The space behind the posterior wall of a long axis at end-diastole; null where it comes and goes. */
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
    at: first.at,
    line: first.line,
    confidence: share,
    note: 'behind the posterior wall, end-diastole; elsewhere it may be deeper',
  };
}

/** Fluid that was outlined in one clip at end-diastole, mm; null where it is not there all the time. */
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
        at: deepest.at,
        line: deepest.line,
        confidence: deepest.at.fluidConfidence,
        note: `${clip.family}, end-diastole`,
      }
    : null;
}

/** Fluid in the parasternal and subcostal clips (reference 13). */
export function fluidFinding({ clips }: ParasternalReadings): FluidFinding {
  const searched = (clips ?? []).flatMap((clip) => phased(clip) ?? []);
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
  if (gap && seen.length > 0) return { ...found, depth: drawnMeasurement(gap) };
  const depth = outline ? drawnMeasurement(outline) : null;
  return { ...found, depth: depth && { ...depth, quality: 'low', note: NO_DEPTH } };
}

/** Dimensions of the best long-axis clip, and the depth of fluid. */
export function parasternalValues(readings: ParasternalReadings): Measurement[] {
  const long = (readings.clips ?? []).filter(({ family }) => family === 'PLAX');
  const best = long
    .flatMap((clip) => phased(clip) ?? [])
    .toSorted((one, other) => dimensions(other).length - dimensions(one).length)[0];
  const { depth } = fluidFinding(readings);
  return [...(best ? dimensions(best) : []), ...(depth ? [depth] : [])];
}
