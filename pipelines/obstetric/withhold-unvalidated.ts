import { EVIDENCE, type EvidenceKey, reviewReason } from '../concepts/method-evidence.ts';
import type { Clip, Frame } from '../contract/study.ts';
import type { Decisions } from '../result/decisions.ts';
import type { ReviewSetting } from '../result/needs-review.ts';
import { lengthsOf } from './biometry/measure.ts';
import type { StudyEvidence } from './evidence.ts';
import type { LABOR_KEYS } from './labor-progress/evidence.ts';
import type { Readings } from './readers.ts';
import {
  type FramePlane,
  type FrameReading,
  isFrameAt,
  type Plane,
  type Structure,
} from './shared/plane.ts';

/**
 * Evidence for the method that outlines each structure or finds its ends. `withholdUnvalidated`
 * removes the readings that need review before the sections run, so the sections need not check
 * whether a method was validated on this kind of image.
 */
const OF_STRUCTURE = {
  head: 'head-outline',
  abdomen: 'abdomen-outline',
  femur: 'femur-ends',
} as const satisfies Record<Structure, EvidenceKey>;

const OF_PLANE: Readonly<Record<Plane, EvidenceKey | null>> = {
  transthalamic: 'standard-planes',
  transventricular: 'standard-planes',
  transcerebellar: 'standard-planes',
  abdominal: 'standard-planes',
  femur: 'standard-planes',
  thorax: 'standard-planes',
  midsagittal: 'midsagittal-plane',
  transperineal: 'transperineal-plane',
  cervix: 'simulated-planes',
  'early-pregnancy': 'simulated-planes',
  'amniotic-fluid': 'simulated-planes',
  placenta: 'simulated-planes',
  'four-chamber': 'simulated-planes',
  // No evidence is needed, because an image that shows none of the planes leads to no conclusion.
  other: null,
};

const OF_DESCENT = {
  'angle-of-progression': 'angle-of-progression',
  'head-symphysis-distance': 'head-in-labor',
  'head-direction': 'head-in-labor',
} as const satisfies Record<(typeof LABOR_KEYS)[number], EvidenceKey>;

/**
 * Returns true if a person confirmed a value that was read on this frame by a method that needs
 * this evidence. `frame` is 0-based; null for a value of the whole clip.
 */
type Confirmed = (evidence: EvidenceKey, file: string, frame: number | null) => boolean;

/** What each reader found. A reader that failed found nothing. */
type Found = { [Reader in keyof Readings]: NonNullable<Readings[Reader]> };

type OnFrame = { clip: Pick<Clip, 'file'>; frame: Pick<Frame, 'index'> };

const onFrames = <Of extends OnFrame>(
  found: readonly Of[] | null,
  evidence: EvidenceKey,
  isConfirmed: Confirmed,
): Of[] => (found ?? []).filter(({ clip, frame }) => isConfirmed(evidence, clip.file, frame.index));

const framesOf = (evidence: EvidenceKey) => ({
  evidence,
  confirmed: <Of extends { frames: readonly OnFrame[] | null }>(
    found: Of,
    isConfirmed: Confirmed,
  ): Of => ({ ...found, frames: onFrames(found.frames, evidence, isConfirmed) }),
});

/** Evidence for the rates on M-mode sweeps, spectra and cines. */
const RATE = 'fetal-heart-rate' satisfies EvidenceKey;

/**
 * Returns the frames of an early pregnancy on which a value was confirmed, and the whole clip if
 * its heart rate was confirmed. Neither a clip without a beat nor a sac without contents has a value
 * that can be confirmed, so nothing is concluded from what was not found.
 */
function confirmedEarly(clips: Found['earlyPregnancy'], isConfirmed: Confirmed) {
  return clips.flatMap((one) => {
    if (isConfirmed(RATE, one.clip.file, null)) return [{ ...one, held: true as const }];
    const frames = onFrames(one.frames, 'early-pregnancy', isConfirmed);
    const cardiac = one.cardiac && { status: 'needs-review' as const };
    return frames.length > 0 ? [{ ...one, frames, cardiac, held: true as const }] : [];
  });
}

