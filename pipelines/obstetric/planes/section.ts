import { z } from 'zod';
import { findingConcept } from '../../concepts/obstetric.ts';
import { imageNumber, imageText, type Study } from '../../contract/study.ts';
import { described, flag } from '../../result/envelope.ts';
import { PLANE_LABELS, say } from '../../result/render/obstetric/planes.ts';
import { criterion, notAssessed } from '../../result/section-outcome.ts';
import {
  type FramePlane,
  type FrameReading,
  femurAngle,
  inView,
  keyFrame,
  MEASURING_PLANES,
  PLANES,
  type Plane,
  STEEPEST_FEMUR,
} from '../shared/plane.ts';
import type { ObstetricSection, SectionEvidence, SectionOutcome } from '../shared/section.ts';

/** One criterion of the image score; `met` is null if this service does not examine it. */
interface QualityCriterion {
  name: string;
  met: boolean | null;
}

/** "Head fills at least 30 % of the image" (INTERGROWTH-21st; obstetric 1.2). */
const LEAST_FILL = 0.3;
const open = (...names: string[]): QualityCriterion[] => names.map((name) => ({ name, met: null }));

/**
 * Returns the criteria of Salomon 2006 (UOG 27:34-40) for a frame that was searched for a
 * structure. A criterion that no model examined is open, neither met nor failed.
 */
export function qualityOf(reading: FrameReading): QualityCriterion[] {
  const { clip, located } = reading;
  const placed = { name: 'calipers placed', met: located?.accepted ?? false };
  if (reading.structure === 'femur') {
    const angle = femurAngle(reading);
    return [
      { name: 'both ends visible', met: located?.accepted ?? false },
      {
        name: `angle to the horizontal below ${STEEPEST_FEMUR}°`,
        met: angle === null ? null : angle < STEEPEST_FEMUR,
      },
      ...open('femur fills enough of the image'),
      placed,
    ];
  }
  const ellipse = reading.located?.ellipse;
  const share = ellipse ? (Math.PI * ellipse.a * ellipse.b) / (clip.width * clip.height) : null;
  const fills = {
    name: `${reading.structure} fills at least ${100 * LEAST_FILL} % of the image`,
    met: share === null ? null : share >= LEAST_FILL,
  };
  if (reading.structure === 'abdomen') {
    return [
      ...open(
        'symmetrical plane',
        'stomach visible',
        'portal sinus visible',
        'kidneys not visible',
      ),
      fills,
      placed,
    ];
  }
  const { label, structures } = reading.estimate;
  const cerebellum = label === 'transcerebellar' || inView(structures, 'cerebellum') === true;
  return [
    ...open('symmetrical plane'),
    { name: 'thalami visible', met: inView(structures, 'thalami') },
    { name: 'cavum septi pellucidi visible', met: inView(structures, 'csp') },
    { name: 'cerebellum not visible', met: !cerebellum },
    fills,
    placed,
  ];
}

/**
 * Returns the criteria of a key frame from the structure located on it; empty if the frame was not
 * searched for a structure.
 */
export function keyFrameQuality(
  key: FramePlane,
  readings: readonly FrameReading[],
): QualityCriterion[] {
  const own = readings.find(({ clip, frame }) => clip === key.clip && frame === key.frame);
  return own ? qualityOf(own) : [];
}

const plane = z.enum(PLANES);
const probability = z.number().min(0).max(1);
const named = (description: string) => plane.meta({ description, examples: ['transthalamic'] });

const framePlaneSchema = z.object({
  file: z.string().meta({ description: 'Name of the file in the request', examples: ['scan.dcm'] }),
  frame: described(z.number().int().positive(), 'Frame number, from 1', 12),
  plane: named('Plane of the frame; `other` if no plane reaches the gate'),
  confidence: described(
    z.number(),
    'Confidence of `plane` alone. For a head plane it may be below the gate (the confidence that a plane must reach to be named), because the gate applies to the sum over the three axial head planes.',
    0.97,
  ),
  below_gate: flag(
    'True if `plane` is `other` only because the most likely plane did not reach the gate, or because the model of its structure did not find the structure',
    false,
  ),
  likeliest: z
    .object({
      plane: named('The most likely plane'),
      probability: probability
        .nullable()
        .meta({ description: 'Probability of this plane; null if not known', examples: [0.41] }),
    })
    .nullable()
    .meta({
      description: 'The plane that was not named; null unless `below_gate`',
      examples: [null],
    }),
  probabilities: described(
    z.record(plane, probability).nullable(),
    'Probability of every plane, to three decimals; null if the classifier gives only its answer',
    null,
  ),
});

