import type { Ellipse, GrayImage, Point } from '../../pipelines/contract/image.ts';
import type { Placement } from '../../pipelines/inference/letterbox.ts';
import type { ModelSession } from '../../pipelines/inference/session.ts';
import { pictureBox } from '../../pipelines/measure/picture-detector.ts';
import type { SoftMask } from '../../pipelines/measure/soft-mask.ts';
import { median } from '../../pipelines/measure/statistics.ts';
import {
  locateTransperineal,
  transperinealMaps,
} from '../../pipelines/obstetric/labor-progress/locate.ts';
import {
  angleOfProgression,
  progressionOf,
  reversed,
  symphysisAxis,
} from '../../pipelines/obstetric/labor-progress/measure.ts';
import { outlineOfMask } from '../../pipelines/obstetric/shared/outline.ts';
import { mean, round } from './agreement.ts';
import { type Case, readGray } from './cases.ts';

const AS_IS: Placement = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };

interface Outlines {
  symphysis: Ellipse;
  head: Ellipse;
  skull: readonly Point[];
}

interface Judged {
  accepted: boolean;
  /** Error of the angle, degrees; null if the model found no angle. */
  error: number | null;
  /** Angle on the reference mask, degrees. */
  truth: number | null;
}

type Dice = { symphysis: number; head: number };

/**
 * Returns the overlap with the reference masks (1 symphysis, 2 head), and the error of the angle of
 * progression. The reference angle is calculated from the masks with the product's geometry. The
 * symphysis is on the left in all these images, but the product does not know this. Each image is
 * therefore measured twice, unchanged and mirrored.
 */
export async function transperinealAgreement(session: ModelSession, cases: readonly Case[]) {
  const dice: Dice[] = [];
  const asShown: Judged[] = [];
  const mirrored: Judged[] = [];
  for (const one of cases) {
    const image = await readGray(one.path);
    const mask = one.mask ? await readGray(one.mask) : null;
    const truth = mask ? angleOfReference(outlinesOf(mask)) : (one.angleDegrees ?? null);
    asShown.push(await judge(session, image, truth));
    mirrored.push(await judge(session, mirrorImage(image), truth));
    if (mask) dice.push(await overlaps(session, image, mask));
  }
  return {
    cases: cases.length,
    notFound: asShown.filter(({ error }) => error === null).length,
    withheld: asShown.filter(({ error, accepted }) => error !== null && !accepted).length,
    withheldMirrored: mirrored.filter(({ error, accepted }) => error !== null && !accepted).length,
    ...(dice.length > 0 && {
      dice: {
        symphysis: round(mean(dice.map((d) => d.symphysis)), 4),
        head: round(mean(dice.map((d) => d.head)), 4),
        mean: round(mean(dice.map((d) => (d.symphysis + d.head) / 2)), 4),
      },
    }),
    angleOfProgression: {
      accepted: angleErrors(asShown.filter(({ accepted }) => accepted)),
      acceptedMirrored: angleErrors(mirrored.filter(({ accepted }) => accepted)),
      acceptedAbove150Degrees: angleErrors(
        asShown.filter(({ accepted, truth }) => accepted && truth !== null && truth > 150),
      ),
      allFound: angleErrors(asShown),
    },
  };
}

async function judge(
  session: ModelSession,
  image: GrayImage,
  truth: number | null,
): Promise<Judged> {
  const [found] = await locateTransperineal(session, [image]);
  const located = found?.pair;
  if (!located || truth === null) return { accepted: false, error: null, truth };
  const { symphysis, skull, head } = located;
  const box = pictureBox(image) ?? { minX: 0, maxX: image.width - 1 };
  const picture = { left: box.minX, width: box.maxX - box.minX + 1 };
  const { tangent, sideUnknown } = progressionOf(symphysis, skull, head.centre, picture);
  return {
    accepted: located.accepted && !sideUnknown && tangent !== null,
    error: tangent && tangent.degrees - truth,
    truth,
  };
}

function mirrorImage({ width, height, data }: GrayImage): GrayImage {
  const mirrored = data.map((_, at) => {
    const row = Math.floor(at / width) * width;
    return data[row + width - 1 - (at - row)] ?? 0;
  });
  return { width, height, data: mirrored };
}

function angleErrors(judged: readonly Judged[]) {
  const errors = judged.flatMap(({ error }) => error ?? []);
  if (errors.length === 0) return null;
  const sizes = errors.map(Math.abs).toSorted((a, b) => a - b);
  return {
    cases: errors.length,
    meanAbsoluteErrorDegrees: round(mean(sizes), 2),
    medianAbsoluteErrorDegrees: round(median(sizes), 2),
    biasDegrees: round(mean(errors), 2),
    centile95Degrees: round(sizes[Math.ceil(0.95 * sizes.length) - 1] ?? Number.NaN, 1),
    largestErrorDegrees: round(sizes[sizes.length - 1] ?? Number.NaN, 1),
  };
}

/**
 * Returns the angle of progression on a reference mask. The left end of the axis counts as its
 * upper end, because the symphysis is on the left in every image of the collection.
 */
function angleOfReference(outlines: Outlines | null): number | null {
  if (!outlines) return null;
  const { symphysis, skull, head } = outlines;
  const axis = symphysisAxis(symphysis, { left: 0, width: Number.POSITIVE_INFINITY });
  const unmirrored = axis.upper.x <= axis.lower.x ? axis : reversed(axis);
  return angleOfProgression(unmirrored, skull, head.centre)?.degrees ?? null;
}

function outlinesOf(mask: GrayImage): Outlines | null {
  const of = (label: number) => {
    const values = Float32Array.from(mask.data, (value) => (value === label ? 1 : 0));
    return outlineOfMask({ width: mask.width, height: mask.height, values }, AS_IS, 0);
  };
  const symphysis = of(1);
  const head = of(2);
  if (!symphysis || !head) return null;
  return { symphysis: symphysis.ellipse, head: head.ellipse, skull: head.boundary };
}

/**
 * Returns the Dice coefficient of each structure: the pixels whose probability is at least 0.5,
 * against the reference mask.
 */
async function overlaps(session: ModelSession, image: GrayImage, mask: GrayImage): Promise<Dice> {
  const [maps] = await transperinealMaps(session, [image]);
  const dice = (found: SoftMask | undefined, label: number) => {
    let both = 0;
    let sum = 0;
    for (let y = 0; y < mask.height; y++) {
      for (let x = 0; x < mask.width; x++) {
        const inside = found && maps && insideAt(found, maps.placement, x, y) ? 1 : 0;
        const truth = mask.data[y * mask.width + x] === label ? 1 : 0;
        both += inside * truth;
        sum += inside + truth;
      }
    }
    return sum === 0 ? 1 : (2 * both) / sum;
  };
  return { symphysis: dice(maps?.symphysis, 1), head: dice(maps?.head, 2) };
}

function insideAt({ width, values }: SoftMask, placement: Placement, x: number, y: number) {
  const row = Math.round((y + 0.5) * placement.scaleY - 0.5 + placement.offsetY);
  const column = Math.round((x + 0.5) * placement.scaleX - 0.5 + placement.offsetX);
  return (values[row * width + column] ?? 0) >= 0.5;
}
