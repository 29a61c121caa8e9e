import type { GrayImage } from '../contract/image.ts';
import type { ModelSession } from '../inference/session.ts';
import { locateFemurEnds } from './biometry/locate.ts';
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
import { locateOutline } from './shared/outline.ts';

export interface PlaneSessions {
  plane: ModelSession;
  /** Without these two models, only the whole image distinguishes the axial head planes. */
  head: ModelSession | null;
  brainPlane: ModelSession | null;
  /** Without its own model, a doubtful plane is decided by the whole image. */
  abdomen?: ModelSession | null;
  femur?: ModelSession | null;
  symphysisHead?: ModelSession | null;
  /** Outlines heart and thorax. Without it, a chest that is misnamed an abdomen stays one. */
  chest?: ModelSession | null;
}

/**
 * Probability share of one axial plane among the three above which no second look is needed: on the
 * validation split all such planes were right, whereas from 0.95 on one in ten was wrong.
 */
const CERTAIN = 0.99;

/**
 * Confidence from which a plane needs no second opinion. Images with the following confidences were
 * misnamed: an adult heart as an abdomen, at up to 0.97; a fetal head as an abdomen, at 0.84, and
 * as transperineal, at 0.95. On the validation split, the second opinion loses no abdomen, no femur
 * and no transperineal image.
 */
const DOUBTLESS = { abdominal: 0.98, femur: 0.9, transperineal: 0.98 } as const;

/**
 * Probability of a head from which it needs no second opinion, and the confidence that its outline must
 * otherwise have. An adult heart in short axis was named a head at 0.84 and outlined with 0.963; heads of
 * the validation split that are less likely are outlined with 0.967 and more.
 */
const DOUBTLESS_HEAD = 0.95;
const SURE_OUTLINE = 0.965;

type Doubtful = keyof typeof DOUBTLESS;

/** Whether an image shows a head whose axial plane is still undecided. */
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

/** What `locate` finds on some of the images, by the index of the image. */
async function secondLook<T>(
  images: readonly GrayImage[],
  numbers: readonly number[],
  locate: Locate<T>,
): Promise<ReadonlyMap<number, T | null>> {
  if (numbers.length === 0) return new Map();
  const found = await locate(numbers.map((n) => images[n] as GrayImage));
  return new Map(numbers.map((n, index) => [n, found[index] ?? null]));
}

/** Confidence that every symphysis in the validation split exceeded, even beside whole heads. */
const SURE_SYMPHYSIS = 0.85;

/**
 * A head whose outline is this much more certain than that of the abdomen contradicts even an abdomen
 * that is named with certainty: a head of 75 mm was, with 0.986. Of the abdomens of the validation split,
 * none has a head of this confidence.
 */
const SURER_HEAD = { least: 0.85, by: 0.02 } as const;

/**
 * Whether a head that is outlined on an image contradicts its doubtful plane. A head alone may be
 * mistaken for an abdomen, or for the head behind a symphysis: a doubtful abdomen must be outlined more
 * surely than a head by `SURER_HEAD.by`, since a head of 70 mm was named an abdomen at 0.70, with outlines
 * of 0.940 as an abdomen and 0.937 as a head. On a transperineal image the head
 * belongs to the picture, so it outweighs only a symphysis of low confidence.
 */
const HEAD_SPEAKS_AGAINST: Readonly<Record<Doubtful, (head: Located, own: Located) => boolean>> = {
  abdominal: (head, own) => head.confidence > own.confidence - SURER_HEAD.by,
  transperineal: (head, own) => head.accepted && own.confidence < SURE_SYMPHYSIS,
  femur: () => false,
};

/** Indices of the images that are named an abdomen without a doubt, and show a head instead. */
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
  const heads = await secondLook(images, certain, (some) => locateOutline(head, some));
  const suspects = certain.filter((n) => (heads.get(n)?.confidence ?? 0) >= SURER_HEAD.least);
  const own = await secondLook(images, suspects, (some) => locateOutline(abdomen, some));
  return suspects.filter((n) => {
    const least = (own.get(n)?.confidence ?? 0) + SURER_HEAD.by;
    return (heads.get(n)?.confidence ?? 0) > least;
  });
}

/**
 * Indices of the images of a doubtful plane that do not show it: its structure is not accepted, or
 * a head contradicts it.
 */
async function contradicted(
  { abdomen, femur, symphysisHead, head }: PlaneSessions,
  images: readonly GrayImage[],
  estimates: readonly GatedPlane[],
): Promise<ReadonlySet<number>> {
  const own: [Doubtful, Locate<Located>][] = [];
  if (abdomen) own.push(['abdominal', (some) => locateOutline(abdomen, some)]);
  if (femur) own.push(['femur', (some) => locateFemurEnds(femur, some)]);
  if (symphysisHead)
    own.push(['transperineal', (some) => confirmSymphysisHead(symphysisHead, some)]);
  const missed = new Set<number>();
  for (const [plane, locate] of own) {
    const found = await secondLook(
      images,
      numbersOf(estimates, (one) => isDoubtful(one, plane)),
      locate,
    );
    const heads = head
      ? await secondLook(images, [...found.keys()], (some) => locateOutline(head, some))
      : null;
    for (const [n, one] of found) {
      const rival = heads?.get(n);
      const confirmed = one?.accepted && !(rival && HEAD_SPEAKS_AGAINST[plane](rival, one));
      if (!confirmed) missed.add(n);
    }
  }
  return missed;
}

/**
 * Indices of the images that are named an abdomen, at any confidence, and show a heart in its
 * thorax: a section with the heart is above the plane of the abdominal circumference (ISUOG 2019).
 * On the validation split no abdomen shows a heart, and most chests do.
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
 * The plane of each image. Where the whole image leaves a doubt, its structure is examined. A head
 * whose axial plane is undecided is outlined, and the plane is decided on the cropped head, which
 * shows more detail than the whole image. For any other doubtful plane, its own model must find the
 * structure, and no head may contradict it; an abdomen must not show a heart. `gaDays` rules out
 * views that belong to an earlier age.
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
        (some) => locateOutline(head, some),
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