export const criterionSchema = z.object({
  name: z.string().meta({ description: 'Name of the criterion', examples: ['thalami'] }),
  met: described(
    z.boolean().nullable(),
    'Whether the criterion is met; null if this service does not examine it',
    true,
  ),
});

export const planesDataSchema = z.object({
  counts: described(
    z.record(plane, z.number().int()),
    'Number of frames of each plane',
    Object.fromEntries(PLANES.map((name) => [name, name === 'other' ? 0 : 1])),
  ),
  key_frames: z
    .array(
      framePlaneSchema.extend({
        quality: z
          .array(criterionSchema)
          .meta({ description: 'Criteria of the image score of this frame' }),
      }),
    )
    .meta({ description: 'The best frame of each plane' }),
  frames: z.array(framePlaneSchema).meta({ description: 'All frames that were classified' }),
});
type PlanesData = z.infer<typeof planesDataSchema>;

const thousandth = (value: number) => Math.round(1000 * value) / 1000;

function describedPlane({
  clip,
  frame,
  estimate: { label, confidence, probabilities, belowGate = null },
}: FramePlane): z.infer<typeof framePlaneSchema> {
  const of = (name: typeof label) => (probabilities ? thousandth(probabilities[name]) : null);
  return {
    file: clip.file,
    frame: frame.index + 1,
    plane: label,
    confidence,
    below_gate: belowGate !== null,
    likeliest: belowGate && { plane: belowGate, probability: of(belowGate) },
    probabilities: probabilities
      ? (Object.fromEntries(
          PLANES.map((name) => [name, thousandth(probabilities[name])]),
        ) as Record<typeof label, number>)
      : null,
  };
}

/** Planes for each structure of the biometry. One plane per structure is needed. */
const BIOMETRY_PLANES = Object.values(MEASURING_PLANES).map((tiers) => tiers.flat());

function classification(key: FramePlane, index: number, study: Pick<Study, 'clips'>) {
  const { file, frame, plane, confidence } = describedPlane(key);
  return {
    id: `plane-${index + 1}`,
    concept: findingConcept('standard-plane'),
    name: `Plane of ${imageText(imageNumber(study, file))}, frame ${frame}`,
    value: plane,
    scheme: 'ISUOG standard planes',
    criteria: [criterion('confidence', confidence.toFixed(2), true)],
  };
}

function run({ planes, readings, study }: PlanesEvidence): SectionOutcome {
  if (!planes) {
    return notAssessed('no_model', say.gap('planes.no-model', {}), ['a permitted plane model']);
  }
  const standard = PLANES.filter((plane) => plane !== 'other');
  const keys = standard.flatMap((plane) => keyFrame(planes, plane) ?? []);
  const found = keys.map(({ estimate }) => estimate.label);
  const missing = BIOMETRY_PLANES.filter((group) => !group.some((plane) => found.includes(plane)));
  // One plane per structure is enough, so only the best one is reported as missing.
  const wanted = missing.flatMap((group) => group.slice(0, 1));
  const gaps = wanted.length > 0 ? [say.gap('planes.missing', { planes: wanted })] : [];
  const counts = Object.fromEntries(
    PLANES.map((plane) => [
      plane,
      planes.filter(({ estimate }) => estimate.label === plane).length,
    ]),
  ) as Record<Plane, number>;
  return {
    status: keys.length === 0 ? 'inadequate' : missing.length > 0 ? 'partial' : 'complete',
    reason:
      missing.length === 0
        ? null
        : {
            code: keys.length === 0 ? 'no_standard_plane' : 'planes_missing',
            gaps,
            needs: wanted.map((plane) => PLANE_LABELS[plane]),
          },
    statements: [say.conclusion('planes.found', { planes: found }), ...gaps],
    data: {
      counts,
      key_frames: keys.map((key) => ({
        ...describedPlane(key),
        quality: keyFrameQuality(key, readings),
      })),
      frames: planes.map(describedPlane),
    } satisfies PlanesData,
    classifications: keys.map((key, index) => classification(key, index, study)),
  };
}

export const planes: ObstetricSection<PlanesEvidence> = {
  id: 'planes',
  title: 'Standard planes',
  needs: ['2D images'],
  run,
};

interface PlanesEvidence extends SectionEvidence {
  /** Null if no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  readings: readonly FrameReading[];
}
