import type { Ellipse, GrayImage, Point } from '../../pipelines/contract/image.ts';
import type { Placement } from '../../pipelines/inference/letterbox.ts';
import { mirroredMaps } from '../../pipelines/inference/mirrored-maps.ts';
import type { ModelSession } from '../../pipelines/inference/session.ts';
import { median } from '../../pipelines/measure/statistics.ts';
import { locateSymphysisHead } from '../../pipelines/obstetric/labor-progress/locate.ts';
import {
  angleOfProgression,
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
  confidence: number;
  accepted: boolean;
  /** Error of the angle in degrees; null when the model found nothing. */
  error: number | null;
  dice: { symphysis: number; head: number } | null;
}

/**
 * Overlap with the reference masks (1 symphysis, 2 head), and the error of the angle of progression
 * compared with the angle that the geometry of the product computes from the reference masks.
 */
export async function transperinealAgreement(session: ModelSession, cases: readonly Case[]) {
  const judged: Judged[] = [];
  for (const one of cases) {
    const image = await readGray(one.path);
    const [located] = await locateSymphysisHead(session, [image]);
    const mask = one.mask ? await readGray(one.mask) : null;
    const truth = mask ? angleOf(outlinesOf(mask), image.width) : (one.angleDegrees ?? null);
    const angle = located ? angleOf(located, image.width) : null;
    judged.push({
      confidence: located?.confidence ?? 0,
      accepted: located?.accepted ?? false,
      error: angle !== null && truth !== null ? angle - truth : null,
      dice: mask && (await overlaps(session, image, mask)),
    });
  }
  const accepted = judged.filter((one) => one.accepted && one.error !== null);
  const found = judged.filter((one) => one.error !== null);
  const dice = judged.flatMap((one) => one.dice ?? []);
  return {
    cases: judged.length,
    notFound: judged.length - found.length,
    withheldByGate: found.length - accepted.length,
    ...(dice.length > 0 && {
      dice: {
        symphysis: round(mean(dice.map((d) => d.symphysis)), 4),
        head: round(mean(dice.map((d) => d.head)), 4),
        mean: round(mean(dice.map((d) => (d.symphysis + d.head) / 2)), 4),
      },
    }),
    angleOfProgression: { accepted: angleErrors(accepted), allFound: angleErrors(found) },
  };
}

function angleErrors(judged: readonly Judged[]) {
  const errors = judged.map((one) => one.error ?? Number.NaN);
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

function angleOf(outlines: Outlines | null, width: number): number | null {
  if (!outlines) return null;
  const axis = symphysisAxis(outlines.symphysis, width);
  return angleOfProgression(axis, outlines.skull, outlines.head.centre)?.degrees ?? null;
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

/** Dice of the model's masks at the 0.5 level, on the pixels of the reference. */
async function overlaps(session: ModelSession, image: GrayImage, mask: GrayImage) {
  const { input, output } = session.model;
  const [maps] = await mirroredMaps(session, [image]);
  if (!maps) return null;
  const { placement, channels } = maps;
  const dice = (name: string, label: number) => {
    const values = channels[output.channels.indexOf(name)] ?? new Float32Array();
    let both = 0;
    let sum = 0;
    for (let y = 0; y < mask.height; y++) {
      const row = Math.round((y + 0.5) * placement.scaleY - 0.5 + placement.offsetY);
      for (let x = 0; x < mask.width; x++) {
        const column = Math.round((x + 0.5) * placement.scaleX - 0.5 + placement.offsetX);
        const found = (values[row * input.width + column] ?? 0) >= 0.5 ? 1 : 0;
        const truth = mask.data[y * mask.width + x] === label ? 1 : 0;
        both += found * truth;
        sum += found + truth;
      }
    }
    return sum === 0 ? 1 : (2 * both) / sum;
  };
  return { symphysis: dice('symphysis', 1), head: dice('head', 2) };
}
