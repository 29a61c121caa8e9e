import type { Ellipse, Point } from '../contract/image.ts';
import { type Clip, type RefusedFile, scaleFor } from '../contract/study.ts';
import { toMillimetres } from '../measure/ellipse.ts';
import type { Effect } from '../result/decisions.ts';
import { decisionsOf, interpretedWith } from '../result/decisions.ts';
import type { Measurement, Result } from '../result/envelope.ts';
import { hardLimitsOf } from '../result/obstetric/limits.ts';
import { withNotes } from '../run/review-effects.ts';
import type { CorrectableOutline, EndpointRules } from '../run/review-rules.ts';
import { logFailure } from '../run/sections.ts';
import { LENGTHS_OF } from './biometry/judge.ts';
import type { StudyEvidence } from './evidence.ts';
import { interpretStudy } from './interpret-study.ts';
import type { Locator } from './locator.ts';
import {
  type FramePlane,
  isFrameAt,
  MEASURING_PLANES,
  PLANES,
  type Plane,
} from './shared/plane.ts';
import { correctedRuns, examinedFrames } from './shared/sweeps.ts';

/** Stored data of an obstetric study from which a review can interpret the study again. */
export interface ObstetricReviewed {
  given: StudyEvidence;
  refusedFrames: readonly RefusedFile[];
  models: Locator['models'];
  indication: string | null;
}

function outlineOf({ concept: { key }, source }: Measurement): CorrectableOutline | null {
  if (source.calipers[0]?.type !== 'ellipse' || (key !== 'hc' && key !== 'ac')) return null;
  return { structure: key === 'hc' ? 'head' : 'abdomen', follow: LENGTHS_OF[key] };
}

/**
 * Returns the ellipse through the given ends of its axes. The axes are perpendicular in
 * millimetres, not necessarily in pixels.
 */
function ellipseOf(ends: readonly Point[], clip: Clip): Ellipse {
  const scale = scaleFor(clip, ends)?.scale ?? clip.regions[0]?.scale ?? { x: 1, y: 1 };
  const [a1, a2, b1, b2] = ends.map(({ x, y }) => ({ x: x * scale.x, y: y * scale.y }));
  if (!a1 || !a2 || !b1 || !b2) throw new TypeError('an ellipse has four ends of axes');
  const millimetres = {
    centre: { x: (a1.x + a2.x + b1.x + b2.x) / 4, y: (a1.y + a2.y + b1.y + b2.y) / 4 },
    a: Math.hypot(a2.x - a1.x, a2.y - a1.y) / 2,
    b: Math.hypot(b2.x - b1.x, b2.y - b1.y) / 2,
    angle: Math.atan2(a2.y - a1.y, a2.x - a1.x),
  };
  return toMillimetres(millimetres, { x: 1 / scale.x, y: 1 / scale.y });
}

type Outline = Extract<Effect, { do: 'outline' }>;
type NamedPlane = Extract<Effect, { do: 'name-plane' }>;

function renamed<Of extends FramePlane>(one: Of, planes: readonly NamedPlane[]): Of {
  const named = planes.findLast((at) => isFrameAt(one, at));
  if (!named) return one;
  return { ...one, estimate: { label: named.plane as Plane, confidence: 1, belowGate: null } };
}

/**
 * Corrects the runs of each sweep with the planes that a person named. Without this, a sweep
 * misread as twins could not be corrected.
 */
function sweptAsReviewed({ planes, views }: StudyEvidence, named: readonly NamedPlane[]) {
  const { presentation } = views;
  if (!presentation || named.length === 0) return views;
  const sweeps = presentation.sweeps.map(({ clip, runs, ...sweep }) => {
    const own = named
      .filter(({ file }) => file === clip.file)
      .map(({ frame, plane }) => ({ index: frame - 1, plane: plane as Plane }));
    return { clip, runs: correctedRuns(runs, examinedFrames(clip, planes ?? []), own), ...sweep };
  });
  return { ...views, presentation: { ...presentation, sweeps } };
}

function asReviewed(given: StudyEvidence, effects: readonly Effect[]): StudyEvidence {
  const planes = effects.filter((one) => one.do === 'name-plane');
  const outlines = effects.filter((one): one is Outline => one.do === 'outline');
  return {
    ...given,
    planes: given.planes?.map((one) => renamed(one, planes)) ?? null,
    views: sweptAsReviewed(given, planes),
    readings: given.readings.flatMap((one) => {
      const reading = renamed(one, planes);
      const fits = MEASURING_PLANES[one.structure].flat().includes(reading.estimate.label);
      if (reading !== one && !fits) return [];
      const outline = outlines.findLast(
        (at) => at.structure === one.structure && isFrameAt(one, at),
      );
      if (!outline || reading.structure === 'femur') return [reading];
      const ends = outline.points.map(([x, y]) => ({ x, y }));
      const located = { ellipse: ellipseOf(ends, one.clip), confidence: 1, accepted: true };
      return [{ ...reading, located }];
    }),
  };
}

/** Interprets a study after a review: the same sections run on the corrected evidence. */
export function interpretReviewed(
  { given, refusedFrames, models }: ObstetricReviewed,
  effects: readonly Effect[],
  at: Date,
): Result {
  const changed = asReviewed(given, effects);
  const result = interpretedWith(effects, (applied) =>
    interpretStudy(changed, refusedFrames, models, at, logFailure, decisionsOf(applied)),
  );
  return withNotes(result, effects);
}

export function reviewRules({ given }: ObstetricReviewed): EndpointRules {
  return {
    clips: given.study.clips,
    limitsOf: hardLimitsOf,
    restsOn: () => [],
    outlineOf,
    outlineAt: () => null,
    faultOf: () => null,
    views: [],
    planes: PLANES,
  };
}
