import type { Ellipse, GrayImage } from '../../contract/image.ts';
import { letterboxLit } from '../../inference/letterbox.ts';
import { mirror } from '../../inference/mirrored-maps.ts';
import type { ModelSession } from '../../inference/session.ts';
import { softmax } from '../../measure/statistics.ts';
import { cropHead, type Mirroring } from '../shared/head-crop.ts';
import {
  HEAD_STRUCTURES,
  type HeadStructures,
  PLANES,
  type Plane,
  type PlaneEstimate,
} from '../shared/plane.ts';

/**
 * Planes of the head. Their probabilities are added before the gate is applied, because these
 * planes blend into each other when the probe moves by a few millimetres, and the head is measured
 * on more than one of them.
 */
export const HEAD_PLANES: readonly Plane[] = [
  'transthalamic',
  'transventricular',
  'transcerebellar',
];

/**
 * Estimate of a plane after gating. The label is `other` if the most probable plane's group (see
 * `groupConfidence`) has a probability below the threshold, the gate.
 */
export interface GatedPlane extends PlaneEstimate {
  /**
   * Calibrated probability of the plane's group. The head planes form one group; every other plane
   * is a separate group.
   */
  groupConfidence: number;
  /** Probability of every plane; 0 for a plane on which the model was not trained. */
  probabilities: Record<Plane, number>;
  /**
   * The most probable plane if its group did not reach the gate or the plane was later rejected;
   * otherwise null.
   */
  belowGate: Plane | null;
}

/**
 * Last day of gestation on which a view is expected. It is two weeks after the limit in the
 * reference (early pregnancy 13+6; CRL of 84 mm, 14+1), because the dating may be wrong.
 */
const LAST_DAY: Partial<Record<Plane, number>> = {
  'early-pregnancy': 97 + 14,
  midsagittal: 99 + 14,
};

/** Returns the planes that an image at this age cannot show; empty if the age is unknown. */
export const pastPlanes = (gaDays: number | null): Plane[] =>
  PLANES.filter((plane) => (gaDays ?? 0) > (LAST_DAY[plane] ?? Number.POSITIVE_INFINITY));

/**
 * Classifies the plane of each image with the model `fetal-plane`. The probabilities are averaged
 * over the image and its mirror image. On a captured screen, the ultrasound picture is classified
 * with two different margins and gets a label only if both classifications agree.
 *
 * If the given age is past the first trimester, `early-pregnancy` is ruled out, and an image
 * classified as mid-sagittal gets the label `other`, because no class exists for what it shows.
 */
export async function classifyPlanes(
  session: ModelSession,
  images: readonly GrayImage[],
  gaDays: number | null,
): Promise<GatedPlane[]> {
  const { input, output, temperature = 1, gate, class_gates } = session.model;
  const past = new Set<string>(pastPlanes(gaDays));
  // The model learned gestational sacs from phantoms only, and pockets of fluid look like a sac.
  // Past the first trimester, the probability of a sac is therefore redistributed to the other
  // classes. The mid-sagittal class was learned from real images and is kept.
  const kept = [...output.channels.keys()].filter(
    (i) => output.channels[i] !== 'early-pregnancy' || !past.has('early-pregnancy'),
  );
  const classes = kept.map((i) => output.channels[i] ?? '');
  const looks = images.flatMap((image, n) =>
    looksAt(image, input).map(({ pixels }) => ({ n, pixels })),
  );
  const logits = await session.run(
    looks.flatMap(({ pixels }) => [pixels, mirror(pixels, input.width)]),
  );
  const answers = looks.map(({ n }, look) => ({
    n,
    mean: meanOf(logits.slice(2 * look, 2 * look + 2)),
  }));
  const named = (all: readonly (readonly number[])[]) => {
    const mean = meanOf(all);
    return planeOfLogits(
      kept.map((i) => mean[i] ?? 0),
      classes,
      temperature,
      gate,
      class_gates,
    );
  };
  return images.map((_, n) => {
    const own = answers.filter((answer) => answer.n === n).map(({ mean }) => mean);
    const together = named(own);
    const agreed = own.every((look) => groupOf(named([look]).label).includes(together.label));
    if (past.has(together.label)) return { ...unnamed(together), belowGate: null };
    return agreed ? together : unnamed(together);
  });
}

/**
 * Margin around the picture on a captured screen in its second classification, as a share of its
 * size.
 */
const WIDER = 0.1;

/**
 * Returns the image in the network's input format. A captured screen is cropped to the ultrasound
 * picture, with and without a margin, because on the whole screen the picture would be too small.
 */
const looksAt = (image: GrayImage, { width, height }: ModelSession['model']['input']) => [
  ...new Set([letterboxLit(image, width, height), letterboxLit(image, width, height, WIDER)]),
];

