import type { Effect } from '../result/decisions.ts';
import { deciding, decisionsOf, interpretedWith } from '../result/decisions.ts';
import type { Measurement, Result } from '../result/envelope.ts';
import { withNotes } from '../run/review-effects.ts';
import { type CorrectableOutline, type EndpointRules, toPoints } from '../run/review-rules.ts';
import { logFailure } from '../run/sections.ts';
import { correctedGeometry } from './chambers/beats.ts';
import { APICAL_VIEWS } from './chambers/gaps.ts';
import type { ChamberClip, ChamberFrame } from './chambers/geometry.ts';
import { type Gathered, gatherEvidence } from './evidence.ts';
import type { EchoOptions } from './input.ts';
import { interpretStudy } from './interpret-study.ts';
import type { HeartLocator } from './locate/heart-locator.ts';
import { ECHO_VIEWS, familyOf, type HeartView } from './locate/names.ts';
import type { ParasternalClip } from './parasternal/clip.ts';
import { SECTIONS } from './sections.ts';
import { OF_BEAT, restsOn } from './shared/consistency.ts';
import { plausibleRange } from './shared/plausibility.ts';

/** What the pipeline stores of an echo study, so that a review can interpret it again. */
export interface EchoReviewed {
  gathered: Gathered;
  options: EchoOptions;
  models: HeartLocator['models'];
  indication: string | null;
}

/**
 * Half of the combined LVEF comes from the outlines, so it becomes invalid if the ventricular
 * outline is corrected.
 */
const OF_NETWORKS = ['lvef-networks'];

const ventricle = (view: '4c' | '2c', phase: 'd' | 's'): CorrectableOutline => ({
  structure: 'lv',
  follow: [
    `lve${phase}v-${view}`,
    `lve${phase}v-biplane`,
    `lv-e${phase}-area-${view}`,
    `lvef-${view}`,
    ...(phase === 'd' ? [`lv-length-${view}`] : []),
  ],
  replaces: OF_NETWORKS,
});

const OUTLINES: Readonly<Record<string, CorrectableOutline>> = {
  'lvedv-4c': ventricle('4c', 'd'),
  'lvesv-4c': ventricle('4c', 's'),
  'lvedv-2c': ventricle('2c', 'd'),
  'lvesv-2c': ventricle('2c', 's'),
};

const outlineOf = ({ concept, source }: Measurement): CorrectableOutline | null =>
  source.calipers[0]?.type === 'polygon' && Object.hasOwn(OUTLINES, concept.key)
    ? (OUTLINES[concept.key] ?? null)
    : null;

function correctedClip(clip: ChamberClip, effects: readonly Effect[]): ChamberClip[] {
  const own = effects.filter((one) => 'file' in one && one.file === clip.file);
  const isTouched = own.some((one) => one.do === 'name-view' || one.do === 'outline');
  // The measurements of a clip are cached by object identity. A clip without corrections is
  // returned unchanged, so that it is not measured again.
  if (!isTouched) return [clip];
  const named = namedViewOf(clip.file, own);
  const view = named === undefined ? clip.view : APICAL_VIEWS.find((one) => one === named);
  if (!view) return [];
  const frames = clip.frames.map((frame): ChamberFrame => {
    const outline = own.findLast((one) => one.do === 'outline' && one.frame === frame.frame + 1);
    return outline?.do === 'outline'
      ? { ...frame, corrected: { ...frame.corrected, lv: toPoints(outline.points) } }
      : frame;
  });
  return [{ ...clip, view, frames }];
}

/**
 * Returns the clip under the view that a person named. Its readings are used only in a view of the
 * same family, because other views show other structures.
 */
function renamedParasternal(clip: ParasternalClip, effects: readonly Effect[]): ParasternalClip[] {
  const named = namedViewOf(clip.file, effects);
  if (named === undefined) return [clip];
  return named !== null && familyOf(named) === clip.family ? [{ ...clip, view: named }] : [];
}

/**
 * Returns the view that a person last named for a file; null if they saw none of the known views,
 * and undefined if they named none.
 */
function namedViewOf(file: string, effects: readonly Effect[]): HeartView | null | undefined {
  const named = effects.findLast((one) => one.do === 'name-view' && one.file === file);
  if (named?.do !== 'name-view') return undefined;
  return named.view === 'other' ? null : (named.view as HeartView);
}

function asReviewed(gathered: Gathered, effects: readonly Effect[]): Gathered {
  const { views, clips } = gathered;
  const apical = views.apical && {
    ...views.apical,
    clips: views.apical.clips?.flatMap((clip) => correctedClip(clip, effects)) ?? null,
  };
  const parasternal = views.parasternal && {
    ...views.parasternal,
    clips: views.parasternal.clips?.flatMap((clip) => renamedParasternal(clip, effects)) ?? null,
  };
  return {
    ...gathered,
    views: { ...views, apical, parasternal },
    clips: clips.map((one) => {
      const view = namedViewOf(one.clip.file, effects);
      if (view === undefined) return one;
      const { dispute: _, ...settled } = one;
      return { ...settled, view, source: 'person', confidence: null, belowGate: null };
    }),
  };
}

/**
 * Returns the result of a study after a review. The same sections run on the corrected evidence.
 */
export function interpretReviewed(
  { gathered, options, models }: EchoReviewed,
  effects: readonly Effect[],
  at: Date,
): Result {
  const changed = asReviewed(gathered, effects);
  const result = interpretedWith(effects, (applied) => {
    const decisions = decisionsOf(applied);
    const evidence = deciding(decisions, () => gatherEvidence(changed, SECTIONS));
    const { accept } = gathered;
    return interpretStudy(evidence, options, at, models, accept, logFailure, decisions);
  });
  return withNotes(result, effects);
}

export function reviewRules({ gathered }: EchoReviewed): EndpointRules {
  const frameAt = (file: string | null, frame: number) => {
    const clip = gathered.views.apical?.clips?.find((one) => one.file === file);
    const found = clip?.frames.find((one) => one.frame + 1 === frame);
    return clip && found ? { frame: found, scale: clip.scale } : null;
  };
  return {
    clips: gathered.study.clips,
    limitsOf: plausibleRange,
    restsOn: (key) =>
      key === 'wall-motion-score-index' ? Object.values(OF_BEAT).flat() : restsOn(key),
    outlineOf,
    outlineAt: ({ source }, frame) => frameAt(source.file, frame)?.frame.outlines.lv ?? null,
    faultOf: ({ source }, frame, points) => {
      const at = frameAt(source.file, frame);
      return at && correctedGeometry(at.frame, { lv: points }, at.scale) === null
        ? 'The outline does not reach the valve: draw it from one hinge point of the valve to the other.'
        : null;
    },
    views: ECHO_VIEWS,
    planes: [],
  };
}
