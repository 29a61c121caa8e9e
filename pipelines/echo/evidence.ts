import type { AcceptedEvidence } from '../../config/schema.ts';
import type { EchoConcept } from '../concepts/echo.ts';
import { EVIDENCE, type EvidenceKey, reviewReason } from '../concepts/method-evidence.ts';
import type { CartMeasurement, Study } from '../contract/study.ts';
import { cartMeasurements } from '../result/cart-values.ts';
import type { Measurement } from '../result/envelope.ts';
import { isConfirmed, NO_FRAME } from '../result/measured.ts';
import { createMeasurement } from '../result/measurement.ts';
import { type ReviewSetting, reviewOf, withInterval } from '../result/needs-review.ts';
import { remarkOfEcho } from '../result/render/echo/shared.ts';
import type { Remark } from '../result/statement.ts';
import { echoCartValues, performanceMethod, withStatedMethod } from './cart/cart-values.ts';
import {
  type ApicalClips,
  bestClip,
  type MeasuredClip,
  mean,
  measuredClip,
} from './chambers/beats.ts';
import { APICAL_VIEWS, type ApicalView } from './chambers/gaps.ts';
import type { ApicalReadings } from './chambers/read.ts';
import { tracedMeasurements } from './displays/measure.ts';
import type { DisplayReading } from './displays/reading.ts';
import { BODY_SURFACE_AREA, indexingArea, isChildSized } from './formulas.ts';
import { type EchoContext, echoInputOf } from './input.ts';
import { atrialValues } from './la-volume/measure.ts';
import type { ClipView } from './locate/reader.ts';
import { strainValues } from './lv-strain/measure.ts';
import { EJECTION_FRACTION } from './lvef/guideline.ts';
import {
  areDisputed,
  biplaneValues,
  networkValues,
  planeValues,
  repeatedEjections,
} from './lvef/measure.ts';
import { longAxisValues } from './parasternal/measure.ts';
import type { ParasternalReadings } from './parasternal/read.ts';
import type { FluidFinding } from './pericardial-effusion/judge.ts';
import { fluidFinding } from './pericardial-effusion/measure.ts';
import type { Readings } from './readers.ts';
import type { PerformanceMethod } from './rv-function/guideline.ts';
import { rightHeartValues } from './rv-function/measure.ts';
import { chamberAreas } from './segment-chambers/measure.ts';
import { OF_BEAT, withConsistency } from './shared/consistency.ts';
import { withPlausibility, withRemark } from './shared/plausibility.ts';
import type { EchoPatient, EchoSection } from './shared/section.ts';
import { scoreIndexOf, type WallSegmentReading, wallSegments } from './wall-motion/measure.ts';

/** The measured apical clips. They are measured once for all sections. */
export interface HeartOutlines {
  outlined: readonly MeasuredClip[];
  /** The clip to use for each view. */
  clips: ApicalClips;
  segments: readonly WallSegmentReading[];
  /**
   * Mean score of the segments. Null if no segment was scored, if a raised score is only suspected,
   * or if `trusted` is false.
   */
  scoreIndex: Measurement | null;
  /** Views whose walls were not graded, because a value measured on their outlines was withheld. */
  withheldViews: readonly ApicalView[];
  /** True if volumes, and values derived from a change in volume, may be reported. */
  trusted: boolean;
}

export const NO_OUTLINES: HeartOutlines = {
  outlined: [],
  clips: { A4C: null, A2C: null, A3C: null },
  segments: [],
  scoreIndex: null,
  withheldViews: [],
  trusted: false,
};

function isReduced(on: MeasuredClip | null): boolean {
  const agreeing = on?.clip.ejections.filter(({ accepted }) => accepted) ?? [];
  const percent = mean(agreeing.map((one) => one.percent));
  const { male, female } = EJECTION_FRACTION;
  return agreeing.length > 0 && percent < Math.min(male.normal[0], female.normal[0]);
}

/**
 * Measures the outlined apical clips, the wall segments and the score index.
 *
 * @param parasternal readings of the short-axis clips, which also show the walls; null if reading
 * them failed.
 */
