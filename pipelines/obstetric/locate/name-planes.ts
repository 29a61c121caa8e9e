import type { GrayImage } from '../../contract/image.ts';
import type { ModelSession } from '../../inference/session.ts';
import { headPlaneShares, withHeadPlane } from './brain-plane.ts';
import { locateFemurEnds } from './femur-ends.ts';
import { locateOutline } from './outline.ts';
import { classifyPlanes, type GatedPlane, HEAD_PLANES } from './plane.ts';

export interface PlaneSessions {
  plane: ModelSession;
  /** Without these two the axial head planes are told apart by the whole image alone. */
  head: ModelSession | null;
  brainPlane: ModelSession | null;
  /** Without it a doubtful abdomen, or femur, stands on the look of the whole image. */
  abdomen?: ModelSession | null;
  femur?: ModelSession | null;
}

/**
 * Share of one axial plane among the three from which a second look is not worth its time: on the
 * validation split all were right from here on, of those from 0.95 on one in ten was wrong.
 */
const CERTAIN = 0.99;

/**
 * Confidence from which a plane needs no second opinion. An adult heart was called an abdomen at up
 * to 0.97. On the validation split no abdomen and no femur is lost by it.
 */
const DOUBTLESS = { abdominal: 0.98, femur: 0.95 } as const;

/** Whether an image is a head, and which of the axial planes it is stands open. */
const isOpen = ({ label, confidence, groupConfidence }: GatedPlane) =>
  HEAD_PLANES.includes(label) && confidence < CERTAIN * groupConfidence;

const isDoubtful = ({ label, groupConfidence }: GatedPlane, plane: keyof typeof DOUBTLESS) =>
  label === plane && groupConfidence < DOUBTLESS[plane];

/** What is found on the images whose estimate is `chosen`, by the number of the image. */
async function secondLook<T>(
  images: readonly GrayImage[],
  estimates: readonly GatedPlane[],
  chosen: (estimate: GatedPlane) => boolean,
  locate: (images: readonly GrayImage[]) => Promise<(T | null)[]>,
): Promise<ReadonlyMap<number, T | null>> {
  const numbers = [...estimates.keys()].filter((n) => chosen(estimates[n] as GatedPlane));
  if (numbers.length === 0) return new Map();
  const found = await locate(numbers.map((n) => images[n] as GrayImage));
  return new Map(numbers.map((n, index) => [n, found[index] ?? null]));
}

/** The look of the whole image does not name a plane whose structure is not there. */
function unconfirmed(estimate: GatedPlane): GatedPlane {
  const confidence = estimate.probabilities.other;
  return {
    ...estimate,
    label: 'other',
    confidence,
    groupConfidence: confidence,
    belowGate: estimate.label,
  };
}

/**
 * The plane of each image. Where the whole image leaves a doubt, the structure is looked at. A head
 * whose axial plane stands open is outlined, and the plane is decided on the head alone, which shows
 * more of it than the whole image does. A doubtful abdomen or femur must be found by its own model.
 */
export async function namePlanes(
  { plane, head, brainPlane, abdomen, femur }: PlaneSessions,
  images: readonly GrayImage[],
): Promise<GatedPlane[]> {
  const estimates = await classifyPlanes(plane, images);
  const look = secondLook<{ accepted: boolean }>;
  const abdomens =
    abdomen &&
    (await look(
      images,
      estimates,
      (one) => isDoubtful(one, 'abdominal'),
      (some) => locateOutline(abdomen, some),
    ));
  const femurs =
    femur &&
    (await look(
      images,
      estimates,
      (one) => isDoubtful(one, 'femur'),
      (some) => locateFemurEnds(femur, some),
    ));
  const heads =
    head &&
    brainPlane &&
    (await secondLook(images, estimates, isOpen, (some) => locateOutline(head, some)));
  const named: GatedPlane[] = [];
  for (const [n, estimate] of estimates.entries()) {
    const image = images[n];
    const outline = heads?.get(n);
    const missed = [abdomens, femurs].some((looks) => looks?.has(n) && !looks.get(n)?.accepted);
    if (brainPlane && image && outline) {
      const shares = await headPlaneShares(brainPlane, image, outline.ellipse);
      named.push(withHeadPlane(estimate, shares));
    } else {
      named.push(missed ? unconfirmed(estimate) : estimate);
    }
  }
  return named;
}
