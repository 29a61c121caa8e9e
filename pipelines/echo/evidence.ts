import type { AcceptedEvidence } from '../../config/schema.ts';
import type { EchoConcept } from '../concepts/echo.ts';
import { EVIDENCE, type EvidenceKey, reviewReason } from '../concepts/evidence.ts';
import type { CartMeasurement, Study } from '../contract/study.ts';
import { cartMeasurements } from '../result/cart-values.ts';
import type { Measurement } from '../result/envelope.ts';
import { isConfirmed } from '../result/measured.ts';
import { createMeasurement, NO_FRAME } from '../result/measurement.ts';
import { remarkOfEcho } from '../result/render/echo/shared.ts';
import { type ReviewSetting, reviewOf, withInterval } from '../result/review.ts';
import type { Remark } from '../result/statement.ts';
import { echoCartValues, performanceMethod, withStatedMethod } from './cart/cart-values.ts';
import {
  type ApicalClips,
  bestClip,
  type MeasuredClip,
  mean,
  measuredClip,
} from './chambers/beats.ts';
import type { ApicalView } from './chambers/gaps.ts';
import type { ApicalReadings } from './chambers/read.ts';
import { tracedMeasurements } from './displays/measure.ts';
import type { DisplayReading } from './displays/reading.ts';
import { indexingArea } from './formulas/body.ts';
import { echoInputOf } from './handheld.ts';
import { atrialValues } from './la-volume/measure.ts';
import type { ClipView } from './locate/reader.ts';
import { LEFT_VENTRICLE } from './lv-size/guideline.ts';
import { strainValues } from './lv-strain/measure.ts';
import { biplaneValues, networkValues, planeValues } from './lvef/measure.ts';
import { longAxisValues } from './parasternal/measure.ts';
import type { ParasternalReadings } from './parasternal/read.ts';
import type { FluidFinding } from './pericardial-effusion/judge.ts';
import { fluidFinding } from './pericardial-effusion/measure.ts';
import type { Readings } from './readers.ts';
import type { PerformanceMethod } from './rv-function/guideline.ts';
import { rightHeartValues } from './rv-function/measure.ts';
import { chamberAreas } from './segment-chambers/measure.ts';
import { withConsistency } from './shared/consistency.ts';
import type { EchoContext } from './shared/input.ts';
import { withPlausibility, withRemark } from './shared/plausibility.ts';
import type { EchoPatient, EchoSection } from './shared/section.ts';
import { scoreIndexOf, type WallSegmentReading, wallSegments } from './wall-motion/measure.ts';

/** The measured apical clips. They are measured once, for all sections that use them. */
export interface HeartOutlines {
  /** Every clip that was outlined. */
  outlined: readonly MeasuredClip[];
  /** Clip that is measured for each view. */
  clips: ApicalClips;
  segments: readonly WallSegmentReading[];
  /**
   * Mean score of the segments. Null if no segment was scored, or if a raised score is only
   * suspected.
   */
  scoreIndex: Measurement | null;
  /** True if volumes, and values derived from a change in volume, may be reported. */
  trusted: boolean;
}

export const NO_OUTLINES: HeartOutlines = {
  outlined: [],
  clips: { A4C: null, A2C: null, A3C: null },
  segments: [],
  scoreIndex: null,
  trusted: false,
};

/** Returns true if both networks agree on an LVEF that is below the normal range of both sexes. */
function isReduced(on: MeasuredClip | null): boolean {
  const agreeing = on?.clip.ejections.filter(({ accepted }) => accepted) ?? [];
  const percent = mean(agreeing.map((one) => one.percent));
  const { male, female } = LEFT_VENTRICLE.ef;
  return agreeing.length > 0 && percent < Math.min(male.normal[0], female.normal[0]);
}

/**
 * Measures the outlined apical clips, the wall segments and the score index.
 * @param parasternal readings whose short-axis clips also show the walls; null if their reader
 *   failed.
 */
export function heartOutlines(
  { clips, volumesTrusted }: ApicalReadings,
  parasternal: ParasternalReadings | null = null,
): HeartOutlines {
  const all = (clips ?? []).map(measuredClip);
  const of = (view: ApicalView) => bestClip(all, view);
  const best = { A4C: of('A4C'), A2C: of('A2C'), A3C: of('A3C') };
  const segments = wallSegments({
    apical: best,
    shortAxes: parasternal?.clips ?? [],
    reduced: isReduced(best.A4C),
  });
  const scoreIndex = volumesTrusted ? scoreIndexOf(segments) : null;
  return { outlined: all, clips: best, segments, scoreIndex, trusted: volumesTrusted };
}

const UNTRUSTED = remarkOfEcho('outlines.untrusted', {});
const DISAGREEING = remarkOfEcho('outlines.networks-disagree-here', {});

/**
 * Marks a measurement as one that must not be reported, with `why` as its only remark. A
 * measurement confirmed by a person is left as it is.
 */
const notTrusted = (one: Measurement, why: Remark): Measurement =>
  isConfirmed(one) ? one : { ...one, quality: 'low', remarks: [why] };

/**
 * Sections that report values even if no second network confirms them, because the values are
 * outlines rather than volumes.
 */
const SHOWN_WITHOUT_SECOND_NETWORK = new Set(['segment-chambers']);

