import type { GrayImage } from '../contract/image.ts';
import type { ModelSession } from '../inference/session.ts';
import { findFemurEnds } from './biometry/locate.ts';
import { locateChest } from './fetal-heart/locate.ts';
import { confirmSymphysisHead } from './labor-progress/locate.ts';
import type { GatedPlane } from './planes/locate.ts';
import {
  classifyPlanes,
  HEAD_PLANES,
  lookAtHead,
  unnamed,
  withHeadPlane,
} from './planes/locate.ts';
import type { LocatedOutline } from './shared/plane.ts';

export interface PlaneSessions {
  plane: ModelSession;
  /**
   * If either of these two models is missing, axial head planes are classified from the whole image
   * only.
   */
  head: Locate<LocatedOutline> | null;
  brainPlane: ModelSession | null;
  /**
   * Models that check one structure. If one is missing, an uncertain plane keeps the label given by
   * the classifier of whole images.
   */
  abdomen?: Locate<LocatedOutline> | null;
  femur?: ModelSession | null;
  symphysisHead?: ModelSession | null;
  /**
   * Outlines heart and thorax. Without this model, a chest misclassified as an abdomen keeps that
   * label.
   */
  chest?: ModelSession | null;
}

/**
 * If the leading plane exceeds this share of the three axial planes' combined probability, it is
 * not examined again. On the validation split all such planes were right; with a limit of 0.95, one
 * in ten was wrong.
 */
const CERTAIN = 0.99;

/**
 * Confidence below which a plane is rejected unless the model for its structure finds the
 * structure. It is high because confident misclassifications occurred: an adult heart as an
 * abdomen, at up to 0.97; a fetal head as an abdomen, at 0.84, and as transperineal, at 0.95. On
 * the validation split, the check rejects no abdomen, no femur and no transperineal image.
 */
const DOUBTLESS = { abdominal: 0.98, femur: 0.9, transperineal: 0.98 } as const;

/**
 * Probability below which a head is rejected unless its outline has at least the confidence
 * `SURE_OUTLINE`. An adult heart in short axis was classified as a head at 0.84; its outline had a
 * confidence of 0.963. On the validation split, all outlines of heads below `DOUBTLESS_HEAD` have a
 * confidence of at least 0.967.
 */
const DOUBTLESS_HEAD = 0.95;
const SURE_OUTLINE = 0.965;

type Doubtful = keyof typeof DOUBTLESS;

/** Returns true if an image shows a head whose axial plane is still undecided. */
const isOpen = ({ label, confidence, groupConfidence }: GatedPlane) =>
  HEAD_PLANES.includes(label) && confidence < CERTAIN * groupConfidence;

const isDoubtfulHead = ({ label, groupConfidence }: GatedPlane) =>
  HEAD_PLANES.includes(label) && groupConfidence < DOUBTLESS_HEAD;

const isDoubtful = ({ label, groupConfidence }: GatedPlane, plane: Doubtful) =>
  label === plane && groupConfidence < DOUBTLESS[plane];

interface Located {
  confidence: number;
  accepted: boolean;
}

type Locate<T> = (images: readonly GrayImage[]) => Promise<(T | null)[]>;

const numbersOf = (
  estimates: readonly GatedPlane[],
  chosen: (estimate: GatedPlane) => boolean,
): number[] => [...estimates.keys()].filter((n) => chosen(estimates[n] as GatedPlane));

async function secondLook<T>(
  images: readonly GrayImage[],
  numbers: readonly number[],
  locate: Locate<T>,
): Promise<ReadonlyMap<number, T | null>> {
  if (numbers.length === 0) return new Map();
  const found = await locate(numbers.map((n) => images[n] as GrayImage));
  return new Map(numbers.map((n, index) => [n, found[index] ?? null]));
}

/**
 * Confidence at or above which a symphysis counts as certain. Every symphysis in the validation
 * split exceeded it, even next to a whole head.
 */
const SURE_SYMPHYSIS = 0.85;

/**
 * A head outline with at least this confidence contradicts an abdomen classified with certainty, if
 * it is also more confident than the abdomen outline. Two heads were classified as abdomens at
 * 0.986 and 0.985. On none of the 209 abdomens of the training and validation splits is the head
 * outline as confident as the abdomen outline.
 */
const SURE_HEAD = 0.85;

/**
 * Amount by which the outline of an uncertain abdomen must be more confident than that of a head.
 */
const LEAD_OF_ABDOMEN = 0.02;

/**
 * For each plane that can be uncertain, a function that returns true if a head outlined on the
 * image contradicts the plane.
 *
 * An abdomen must be outlined more confidently than a head, by at least `LEAD_OF_ABDOMEN`. A head
 * of 70 mm was classified as an abdomen at 0.70; its outline had 0.940 as an abdomen and 0.937 as a
 * head. A transperineal image normally contains a head, so a head contradicts it only if the
 * symphysis has a low confidence.
 */
