import type { GrayImage } from '../contract/image.ts';
import type { ModelSession } from '../inference/session.ts';
import { locateFemurEnds } from './biometry/locate.ts';
import { locateChest } from './fetal-heart/locate.ts';
import { locateSymphysisHead } from './labor-progress/locate.ts';
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
  /** Without these two, only the whole image separates the axial head planes. */
  head: ModelSession | null;
  brainPlane: ModelSession | null;
  /** Without its own model a doubtful plane stands on the look of the whole image. */
  abdomen?: ModelSession | null;
  femur?: ModelSession | null;
  symphysisHead?: ModelSession | null;
  /** Outlines heart and thorax. Without it a chest that is named an abdomen stays one. */
  chest?: ModelSession | null;
}

/**
 * Share of one axial plane among the three from which a second look is not worth its time: on the
 * validation split all were right from here on, of those from 0.95 on one in ten was wrong.
 */
const CERTAIN = 0.99;

/**
 * Confidence from which a plane needs no second opinion. An adult heart was called an abdomen at up
 * to 0.97, a fetal head an abdomen at 0.84 and transperineal at 0.95. On the validation split no
 * abdomen, no femur and no transperineal image is lost by it.
 */
const DOUBTLESS = { abdominal: 0.98, femur: 0.95, transperineal: 0.98 } as const;

type Doubtful = keyof typeof DOUBTLESS;

/** Whether an image is a head, and which of the axial planes it is stands open. */
const isOpen = ({ label, confidence, groupConfidence }: GatedPlane) =>
  HEAD_PLANES.includes(label) && confidence < CERTAIN * groupConfidence;

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

/** What is found on some of the images, by the number of the image. */
async function secondLook<T>(
  images: readonly GrayImage[],
  numbers: readonly number[],
  locate: Locate<T>,
): Promise<ReadonlyMap<number, T | null>> {
  if (numbers.length === 0) return new Map();
  const found = await locate(numbers.map((n) => images[n] as GrayImage));
  return new Map(numbers.map((n, index) => [n, found[index] ?? null]));
}

/** Every symphysis of the validation split was outlined with more, beside whole heads too. */
const SURE_SYMPHYSIS = 0.85;

/**
 * Whether a head that is outlined on an image of a doubtful plane speaks against that plane: it is a
 * head alone that is taken for an abdomen, or for the head behind a symphysis. There the head belongs
 * to the picture, and only a symphysis that is hardly one is outweighed by it.
 */
const HEAD_SPEAKS_AGAINST: Readonly<Record<Doubtful, (head: Located, own: Located) => boolean>> = {
  abdominal: (head, own) => head.confidence > own.confidence,
  transperineal: (head, own) => head.accepted && own.confidence < SURE_SYMPHYSIS,
  femur: () => false,
};

/**
 * Numbers of the images of a doubtful plane that do not show it: its structure is not accepted, or a
 * head speaks against it.
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
    own.push(['transperineal', (some) => locateSymphysisHead(symphysisHead, some)]);
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
      const stands = one?.accepted && !(rival && HEAD_SPEAKS_AGAINST[plane](rival, one));
      if (!stands) missed.add(n);
    }
  }
  return missed;
}

/**
 * Numbers of the images that are named an abdomen, with any confidence, and show a heart in its thorax: a
 * section with the heart in it is above the plane of the abdominal circumference (ISUOG 2019). On the
 * validation split no abdomen has a heart, and most chests have one.
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
 * The plane of each image. Where the whole image leaves a doubt, the structure is looked at. A head
 * whose axial plane stands open is outlined, and the plane is decided on the head alone, which shows
 * more of it than the whole image does. The structure of another plane that is doubtful must be found
 * by its own model, and no head instead of it; and no abdomen has a heart. `gaDays` rules out views that
 * belong to an earlier age.
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
    ...(chest ? await withHeart(chest, images, estimates) : []),
  ]);
  const heads =
    head && brainPlane
      ? await secondLook(images, numbersOf(estimates, isOpen), (some) => locateOutline(head, some))
      : null;
  const named: GatedPlane[] = [];
  for (const [n, estimate] of estimates.entries()) {
    const image = images[n];
    const outline = heads?.get(n);
    if (brainPlane && image && outline) {
      named.push(withHeadPlane(estimate, await lookAtHead(brainPlane, image, outline.ellipse)));
    } else {
      named.push(missed.has(n) ? unnamed(estimate) : estimate);
    }
  }
  return named;
}