/**
 * Returns all values from the outlines. A value that must not be reported is marked with the
 * reason.
 */
export function outlinedValues(heart: HeartOutlines): Measurement[] {
  const { clips, trusted } = heart;
  const joint = networkValues(clips.A4C);
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
    return all.flatMap((one) =>
      SHOWN_WITHOUT_SECOND_NETWORK.has(one.section) ? [one] : notTrusted(one, UNTRUSTED),
    );
  }
  const disputed = joint.some(({ quality }) => quality === 'low');
  return [
    ...joint,
    ...all.flatMap((one) =>
      disputed && one.section === 'lvef' ? notTrusted(one, DISAGREEING) : [one],
    ),
  ];
}

/** All evidence that sections may use. It is gathered once, before the first section runs. */
export interface EchoEvidence {
  study: Study;
  patient: EchoPatient;
  /**
   * Values from the machine's reports, from traces and from outlines, each assigned to the section
   * that reports it.
   */
  measured: readonly Measurement[];
  /** Readings of all spectral and M-mode displays, for every flow. */
  spectra: readonly DisplayReading[];
  /** View of each clip. */
  clips: readonly ClipView[];
  /** Findings of each image reader; null if the reader failed. */
  views: Readings;
  /** Measured outlines of the apical clips. */
  heart: HeartOutlines;
  /** Fluid around the heart in the parasternal and subcostal clips. */
  fluid: FluidFinding;
  /**
   * Kind of Doppler with which the machine measured RIMP; null if it is not known, or if both kinds
   * were used.
   */
  performanceMethod: PerformanceMethod | null;
  /** True if the input is one to five videos from a handheld scanner rather than a study. */
  handheld: boolean;
  priors: readonly string[];
  /**
   * Absent if values of methods shown to work only on simulated images are used without a review.
   */
  review?: {
    setting: ReviewSetting;
    /**
     * The same study without the values that need a review. The sections draw their conclusions
     * only from this evidence.
     */
    counting: EchoEvidence;
  };
}

/**
 * Returns the patient from the request. The sex is used only if there are reference ranges for it.
 */
export function patientOf(context: EchoContext): EchoPatient {
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

/** Section in which the report shows the body surface area. */
export const SURFACE_SECTION = 'lv-size';

/**
 * Returns the body surface area by Du Bois from the height and weight in the request. If one of
 * them is missing, the area comes from the machine's report (TID 5201; echo 0.6). An implausible
 * height or weight is not replaced by the machine's area.
 */
function surfaceOf(
  { surface, height, weight }: EchoPatient,
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
 * Returns a machine value, with a remark that states the value from the images for the same
 * quantity, if there is one.
 */
function beside(value: Measurement, images: readonly Measurement[]): Measurement {
  const key = value.concept.key as EchoConcept;
  const own = images.find((one) => one.concept.key === key && one.quality === 'accepted');
  if (!own) return value;
  return withRemark(value, remarkOfEcho('echo.of-images', { key, value: own.value }));
}

/** Readings of a study, before values are calculated from them. */
export interface Gathered {
  study: Study;
  context: EchoContext;
  spectra: readonly DisplayReading[];
  clips: readonly ClipView[];
  views: Readings;
  priors: readonly string[];
  /** Evidence that a method needs for its values to be used without a review. */
  accept: AcceptedEvidence;
  /** Ids of the models in use. */
  models: readonly string[];
}

/** Removes the scores and strain of the segments, because they need a review. */
const withoutSegments = (heart: HeartOutlines): HeartOutlines => ({
  ...heart,
  segments: [],
  scoreIndex: null,
});

/**
 * Removes the fluid that was found, because its method needs a review, so that no conclusion is
 * drawn from it.
 */
const unseenFluid = ({ searched }: FluidFinding): FluidFinding => ({
  searched,
  seen: [],
  depth: null,
  outlined: null,
});

/**
 * Gathers the evidence before the first section runs. Each value is assigned to the section that
 * reports it. `review` holds the same study without the values that need a review.
 */
export function gatherEvidence(
  given: Gathered,
  sections: readonly EchoSection<EchoEvidence>[],
): EchoEvidence {
  const { accept, models } = given;
  const whole = gather(given, sections, () => true);
  if (accept === 'simulated') return whole;
  const setting: ReviewSetting = { accept, gaDays: null, models: new Set(models) };
  const counting = gather(given, sections, (one) => reviewOf(one, setting) === null);
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
  const patient = { ...asked, surface: surface?.quality === 'accepted' ? surface.value : null };
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
  const heart = views.apical ? heartOutlines(views.apical, views.parasternal) : NO_OUTLINES;
  const fluid = fluidFinding(views.parasternal);
  const parasternal = [
    ...(views.parasternal ? longAxisValues(views.parasternal) : []),
    ...(fluid.depth ? [fluid.depth] : []),
  ];
  // The values are in order of preference: 2D lines come before M-mode (echo 5.1), and M-mode
  // before the motion of an outline.
  const used = new Set(models);
  // The check comes before the filter, so that a value that needs a review can still cause a value
  // it contradicts to be withheld.
  const images = withConsistency(
    [...parasternal, ...traced, ...outlinedValues(heart)].filter(({ value }) =>
      Number.isFinite(value),
    ),
  )
    .map((one) => withInterval(one, used))
    .filter(counts);
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