function confirmedHeart(found: Found['fetalHeart'], isConfirmed: Confirmed) {
  const chests = onFrames(found.chests, 'fetal-heart-size', isConfirmed);
  const mMode = found.mMode.filter(({ file, frame }) => isConfirmed(RATE, file, frame));
  if (chests.length === 0 && mMode.length === 0) {
    return { chests, views: [], chestFrames: 0, mMode };
  }
  const views = found.views.filter(
    ({ by, file, frame }) => by === 'named' || isConfirmed('fetal-heart-size', file, frame),
  );
  return { chests, views, chestFrames: found.chestFrames, mMode };
}

/**
 * Returns the frames of fluid with a confirmed pocket. If there are any, frames with a pocket that
 * reaches the edge of the picture are kept too, because that pocket may be the deepest.
 */
function confirmedFluid(found: Found['amnioticFluid'], isConfirmed: Confirmed) {
  const frames = onFrames(found.frames, 'fluid-pocket', isConfirmed);
  const cut = (found.frames ?? []).filter(
    (one) => one.pocket?.cut === true && !frames.includes(one),
  );
  return { ...found, frames: frames.length > 0 ? [...frames, ...cut] : [] };
}

const confirmedSpectra = (spectra: Found['spectra'], isConfirmed: Confirmed) =>
  spectra.map((one) => {
    if (isConfirmed('fetal-spectra', one.file, one.frame)) return one;
    const held = isConfirmed(RATE, one.file, one.frame) ? ('flow' as const) : ('all' as const);
    return { ...one, held };
  });

/**
 * Readers whose readings are removed unless the evidence for their method is sufficient.
 * `confirmed` returns the part of a reading that a person confirmed: what was found on a frame with
 * a confirmed value.
 */
const REVIEWED_READERS: {
  [Reader in Exclude<keyof Found, 'laborProgress'>]: {
    evidence: EvidenceKey;
    confirmed(found: Found[Reader], isConfirmed: Confirmed): Found[Reader];
  };
} = {
  presentation: {
    evidence: 'presentation-sweep',
    confirmed: ({ cardiac }, isConfirmed) => ({
      sweeps: [],
      cardiac: cardiac.filter(({ clip }) => isConfirmed(RATE, clip.file, null)),
    }),
  },
  amnioticFluid: { evidence: 'fluid-pocket', confirmed: confirmedFluid },
  placenta: {
    evidence: 'placenta-site',
    confirmed: (found, isConfirmed) => ({
      ...found,
      // The number of lacunae belongs to no measurement, so a person cannot confirm it with one.
      bodies: onFrames(found.bodies, 'placenta-site', isConfirmed).map((one) => ({
        ...one,
        located: one.located && { ...one.located, lacunaeHeld: true as const },
      })),
      edges: onFrames(found.edges, 'placenta-site', isConfirmed),
    }),
  },
  cervix: framesOf('cervical-length'),
  earlyPregnancy: { evidence: 'early-pregnancy', confirmed: confirmedEarly },
  nuchal: {
    evidence: 'nuchal-translucency',
    // The nasal bone belongs to no measurement, so a person cannot confirm it with one.
    confirmed: ({ frames, ...found }, isConfirmed) => ({
      ...found,
      frames: onFrames(frames, 'nuchal-translucency', isConfirmed).map((one) => ({
        ...one,
        nasalBoneHeld: true as const,
      })),
    }),
  },
  spectra: { evidence: 'fetal-spectra', confirmed: confirmedSpectra },
  fetalHeart: { evidence: 'fetal-heart-size', confirmed: confirmedHeart },
  fetalBrain: framesOf('brain-structures'),
};

/**
 * Returns what replaces the readings of one reader: those that a person confirmed, or nothing if all
 * may be used without review.
 */