const meanOf = (all: readonly ArrayLike<number>[]): number[] =>
  Array.from(all[0] ?? [], (_, i) => all.reduce((sum, one) => sum + (one[i] ?? 0), 0) / all.length);

/**
 * Changes the label of an estimate to `other`. This is used if two classifications differ, or if
 * the structure on the plane was not found.
 */
export function unnamed(estimate: GatedPlane): GatedPlane {
  const { label, probabilities } = estimate;
  const confidence = probabilities.other;
  const belowGate = label === 'other' ? estimate.belowGate : label;
  return { label: 'other', confidence, groupConfidence: confidence, probabilities, belowGate };
}

/**
 * Returns the group of a plane. The head planes form one group, because the network may be certain
 * that an image shows a head but not which of its planes.
 */
const groupOf = (plane: Plane): readonly Plane[] =>
  HEAD_PLANES.includes(plane) ? HEAD_PLANES : [plane];

/**
 * Calculates the softmax at a temperature (Guo 2017) and applies the gate. A class may have its own
 * gate.
 */
export function planeOfLogits(
  logits: readonly number[],
  classes: readonly string[],
  temperature: number,
  gate: number,
  classGates: Readonly<Record<string, number>> = {},
): GatedPlane {
  const shares = softmax(logits, temperature);
  const of = (plane: Plane) => shares[classes.indexOf(plane)] ?? 0;
  const entries = PLANES.map((plane) => [plane, of(plane)] as const);
  const probabilities = Object.fromEntries(entries) as Record<Plane, number>;
  const ofGroup = (plane: Plane) => groupOf(plane).reduce((total, one) => total + of(one), 0);
  // The group is chosen first, then a plane within it, because several planes may share the
  // probability of a head.
  const highestOf = (value: (plane: Plane) => number) => (a: Plane, b: Plane) =>
    value(b) > value(a) ? b : a;
  const best = groupOf(PLANES.reduce(highestOf(ofGroup))).reduce(highestOf(of));
  const passes = best === 'other' || ofGroup(best) >= (classGates[best] ?? gate);
  const label = passes ? best : 'other';
  return {
    label,
    confidence: of(label),
    groupConfidence: ofGroup(label),
    probabilities,
    belowGate: passes ? null : best,
  };
}

/**
 * Mirror images to average over. The front of a head may be on the left or on the right; its near
 * side is always at the top, towards the probe.
 */
const MIRRORINGS: readonly Mirroring[] = [
  { along: 1, across: 1 },
  { along: -1, across: 1 },
];

/** Weight of the cropped head relative to the whole image, chosen on the validation split. */
const CROP_WEIGHT = 0.9;

interface HeadLook {
  /** Probability of each axial plane, given that the image shows a head; the values sum to 1. */
  planes: ReadonlyMap<Plane, number>;
  structures: HeadStructures;
}

/**
 * Runs the model `fetal-brain-plane` on the cropped head and averages the result over the head and
 * its mirror image.
 */
export async function lookAtHead(
  session: ModelSession,
  image: GrayImage,
  head: Ellipse,
): Promise<HeadLook> {
  const { input, output, temperature = 1 } = session.model;
  const crops = MIRRORINGS.map((way) => cropHead(image, head, input.width, input.height, way));
  const logits = await session.run(crops);
  const mean = (channel: string) => {
    const at = output.channels.indexOf(channel);
    return logits.reduce((sum, one) => sum + (one[at] ?? 0), 0) / logits.length;
  };
  const shares = softmax(HEAD_PLANES.map(mean), temperature);
  const seen = HEAD_STRUCTURES.map((name) => [name, 1 / (1 + Math.exp(-mean(name)))] as const);
  return {
    planes: new Map(HEAD_PLANES.map((plane, i) => [plane, shares[i] ?? 0])),
    structures: Object.fromEntries(seen) as HeadStructures,
  };
}

/**
 * Combines both classifications of a head's plane, as the geometric mean of the shares from the
 * whole image and from the cropped head. The total probability of a head does not change.
 */
export function withHeadPlane(estimate: GatedPlane, { planes, structures }: HeadLook): GatedPlane {
  const { probabilities } = estimate;
  const head = HEAD_PLANES.reduce((sum, plane) => sum + probabilities[plane], 0);
  const joint = HEAD_PLANES.map(
    (plane) =>
      (probabilities[plane] / head) ** (1 - CROP_WEIGHT) * (planes.get(plane) ?? 0) ** CROP_WEIGHT,
  );
  const total = joint.reduce((sum, value) => sum + value, 0);
  const entries = HEAD_PLANES.map((plane, i) => [plane, (head * (joint[i] ?? 0)) / total] as const);
  const [label, confidence] = entries.reduce((a, b) => (b[1] > a[1] ? b : a));
  return {
    ...estimate,
    label,
    confidence,
    probabilities: { ...probabilities, ...Object.fromEntries(entries) },
    structures,
  };
}
