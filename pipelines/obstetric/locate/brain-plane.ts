import type { Ellipse, GrayImage } from '../../contract/image.ts';
import type { ModelSession } from '../../inference/session.ts';
import { HEAD_STRUCTURES, type HeadStructures, type Plane } from '../locator.ts';
import { cropHead, type Mirroring } from './head-crop.ts';
import { type GatedPlane, HEAD_PLANES } from './plane.ts';

/** The front of a head may lie left or right; its near side lies above, as the probe does. */
const MIRRORINGS: readonly Mirroring[] = [
  { along: 1, across: 1 },
  { along: -1, across: 1 },
];

/** Weight of the head alone beside the whole image; chosen on the validation split. */
const CROP_WEIGHT = 0.9;

export interface HeadLook {
  /** How likely each axial plane is for a head that is sure to be one; they sum to 1. */
  planes: ReadonlyMap<Plane, number>;
  structures: HeadStructures;
}

/** What `fetal-brain-plane` says of the head alone; mean over the head and its mirror image. */
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
  const highest = Math.max(...HEAD_PLANES.map(mean));
  const weights = HEAD_PLANES.map((plane) => Math.exp((mean(plane) - highest) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const seen = HEAD_STRUCTURES.map((name) => [name, 1 / (1 + Math.exp(-mean(name)))] as const);
  return {
    planes: new Map(HEAD_PLANES.map((plane, i) => [plane, (weights[i] ?? 0) / total])),
    structures: Object.fromEntries(seen) as HeadStructures,
  };
}

/**
 * A head's estimate with its plane decided by both looks: the geometric mean of the shares from the
 * whole image and from the head alone. How likely it is a head at all stays as it was.
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