function replacementFor<Reader extends keyof typeof REVIEWED_READERS>(
  reader: Reader,
  found: Found[Reader] | null | undefined,
  counts: (evidence: EvidenceKey) => boolean,
  isConfirmed: Confirmed,
): Partial<Readings> {
  const { evidence, confirmed } = REVIEWED_READERS[reader];
  if (found == null || counts(evidence)) return {};
  return { [reader]: confirmed(found, isConfirmed) };
}

function named(one: FramePlane, counts: (key: EvidenceKey) => boolean): FramePlane {
  const { label } = one.estimate;
  const key = OF_PLANE[label];
  if (key === null || counts(key)) return one;
  return { ...one, estimate: { ...one.estimate, label: 'other', belowGate: label } };
}

const sizesOf = (reading: FrameReading): Readonly<Record<string, number>> =>
  Object.fromEntries((lengthsOf(reading)?.lengths ?? []).map(({ key, mm }) => [key, mm]));

/**
 * Returns the evidence that is used without review: readings by methods validated on this kind of
 * image, and readings that a person confirmed. If a reader yields several values, those that need
 * review are withheld when their measurements are created (pipelines/result/decisions.ts).
 */
export function withholdUnvalidated(
  given: StudyEvidence,
  setting: ReviewSetting,
  decisions: Decisions | null,
): StudyEvidence {
  const { confirmed = [], named: namedByPerson = [] } = decisions ?? {};
  const isConfirmed = (key: EvidenceKey) => confirmed.some(({ evidence }) => evidence === key);
  const isKept = (one: FramePlane) =>
    confirmed.some((at) => isFrameAt(one, at)) ||
    namedByPerson.some((at) => at.do === 'name-plane' && isFrameAt(one, at));
  const { accept, models } = setting;
  const counts = (key: EvidenceKey, gaDays = setting.gaDays, sizes = {}) =>
    reviewReason(EVIDENCE[key], { gaDays, sizes, models }, accept) === null;
  const outlined =
    (gaDays: number | null) =>
    (one: FrameReading): boolean =>
      counts(OF_STRUCTURE[one.structure], gaDays, sizesOf(one)) ||
      confirmed.some((at) => at.evidence === OF_STRUCTURE[one.structure] && isFrameAt(one, at));
  const isConfirmedAt: Confirmed = (key, file, frame) =>
    confirmed.some(
      (at) =>
        at.evidence === key && at.file === file && at.frame === (frame === null ? null : frame + 1),
    );
  const readers = Object.keys(REVIEWED_READERS) as (keyof typeof REVIEWED_READERS)[];
  const replaced: Partial<Readings> = Object.assign(
    {},
    ...readers.map((reader) => replacementFor(reader, given.views[reader], counts, isConfirmedAt)),
  );
  const labor = given.views.laborProgress;
  const readings = given.readings.filter(outlined(setting.gaDays));
  const held = given.readings.filter(
    (one) => !readings.includes(one) && one.located?.accepted && lengthsOf(one) !== null,
  );
  return {
    ...given,
    planes: given.planes?.map((one) => (isKept(one) ? one : named(one, counts))) ?? null,
    readings,
    held: [...new Set(held.map(({ structure }) => structure))],
    views: {
      ...given.views,
      ...replaced,
      ...(labor && {
        laborProgress: {
          ...labor,
          values: (labor.values ?? LABOR).filter(
            (key) => counts(OF_DESCENT[key]) || isConfirmed(OF_DESCENT[key]),
          ),
        },
      }),
    },
    ...(given.earlier && {
      earlier: given.earlier.map((scan) => ({
        ...scan,
        readings: scan.readings.filter(
          outlined(
            setting.gaDays === null || scan.daysBefore === null
              ? null
              : setting.gaDays - scan.daysBefore,
          ),
        ),
      })),
    }),
  };
}

const LABOR = Object.keys(OF_DESCENT) as (keyof typeof OF_DESCENT)[];