export function heartOutlines(
  { clips, volumesTrusted }: ApicalReadings,
  parasternal: ParasternalReadings | null = null,
): HeartOutlines {
  const all = (clips ?? []).map(measuredClip);
  const of = (view: ApicalView) => bestClip(all, view);
  const best = { A4C: of('A4C'), A2C: of('A2C'), A3C: of('A3C') };
  const heart = { ...NO_OUTLINES, outlined: all, clips: best, trusted: volumesTrusted };
  return { ...heart, ...walls(heart, best, parasternal) };
}

function walls(
  { trusted }: HeartOutlines,
  apical: ApicalClips,
  parasternal: ParasternalReadings | null,
): Pick<HeartOutlines, 'segments' | 'scoreIndex'> {
  const shortAxes = parasternal?.clips ?? [];
  const segments = wallSegments({ apical, shortAxes, reduced: isReduced(apical.A4C) });
  return { segments, scoreIndex: trusted ? scoreIndexOf(segments) : null };
}

/**
 * Leaves views out of the wall segments and the score index if a value measured on their outlines
 * was withheld, because it is not plausible or because a person rejected it: the motion of the walls
 * is measured on the same outlines (echo 3).
 */
function withSoundWalls(
  heart: HeartOutlines,
  images: readonly Measurement[],
  parasternal: ParasternalReadings | null,
): HeartOutlines {
  const withheld = new Set(
    images.filter(({ quality }) => quality === 'inadequate').map(({ concept }) => concept.key),
  );
  const withheldViews = APICAL_VIEWS.filter(
    (view) => heart.clips[view] && OF_BEAT[view].some((key) => withheld.has(key)),
  );
  if (withheldViews.length === 0) return heart;
  const left = Object.fromEntries(withheldViews.map((view) => [view, null]));
  return { ...heart, ...walls(heart, { ...heart.clips, ...left }, parasternal), withheldViews };
}

const UNTRUSTED = remarkOfEcho('outlines.untrusted', {});
const DISAGREEING = remarkOfEcho('outlines.networks-disagree-here', {});

/**
 * Marks a measurement as one that must not be reported, with `why` as its only remark. A
 * measurement confirmed by a person is left unchanged.
 */
const notTrusted = (one: Measurement, why: Remark): Measurement =>
  isConfirmed(one) ? one : { ...one, quality: 'low', remarks: [why] };

/**
 * Sections whose values are reported even if no second network checks the outlines, because these
 * values are areas of the LV outlines and not volumes.
 */
const SHOWN_WITHOUT_SECOND_NETWORK = new Set(['segment-chambers']);

/**
 * Returns all values measured on the outlines. A value that must not be reported is marked with the
 * reason.
 */
export function outlinedValues(heart: HeartOutlines): Measurement[] {
  const { clips, trusted } = heart;
  const measured = Object.values(clips).filter((one) => one !== null);
  const all = [
    ...measured.flatMap(chamberAreas),
    ...measured.flatMap(planeValues),
    ...biplaneValues(clips),
    ...atrialValues(clips),
    ...rightHeartValues(clips.A4C),
    ...strainValues(clips),
  ];
  if (!trusted) {
    return all.map((one) =>
      SHOWN_WITHOUT_SECOND_NETWORK.has(one.section) ? one : notTrusted(one, UNTRUSTED),
    );
  }
  const ofMeasured = networkValues(clips.A4C);
  const others = heart.outlined.filter((on) => on.clip.view === 'A4C' && on !== clips.A4C);
  const disputed = clips.A4C !== null && areDisputed(clips.A4C);
  return [
    ...ofMeasured,
    ...repeatedEjections(ofMeasured, others),
    ...all.map((one) => (disputed && one.section === 'lvef' ? notTrusted(one, DISAGREEING) : one)),
  ];
}

