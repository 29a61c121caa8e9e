import type { GrayImage } from '../../contract/image.ts';
import { letterboxLit } from '../../inference/lit-area.ts';
import type { ModelSession } from '../../inference/session.ts';
import { PLANES, type Plane, type PlaneEstimate } from '../locator.ts';
import { mirror } from './mirrored-maps.ts';

/**
 * The axial head planes blend into one another by a few millimetres of probe shift, and the head is
 * measured on more than one of them: the gate asks whether the image is one of a group.
 */
export const HEAD_PLANES: readonly Plane[] = [
  'transthalamic',
  'transventricular',
  'transcerebellar',
];

/** The label is `other` where the group of the best plane does not reach the gate. */
export interface GatedPlane extends PlaneEstimate {
  /** Calibrated probability of its group: the head planes together, any other plane alone. */
  groupConfidence: number;
  /** Of every plane; 0 for one the model was not trained on. */
  probabilities: Record<Plane, number>;
  /** The plane that would have been named, had it reached the gate. */
  belowGate: Plane | null;
}

/**
 * Last day of gestation on which a view is to be expected: two weeks after those of the reference
 * (early pregnancy 13+6; CRL of 84 mm, 14+1), since a pregnancy may be dated wrongly.
 */
const LAST_DAY: Partial<Record<Plane, number>> = {
  'early-pregnancy': 97 + 14,
  midsagittal: 99 + 14,
};

/** Planes that an image of this age cannot show; none where the age is not known. */
export const pastPlanes = (gaDays: number | null): Plane[] =>
  PLANES.filter((plane) => (gaDays ?? 0) > (LAST_DAY[plane] ?? Number.POSITIVE_INFINITY));

/**
 * The plane of each image by `fetal-plane`: mean of the image and its mirror image. A view that lies
 * behind at the given age is not among the answers.
 */
export async function classifyPlanes(
  session: ModelSession,
  images: readonly GrayImage[],
  gaDays: number | null,
): Promise<GatedPlane[]> {
  const { input, output, temperature = 1, gate, class_gates } = session.model;
  const past = new Set<string>(pastPlanes(gaDays));
  const kept = [...output.channels.keys()].filter((i) => !past.has(output.channels[i] ?? ''));
  const classes = kept.map((i) => output.channels[i] ?? '');
  const inputs = images.flatMap((image) => {
    const { pixels } = letterboxLit(image, input.width, input.height);
    return [pixels, mirror(pixels, input.width)];
  });
  const logits = await session.run(inputs);
  return images.map((_, n) => {
    const straight = logits[2 * n] ?? new Float32Array();
    const mirrored = logits[2 * n + 1] ?? new Float32Array();
    const mean = kept.map((i) => ((straight[i] ?? 0) + (mirrored[i] ?? 0)) / 2);
    return planeOfLogits(mean, classes, temperature, gate, class_gates);
  });
}

/** Softmax at a temperature (Guo 2017), then the gate, which a class may have of its own. */
export function planeOfLogits(
  logits: readonly number[],
  classes: readonly string[],
  temperature: number,
  gate: number,
  classGates: Readonly<Record<string, number>> = {},
): GatedPlane {
  const highest = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp((logit - highest) / temperature));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const of = (plane: Plane) => (weights[classes.indexOf(plane)] ?? 0) / sum;
  const entries = PLANES.map((plane) => [plane, of(plane)] as const);
  const probabilities = Object.fromEntries(entries) as Record<Plane, number>;
  const groupOf = (plane: Plane) => (HEAD_PLANES.includes(plane) ? HEAD_PLANES : [plane]);
  const ofGroup = (plane: Plane) => groupOf(plane).reduce((total, one) => total + of(one), 0);
  // The group is decided first, then the plane in it: two head planes may share one certain head.
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
