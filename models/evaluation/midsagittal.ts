import type { GrayImage } from '../../pipelines/contract/image.ts';
import type { Rectangle } from '../../pipelines/contract/study.ts';
import type { ModelSession } from '../../pipelines/inference/session.ts';
import { nuchalLines } from '../../pipelines/measure/nuchal-lines.ts';
import { median } from '../../pipelines/measure/statistics.ts';
import {
  type LocatedMidsagittal,
  MIDSAGITTAL_STRUCTURES,
  type MidsagittalStructure,
} from '../../pipelines/obstetric/nt/evidence.ts';
import { locateMidsagittal } from '../../pipelines/obstetric/nt/locate.ts';
import { mean, round } from './agreement.ts';
import { type Case, readGray } from './cases.ts';

interface Judged {
  one: Case;
  image: GrayImage;
  located: LocatedMidsagittal;
}

/**
 * Returns how often each labelled structure is found: by centre (the centre of the accepted box is
 * inside the reference) and by overlap (intersection over union of at least 0.5). `withoutMarks` is
 * the same search after the nuchal box has been blurred. A model that relies on traces of erased
 * calipers would then no longer find it.
 */
export async function midsagittalAgreement(session: ModelSession, cases: readonly Case[]) {
  const locate = async (image: GrayImage) => (await locateMidsagittal(session, [image]))[0] ?? {};
  const judged: Judged[] = [];
  const blurred: Judged[] = [];
  for (const one of cases) {
    const image = await readGray(one.path);
    judged.push({ one, image, located: await locate(image) });
    const nuchal = one.boxes?.['nuchal-translucency'];
    if (nuchal) {
      const without = washedOut(image, nuchal);
      blurred.push({ one, image: without, located: await locate(without) });
    }
  }
  const structures = MIDSAGITTAL_STRUCTURES.filter((name) => cases.some((c) => c.boxes?.[name]));
  return {
    cases: cases.length,
    found: Object.fromEntries(structures.map((name) => [name, foundShare(judged, name)])),
    ...(blurred.length > 0 && {
      nuchalTranslucencyWithoutMarks: foundShare(blurred, 'nuchal-translucency'),
    }),
    nuchalLinesSeen: round(mean(judged.map((j) => (linesOf(j) ? 1 : 0))), 4),
    ...thicknessErrors(judged),
  };
}

function foundShare(judged: readonly Judged[], name: MidsagittalStructure) {
  const labelled = judged.flatMap(({ one, located }) => {
    const truth = one.boxes?.[name];
    const found = located[name];
    return truth ? [{ truth, found: found?.accepted ? found.box : null }] : [];
  });
  const share = (test: (found: Rectangle, truth: Rectangle) => boolean) =>
    round(mean(labelled.map(({ found, truth }) => (found && test(found, truth) ? 1 : 0))), 4);
  return {
    cases: labelled.length,
    centreInside: share(centreInside),
    overlapAtLeastHalf: share((found, truth) => overlap(found, truth) >= 0.5),
  };
}

function centreInside(found: Rectangle, truth: Rectangle): boolean {
  const x = (found.minX + found.maxX) / 2;
  const y = (found.minY + found.maxY) / 2;
  return x >= truth.minX && x <= truth.maxX && y >= truth.minY && y <= truth.maxY;
}

function overlap(one: Rectangle, other: Rectangle): number {
  const width = Math.min(one.maxX, other.maxX) - Math.max(one.minX, other.minX);
  const height = Math.min(one.maxY, other.maxY) - Math.max(one.minY, other.minY);
  const both = Math.max(0, width) * Math.max(0, height);
  const area = (box: Rectangle) => (box.maxX - box.minX) * (box.maxY - box.minY);
  return both / (area(one) + area(other) - both);
}

/**
 * Averages a box of the image over 5 × 5 pixels. This removes texture and marks but keeps the dark
 * band.
 */
function washedOut(image: GrayImage, box: Rectangle): GrayImage {
  const data = new Uint8Array(image.data);
  const at = (x: number, y: number) => image.data[y * image.width + x] ?? 0;
  for (let y = Math.max(2, Math.floor(box.minY)); y <= Math.min(image.height - 3, box.maxY); y++) {
    for (let x = Math.max(2, Math.floor(box.minX)); x <= Math.min(image.width - 3, box.maxX); x++) {
      let sum = 0;
      for (let dy = -2; dy <= 2; dy++) for (let dx = -2; dx <= 2; dx++) sum += at(x + dx, y + dy);
      data[y * image.width + x] = Math.round(sum / 25);
    }
  }
  return { ...image, data };
}

function linesOf({ one, image, located }: Judged) {
  const nuchal = located['nuchal-translucency'];
  if (!nuchal?.accepted) return null;
  const mm = one.mmPerPixel ?? 1;
  return nuchalLines(image, nuchal.box, { x: mm, y: mm });
}

/** Returns the errors in mm for the cases with a known truth (phantoms). */
function thicknessErrors(judged: readonly Judged[]) {
  const errors = judged.flatMap((one) => {
    const truth = one.one.nuchalMm;
    const lines = truth === undefined ? null : linesOf(one);
    return lines && truth !== undefined ? [lines.thickness - truth] : [];
  });
  if (errors.length === 0) return {};
  const sizes = errors.map(Math.abs);
  return {
    nuchalThickness: {
      cases: errors.length,
      meanAbsoluteErrorMm: round(mean(sizes), 2),
      medianAbsoluteErrorMm: round(median(sizes), 2),
      biasMm: round(mean(errors), 2),
      largestErrorMm: round(Math.max(...sizes), 2),
    },
  };
}