const HEAD_CONTRADICTS: Readonly<Record<Doubtful, (head: Located, own: Located) => boolean>> = {
  abdominal: (head, own) => head.confidence > own.confidence - LEAD_OF_ABDOMEN,
  transperineal: (head, own) => head.accepted && own.confidence < SURE_SYMPHYSIS,
  femur: () => false,
};

/**
 * Returns the indices of images that were classified as an abdomen with certainty but show a head.
 */
async function withHead(
  { abdomen, head }: PlaneSessions,
  images: readonly GrayImage[],
  estimates: readonly GatedPlane[],
): Promise<number[]> {
  if (!abdomen || !head) return [];
  const certain = numbersOf(
    estimates,
    (one) => one.label === 'abdominal' && !isDoubtful(one, 'abdominal'),
  );
  const heads = await secondLook(images, certain, head);
  const suspects = certain.filter((n) => (heads.get(n)?.confidence ?? 0) >= SURE_HEAD);
  const own = await secondLook(images, suspects, abdomen);
  return suspects.filter((n) => (heads.get(n)?.confidence ?? 0) > (own.get(n)?.confidence ?? 0));
}

/**
 * Returns the indices of images whose uncertain plane is contradicted: the model for the structure
 * of the plane does not find the structure, or a head contradicts the plane.
 */
async function contradicted(
  { abdomen, femur, symphysisHead, head }: PlaneSessions,
  images: readonly GrayImage[],
  estimates: readonly GatedPlane[],
): Promise<ReadonlySet<number>> {
  const own: [Doubtful, Locate<Located>][] = [];
  if (abdomen) own.push(['abdominal', abdomen]);
  if (femur) own.push(['femur', (some) => findFemurEnds(femur, some)]);
  if (symphysisHead)
    own.push(['transperineal', (some) => confirmSymphysisHead(symphysisHead, some)]);
  const missed = new Set<number>();
  for (const [plane, locate] of own) {
    const found = await secondLook(
      images,
      numbersOf(estimates, (one) => isDoubtful(one, plane)),
      locate,
    );
    const heads = head ? await secondLook(images, [...found.keys()], head) : null;
    for (const [n, one] of found) {
      const rival = heads?.get(n);
      const confirmed = one?.accepted && !(rival && HEAD_CONTRADICTS[plane](rival, one));
      if (!confirmed) missed.add(n);
    }
  }
  return missed;
}

/**
 * Returns the indices of images that were classified as an abdomen, with any confidence, but show a
 * heart in the thorax. A section through the heart is above the plane of the abdominal
 * circumference (ISUOG 2019). On the validation split no abdomen shows a heart, whereas most chests
 * show one.
 */
async function withHeart(
  chest: ModelSession,
  images: readonly GrayImage[],
  estimates: readonly GatedPlane[],
): Promise<number[]> {
  const found = await secondLook(
    images,
    numbersOf(estimates, ({ label }) => label === 'abdominal'),
    (some) => locateChest(chest, some),
  );
  return [...found].flatMap(([n, one]) => (one && one.confidence >= chest.model.gate ? [n] : []));
}

/**
 * Classifies the plane of each image. If classification from the whole image is uncertain, the
 * structure on the plane is examined.
 *
 * - If the axial plane of a head is undecided, the head is outlined and the plane is classified on
 *   the cropped head, which shows more detail than the whole image. If it is uncertain that the
 *   image shows a head, the outline must have a high confidence.
 * - For any other uncertain plane, the model for its structure must find the structure, and no head
 *   may contradict the plane.
 *
 * An abdomen must show neither a head nor a heart, even if its classification is certain. `gaDays`
 * rules out views that belong to an earlier age.
 */
export async function namePlanes(
  sessions: PlaneSessions,
  images: readonly GrayImage[],
  gaDays: number | null = null,
): Promise<GatedPlane[]> {
  const { plane, head, brainPlane, chest } = sessions;
  const estimates = await classifyPlanes(plane, images, gaDays);
  const missed = new Set([
    ...(await contradicted(sessions, images, estimates)),
    ...(await withHead(sessions, images, estimates)),
    ...(chest ? await withHeart(chest, images, estimates) : []),
  ]);
  const heads = head
    ? await secondLook(
        images,
        numbersOf(estimates, (one) => isDoubtfulHead(one) || (brainPlane !== null && isOpen(one))),
        head,
      )
    : null;
  const named: GatedPlane[] = [];
  for (const [n, estimate] of estimates.entries()) {
    const image = images[n];
    const outline = heads?.get(n);
    if (isDoubtfulHead(estimate) && head && (outline?.confidence ?? 0) < SURE_OUTLINE) {
      named.push(unnamed(estimate));
    } else if (brainPlane && image && outline) {
      named.push(withHeadPlane(estimate, await lookAtHead(brainPlane, image, outline.ellipse)));
    } else {
      named.push(missed.has(n) ? unnamed(estimate) : estimate);
    }
  }
  return named;
}
