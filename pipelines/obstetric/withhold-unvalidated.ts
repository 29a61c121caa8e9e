import { EVIDENCE, type EvidenceKey, reviewReason } from '../concepts/method-evidence.ts';
import type { Decisions } from '../result/decisions.ts';
import type { ReviewSetting } from '../result/needs-review.ts';
import { lengthsOf } from './biometry/measure.ts';
import type { StudyEvidence } from './evidence.ts';
import type { LABOR_KEYS } from './labor-progress/evidence.ts';
import type { FramePlane, FrameReading, Plane, Structure } from './shared/plane.ts';

/**
 * Evidence for the method that outlines each structure or finds its ends. Readings that need review
 * are removed by `withholdUnvalidated` before the sections run, so the sections need not check
 * whether the method was validated on such images.
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
 * Readers whose readings are removed unless the evidence for their method is sufficient. `reading`
 * is the empty reading that replaces them.
 */
const UNSEEN = {
  presentation: { evidence: 'presentation-sweep', reading: { sweeps: [], cardiac: [] } },
  amnioticFluid: { evidence: 'fluid-pocket', reading: { frames: [], uncertainty: null } },
  placenta: {
    evidence: 'placenta-site',
    reading: { bodies: [], edges: [], uncertainty: { toOs: null, thickness: null } },
  },
  cervix: { evidence: 'cervical-length', reading: { frames: [], uncertainty: null } },
  earlyPregnancy: { evidence: 'early-pregnancy', reading: [] },
  nuchal: { evidence: 'nuchal-translucency', reading: { frames: [] } },
  spectra: { evidence: 'fetal-spectra', reading: [] },
  fetalHeart: {
    evidence: 'fetal-heart-size',
    reading: { chests: [], views: [], chestFrames: 0, mMode: [] },
  },
  fetalBrain: { evidence: 'brain-structures', reading: { frames: [] } },
} as const satisfies Partial<
  Record<keyof StudyEvidence['views'], { evidence: EvidenceKey; reading: unknown }>
>;

/** Returns a frame, with its plane set to `other` if its label needs review. */
function named(one: FramePlane, counts: (key: EvidenceKey) => boolean): FramePlane {
  const { label } = one.estimate;
  const key = OF_PLANE[label];
  if (key === null || counts(key)) return one;
  return { ...one, estimate: { ...one.estimate, label: 'other', belowGate: label } };
}

/** Returns the lengths of a reading by concept; empty if the reading has no scale. */
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
  decisions: Decisions | null = null,
): StudyEvidence {
  const { confirmed = [], named: namedByPerson = [] } = decisions ?? {};
  const isConfirmed = (key: EvidenceKey) => confirmed.some(({ evidence }) => evidence === key);
  const isAt = ({ clip, frame }: FramePlane, at: { file: string | null; frame: number | null }) =>
    clip.file === at.file && frame.index + 1 === at.frame;
  const isKept = (one: FramePlane) =>
    confirmed.some((at) => isAt(one, at)) ||
    namedByPerson.some((at) => at.do === 'name-plane' && isAt(one, at));
  const { accept, models } = setting;
  const counts = (key: EvidenceKey, gaDays = setting.gaDays, sizes = {}) =>
    reviewReason(EVIDENCE[key], { gaDays, sizes, models }, accept) === null;
  const outlined =
    (gaDays: number | null) =>
    (one: FrameReading): boolean =>
      counts(OF_STRUCTURE[one.structure], gaDays, sizesOf(one)) ||
      confirmed.some((at) => at.evidence === OF_STRUCTURE[one.structure] && isAt(one, at));
  const unseen = Object.fromEntries(
    Object.entries(UNSEEN).flatMap(([reader, { evidence, reading }]) => {
      const found = given.views[reader as keyof typeof UNSEEN];
      return found == null || counts(evidence) || isConfirmed(evidence) ? [] : [[reader, reading]];
    }),
  );
  const labor = given.views.laborProgress;
  return {
    ...given,
    planes: given.planes?.map((one) => (isKept(one) ? one : named(one, counts))) ?? null,
    readings: given.readings.filter(outlined(setting.gaDays)),
    views: {
      ...given.views,
      ...unseen,
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
