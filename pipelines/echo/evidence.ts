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

/** The measured apical clips, gathered once for every section that uses them. */
export interface HeartOutlines {
  /** Every clip that was outlined. */
  outlined: readonly MeasuredClip[];
  /** The clip that is measured for each view. */
  clips: ApicalClips;
  segments: readonly WallSegmentReading[];
  /**
   * Mean score of the segments; null if a raised score is only suspected, or if no segment was
   * scored.
   */
  scoreIndex: Measurement | null;
  /** Whether volumes, and values derived from their change, may be reported. */
  trusted: boolean;
}

export const NO_OUTLINES: HeartOutlines = {
  outlined: [],
  clips: { A4C: null, A2C: null, A3C: null },
  segments: [],
  scoreIndex: null,
  trusted: false,
};

/** Whether both networks agree on an LVEF below the normal range of either sex. */
function isReduced(on: MeasuredClip | null): boolean {
  const agreeing = on?.clip.ejections.filter(({ accepted }) => accepted) ?? [];
  const percent = mean(agreeing.map((one) => one.percent));
  const { male, female } = LEFT_VENTRICLE.ef;
  return agreeing.length > 0 && percent < Math.min(male.normal[0], female.normal[0]);
}

/**
 * The measured apical clips and what is derived from them.
 * @param parasternal null where the parasternal reader failed; short axes show the walls as well.
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

/** The measurement, marked as not to be reported, with `why` as the only reason. */
const notTrusted = (one: Measurement, why: Remark): Measurement =>
  isConfirmed(one) ? one : { ...one, quality: 'low', remarks: [why] };

/**
 * Sections that report outlines even without a second network: their outlines are drawings, not
 * volumes.
 */
const SHOWN_WITHOUT_SECOND_NETWORK = new Set(['segment-chambers']);

/** Every value from the outlines; values that may not be reported are marked with the reason. */
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

/** Everything that the sections may ask for, gathered once before any of them runs. */
export interface EchoEvidence {
  study: Study;
  patient: EchoPatient;
  /**
   * Values from the machine's reports, from traces and from outlines, each in the section that owns
   * it.
   */
  measured: readonly Measurement[];
  /** Every spectral and M-mode display, traced, whatever flow it shows. */
  spectra: readonly DisplayReading[];
  /** The view of every clip. */
  clips: readonly ClipView[];
  /** What every image reader found; null where it failed. */
  views: Readings;
  /** The outlines of the apical clips, analysed. */
  heart: HeartOutlines;
  /** Fluid around the heart in the parasternal and subcostal clips. */
  fluid: FluidFinding;
  /**
   * The kind of Doppler by which the machine measured RIMP; null where the machine does not state
   * it, or used both kinds.
   */
  performanceMethod: PerformanceMethod | null;
  /** Whether the input is one to five videos of a handheld scanner instead of a study. */
  handheld: boolean;
  priors: readonly string[];
  /** Present where only that counts which was shown on images of its kind. */
  review?: {
    setting: ReviewSetting;
    /** The same study without what needs a review, from which the sections conclude. */
    counting: EchoEvidence;
  };
}

/**
 * The patient as the request describes them. The sex is kept only if reference ranges exist for it.
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

/** Body surface area belongs to the section of LV size; the report shows it there. */
export const SURFACE_SECTION = 'lv-size';

/**
 * Body surface area by Du Bois from the request; if the request gives no height or no weight, the
 * area in the machine's report (TID 5201; echo 0.6). An implausible height or weight is not
 * replaced.
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

/** The machine's value; the value from the outlines for the same quantity is added as a remark. */
function beside(value: Measurement, images: readonly Measurement[]): Measurement {
  const key = value.concept.key as EchoConcept;
  const own = images.find((one) => one.concept.key === key && one.quality === 'accepted');
  if (!own) return value;
  return withRemark(value, remarkOfEcho('echo.of-images', { key, value: own.value }));
}

/** What was read of a study, before anything is calculated from it. */
export interface Gathered {
  study: Study;
  context: EchoContext;
  spectra: readonly DisplayReading[];
  clips: readonly ClipView[];
  views: Readings;
  priors: readonly string[];
  /** Which evidence a method needs for its values to count. */
  accept: AcceptedEvidence;
  /** Ids of the models in use. */
  models: readonly string[];
}

/** The outlines without what needs a review: the scores of the segments and the strain of each. */
const withoutSegments = (heart: HeartOutlines): HeartOutlines => ({
  ...heart,
  segments: [],
  scoreIndex: null,
});

/** Fluid that was searched for by a method that needs a review: nothing is concluded from it. */
const unseenFluid = ({ searched }: FluidFinding): FluidFinding => ({
  searched,
  seen: [],
  depth: null,
  outlined: null,
});

/**
 * Everything that is known before any section runs, each value in the section that shows it; beside
 * it the same study with what counts only.
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

/** @param counts whether a value that was measured on the images is used. */
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
  // Lines on 2D take precedence over M-mode (echo 5.1), and M-mode over the motion of an outline.
  const used = new Set(models);
  // A value that counts is withheld by one under review that contradicts it.
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
    // Values that the operator chose on the machine take precedence over those measured here. A
    // value that is not a finite number would break the schema of the result, and every other value
    // would be lost.
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
