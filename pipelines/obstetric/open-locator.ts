import { z } from 'zod';
import { readMetrics, readRegistry } from '../inference/model-registry.ts';
import { oncePerImage } from '../inference/once-per-image.ts';
import { type ModelSession, type OpenSession, openSession } from '../inference/session.ts';
import { type ModelSettings, openerFor, sessionsOfStudy } from '../inference/study-sessions.ts';
import { DECODING } from '../input/decode-frames.ts';
import { brainUncertainty, locateBrainStructures } from './anomaly-screen/locate.ts';
import { locateFemurEnds } from './biometry/locate.ts';
import { chestUncertainty, locateChest } from './fetal-heart/locate.ts';
import { locateTransperineal } from './labor-progress/locate.ts';
import type { Locator } from './locator.ts';
import { namePlanes } from './name-planes.ts';
import { locateMidsagittal } from './nt/locate.ts';
import { refineHeads } from './shared/head-border.ts';
import { locateOutline } from './shared/outline.ts';
import { drawUterineMaps, uterineUncertainty } from './shared/uterine-maps.ts';

/** A locator that can close its models. */
type OpenLocator = Locator & { close(): Promise<void> };

/**
 * Opens the models for the obstetric pipeline that `allow` permits (`models` in job.json). The
 * locator is for one study, because it records which models have run.
 * @param opening opens each session and so decides where the models run. The default runs them on
 *   the calling thread.
 * @throws if a model file differs from the registry.
 */
export async function openLocator(
  settings: ModelSettings,
  opening: OpenSession = openSession,
): Promise<OpenLocator> {
  const registry = await readRegistry();
  const sessions = sessionsOfStudy(opening);
  const open = openerFor(registry, settings, sessions.open);
  const plane = await open('fetal-plane');
  // Models are assigned to the inference threads in turn (`overThreads`). The models for the brain
  // plane and the head are the slowest, so they are opened one after the other.
  const brainPlane = await open('fetal-brain-plane');
  const head = await open('fetal-head');
  const border = await open('fetal-head-border');
  const abdomen = await open('fetal-abdomen');
  const femur = await open('fetal-femur');
  const symphysisHead = await open('symphysis-head');
  const midsagittal = await open('fetal-midsagittal');
  const uterus = await open('uterine-structures');
  const chest = await open('fetal-heart-structures');
  const brain = await open('fetal-brain-structures');
  // The survey of planes, the biometry and the reader of sweeps outline the same frames, so each
  // image is outlined only once.
  const outlineHead = head && oncePerImage((images) => locateOutline(head, images));
  // Only heads that are measured are refined. The models for planes and brain structures were
  // trained and evaluated on unrefined outlines.
  const refineHead =
    outlineHead && border
      ? oncePerImage(async (images) => refineHeads(border, images, await outlineHead(images)))
      : outlineHead;
  const outlineAbdomen = abdomen && oncePerImage((images) => locateOutline(abdomen, images));
  return {
    planes:
      plane &&
      ((images, gaDays) =>
        namePlanes(
          {
            plane,
            head: outlineHead,
            brainPlane,
            abdomen: outlineAbdomen,
            femur,
            symphysisHead,
            chest,
          },
          images,
          gaDays,
        )),
    // Each frame is classified twice, unchanged and mirrored, so half as many frames fill a batch.
    ...(plane && { framesAtOnce: Math.max(DECODING.frames, plane.batch / 2) }),
    head: refineHead,
    abdomen: outlineAbdomen,
    femur: femur && ((images) => locateFemurEnds(femur, images)),
    symphysisHead: symphysisHead && ((images) => locateTransperineal(symphysisHead, images)),
    midsagittal: midsagittal && ((images) => locateMidsagittal(midsagittal, images)),
    uterus: uterus && ((images) => drawUterineMaps(uterus, images)),
    chest: chest && ((images) => locateChest(chest, images)),
    brain:
      brain &&
      (async (image, ellipse) => {
        const [first] = (await outlineHead?.([image])) ?? [];
        return locateBrainStructures(brain, image, first?.ellipse ?? ellipse);
      }),
    uncertainty: {
      hcPercent: await halfWidthOf(border ?? head, 'halfWidth95Percent'),
      smallHcPercent: await halfWidthOf(border ?? head, 'halfWidth95PercentOfSmall'),
      acPercent: await halfWidthOf(abdomen, 'halfWidth95Percent'),
      flMm: await halfWidthOf(femur, 'halfWidth95Mm'),
      angleOfProgression: await halfWidthOf(symphysisHead, 'halfWidth95Degrees'),
      uterus: uterus && (await uterineUncertainty(uterus.model)),
      chest: chest && (await chestUncertainty(chest.model)),
      brain: brain && (await brainUncertainty(brain.model)),
    },
    get models() {
      return sessions.models();
    },
    close: sessions.close,
  };
}

const halfWidth = z.number().positive().nullish();
const metricsSchema = z.looseObject({
  halfWidth95Mm: halfWidth,
  halfWidth95Percent: halfWidth,
  halfWidth95PercentOfSmall: halfWidth,
  halfWidth95Degrees: halfWidth,
});

/**
 * Reads the half width of the 95 % interval of a model, measured on real held-out images
 * (models/evaluate.ts).
 */
async function halfWidthOf(
  session: Pick<ModelSession, 'model'> | null,
  unit: keyof typeof metricsSchema.shape,
): Promise<number | null> {
  return session && (metricsSchema.parse(await readMetrics(session.model))[unit] ?? null);
}
