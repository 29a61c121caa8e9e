import type { Ellipse, GrayImage } from '../../pipelines/contract/image.ts';
import type { ModelSession } from '../../pipelines/inference/session.ts';
import { distance, perimeter, toMillimetres } from '../../pipelines/measure/ellipse.ts';
import { distanceToEllipse } from '../../pipelines/measure/ellipse-fit.ts';
import { locateFemurEnds } from '../../pipelines/obstetric/biometry/locate.ts';
import { refineHeads } from '../../pipelines/obstetric/shared/head-border.ts';
import { locateOutline } from '../../pipelines/obstetric/shared/outline.ts';
import type { Measured } from './agreement.ts';
import { type Case, readGray } from './cases.ts';

/**
 * Measures each case as the pipeline does, one image at a time. `border` is the model that refines
 * the outlines of heads.
 */
export async function measure(
  session: ModelSession,
  cases: readonly Case[],
  border: ModelSession | null = null,
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const one of cases) {
    const image = await readGray(one.path);
    const base = {
      image: one.image,
      referenceMm: one.referenceMm ?? Number.NaN,
    };
    const answer =
      session.model.task === 'fetal-femur'
        ? await femurLength(session, image, one)
        : await circumference(session, border, image, one);
    measured.push({ ...base, ...(answer ?? NOT_FOUND) });
  }
  return measured;
}

const NOT_FOUND = { measuredMm: null, confidence: 0, accepted: false };

async function circumference(
  session: ModelSession,
  border: ModelSession | null,
  image: GrayImage,
  one: Case,
) {
  const outlines = await locateOutline(session, [image]);
  const [outline] = border ? await refineHeads(border, [image], outlines) : outlines;
  if (!outline) return null;
  const scale = scaleOf(one);
  const { a, b } = toMillimetres(outline.ellipse, scale);
  const { confidence, accepted } = outline;
  const dice = one.ellipse && diceOf(outline.ellipse, one.ellipse, image);
  return { measuredMm: perimeter(a, b), confidence, accepted, ...(dice !== undefined && { dice }) };
}

async function femurLength(session: ModelSession, image: GrayImage, one: Case) {
  const [femur] = await locateFemurEnds(session, [image]);
  if (!femur) return null;
  const { ends, confidence, accepted } = femur;
  return { measuredMm: distance(...ends, scaleOf(one)), confidence, accepted };
}

function scaleOf(one: Case) {
  const mm = one.mmPerPixel ?? Number.NaN;
  return { x: mm, y: mm };
}

function diceOf(one: Ellipse, other: Ellipse, { width, height }: GrayImage): number {
  let both = 0;
  let sum = 0;
  for (let y = 0; y < height; y += 2) {
    for (let x = 0; x < width; x += 2) {
      const inOne = distanceToEllipse(one, { x, y }) < 0 ? 1 : 0;
      const inOther = distanceToEllipse(other, { x, y }) < 0 ? 1 : 0;
      both += inOne * inOther;
      sum += inOne + inOther;
    }
  }
  return (2 * both) / sum;
}