export interface EchoEvidence {
  study: Study;
  patient: EchoPatient;
  /**
   * The body surface area, and values from the machine's reports, from traces and from outlines,
   * each assigned to the section that reports it.
   */
  measured: readonly Measurement[];
  spectra: readonly DisplayReading[];
  clips: readonly ClipView[];
  /** What each image reader found; null if the reader failed. */
  views: Readings;
  heart: HeartOutlines;
  fluid: FluidFinding;
  /**
   * Kind of Doppler with which the machine measured RIMP. Null if it is not known, or if both kinds
   * were used.
   */
  performanceMethod: PerformanceMethod | null;
  /** True if the input is one to five videos from a handheld scanner and not a study. */
  handheld: boolean;
  priors: readonly string[];
  /**
   * Set if values need a review when their method was shown to work only on simulated images.
   * Absent if such values may be used without a review.
   */
  review?: {
    setting: ReviewSetting;
    /**
     * The same evidence without the values that need a review. Sections draw their conclusions only
     * from this part.
     */
    counting: EchoEvidence;
  };
}

/**
 * Returns the patient described in the request. The sex is used only if there are reference ranges
 * for it.
 */
function patientOf(context: EchoContext): Omit<EchoPatient, 'childSized'> {
  const {
    sex,
    age_years: age = null,
    height_cm: height = null,
    weight_kg: weight = null,
  } = context;
  return {
    sex: sex === 'male' || sex === 'female' ? sex : null,
    age,
    height,
    weight,
    surface: indexingArea(height, weight),
  };
}

export const SURFACE_SECTION = 'lv-size';

/**
 * Returns the body surface area by Du Bois, from the height and weight in the request. If one of
 * them is missing, the area comes from the machine's report (TID 5201; echo 0.6). If one of them is
 * implausible, the machine's area is not used instead.
 */
function surfaceOf(
  { surface, height, weight }: Pick<EchoPatient, 'surface' | 'height' | 'weight'>,
  cart: readonly CartMeasurement[],
): Measurement | null {
  if (surface !== null) {
    return createMeasurement('body-surface-area', 'body-surface-area', surface, 'du-bois', {
      section: SURFACE_SECTION,
      source: { ...NO_FRAME, provenance: 'input' },
    });
  }
  if (height !== null && weight !== null) return null;
  const [given] = cartMeasurements(cart, SURFACE_SECTION, ['body-surface-area']);
  if (!given) return null;
  const remarked = withRemark(given, remarkOfEcho('echo.surface-of-machine', {}));
  return withPlausibility(remarked, 'body-surface-area');
}

/**
 * Returns a machine value. If the same quantity was measured on the images, a remark states that
 * value.
 */
function beside(value: Measurement, images: readonly Measurement[]): Measurement {
  const key = value.concept.key as EchoConcept;
  const own = images.find((one) => one.concept.key === key && one.quality === 'accepted');
  if (!own) return value;
  return withRemark(value, remarkOfEcho('echo.of-images', { key, value: own.value }));
}

export interface Gathered {
  study: Study;
  context: EchoContext;
  spectra: readonly DisplayReading[];
  clips: readonly ClipView[];
  views: Readings;
  priors: readonly string[];
  /** Evidence that a method must have for its values to be used without a review. */
  accept: AcceptedEvidence;
  models: readonly string[];
}

/** Removes the segments, with their scores and strains, because these values need a review. */
const withoutSegments = (heart: HeartOutlines): HeartOutlines => ({
  ...heart,
  segments: [],
  scoreIndex: null,
});

/**
 * Removes the fluid that was found. Its method needs a review, so no conclusion may be drawn from
 * it.
 */
const unseenFluid = ({ searched, ofOutline }: FluidFinding): FluidFinding => ({
  searched,
  ofOutline,
  seen: [],
  depth: null,
  outlined: null,
});

/**
 * Removes the readings of clips whose view is disputed. Which structures a clip shows, and what its
 * volumes mean, depends on its view.
 */
function withoutDisputed(given: Gathered): Gathered {
  const disputed = new Set(given.clips.flatMap(({ clip, dispute }) => (dispute ? clip.file : [])));
  if (disputed.size === 0) return given;
  const { apical, parasternal } = given.views;
  const isSettled = ({ file }: { file: string }) => !disputed.has(file);
  return {
    ...given,
    views: {
      apical: apical && { ...apical, clips: apical.clips?.filter(isSettled) ?? null },
      parasternal: parasternal && {
        ...parasternal,
        clips: parasternal.clips?.filter(isSettled) ?? null,
      },
    },
  };
}

/**
 * Gathers the evidence before the first section runs, with each value assigned to the section that
 * reports it. `review.counting` is the same evidence without the values that need a review.
 */
export function gatherEvidence(
  given: Gathered,
  sections: readonly EchoSection<EchoEvidence>[],
): EchoEvidence {
  const { accept, models } = given;
  const measurable = withoutDisputed(given);
  const whole = gather(measurable, sections, () => true);
  if (accept === 'simulated') return whole;
  const setting: ReviewSetting = { accept, gaDays: null, models: new Set(models) };
  const counting = gather(measurable, sections, (one) => reviewOf(one, setting) === null);
  const shown = (key: EvidenceKey) => reviewReason(EVIDENCE[key], {}, accept) === null;
  return {
    ...whole,
    review: {
      setting,
      counting: {
        ...counting,
        heart: shown('wall-motion') ? counting.heart : withoutSegments(counting.heart),
        fluid: shown('pericardial-fluid') ? counting.fluid : unseenFluid(counting.fluid),
      },
    },
  };
}

/**
 * Gathers the evidence of a study.
 *
 * @param counts returns true if a value measured on the images is to be used.
 */
function gather(
  { study, context, spectra, clips, views, priors, models }: Gathered,
  sections: readonly EchoSection<EchoEvidence>[],
  counts: (measurement: Measurement) => boolean,
): EchoEvidence {
  const asked = patientOf(context);
  const cart = echoCartValues(study.cart ?? []);
  const surface = surfaceOf(asked, cart);
  const { height, weight } = asked;
  const duBois = height && weight ? BODY_SURFACE_AREA.dubois(height, weight) : null;
  const patient = {
    ...asked,
    surface: surface?.quality === 'accepted' ? surface.value : null,
    childSized: isChildSized(height, weight, surface?.value ?? duBois),
  };
  const measured = sections.flatMap(({ id, measures }) =>
    measures.flatMap((key) =>
      cartMeasurements(cart, id, [key]).map((one) =>
        withStatedMethod(withPlausibility(one, key), cart),
      ),
    ),
  );
  const sectionOf = (key: EchoConcept) =>
    sections.find(({ measures }) => measures.includes(key))?.id ?? null;
  const traced = tracedMeasurements(spectra, sectionOf);
  const found = views.apical ? heartOutlines(views.apical, views.parasternal) : NO_OUTLINES;
  const fluid = fluidFinding(views.parasternal);
  const parasternal = [
    ...(views.parasternal ? longAxisValues(views.parasternal) : []),
    ...(fluid.depth ? [fluid.depth] : []),
  ];
  const used = new Set(models);
  // Contradictions are checked before the values are filtered, so that a value is also withheld if
  // the value that it contradicts needs a review. The order of the values is the order of
  // preference: 2D lines, then M-mode (echo 5.1), then the motion of an outline.
  const consistent = withConsistency(
    [...parasternal, ...traced, ...outlinedValues(found)].filter(({ value }) =>
      Number.isFinite(value),
    ),
  );
  const heart = withSoundWalls(found, consistent, views.parasternal);
  const images = consistent.map((one) => withInterval(one, used)).filter(counts);
  return {
    study,
    patient,
    // The machine's values come before the values measured here, because the operator chose them.
    // Values that are not finite are removed, because a single one would make the whole result
    // invalid.
    measured: withConsistency(
      [
        ...(surface ? [surface] : []),
        ...measured.map((value) => beside(value, images)),
        ...images,
      ].filter(({ value }) => Number.isFinite(value)),
    ),
    spectra,
    clips,
    views,
    heart,
    fluid,
    performanceMethod: performanceMethod(study.cart ?? []),
    handheld: echoInputOf(study.clips).kind === 'handheld',
    priors,
  };
}
