import type { GrayImage } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import { type RegisteredModel, readRegistry } from '../../inference/model-registry.ts';
import { type ModelSession, type OpenSession, openSession } from '../../inference/session.ts';
import { type ModelSettings, openerFor, sessionsOfStudy } from '../../inference/study-sessions.ts';
import type { OpenModel } from '../../result/assemble.ts';
import {
  type ChamberMasks,
  isMirrored,
  segmentChambers,
  showsRightHeart,
  withRightHeart,
} from './chambers.ts';
import {
  estimateEjectionFraction,
  type JointEjectionFraction,
  jointEjectionFraction,
} from './ejection-fraction.ts';
import type { HeartView } from './names.ts';
import { type ParasternalMasks, segmentParasternal } from './parasternal.ts';
import type { VentriclePose } from './ventricle-pose.ts';
import { contradictingView, nameView, type ViewEstimate } from './view.ts';

interface VentriclePair {
  ed: GrayImage;
  es: GrayImage;
  pose: VentriclePose;
  /** LVEF, per cent, by single-plane discs from the masks. */
  byDiscs: number;
}

/**
 * Identifies views and outlines chambers. A member is null if no permitted model can do its task.
 * `area` is the fan in stored pixels, which is the same for all frames of a clip (sector.ts).
 */
export interface HeartLocator {
  nameView: ((frames: readonly GrayImage[], area: Rectangle) => Promise<ViewEstimate>) | null;
  /** Returns the view that the frames show instead of the one named; null if there is none. */
  contradictingView:
    | ((
        frames: readonly GrayImage[],
        area: Rectangle,
        named: HeartView,
      ) => Promise<HeartView | null>)
    | null;
  isMirrored: ((frames: readonly GrayImage[], area: Rectangle) => Promise<boolean>) | null;
  segment:
    | ((
        frames: readonly GrayImage[],
        area: Rectangle,
        mirrored?: boolean,
      ) => Promise<ChamberMasks[]>)
    | null;
  /** Estimates the LVEF from both networks combined. */
  ejectionFraction: ((pair: VentriclePair) => Promise<JointEjectionFraction>) | null;
  /**
   * Outlines the structures on parasternal and subcostal frames. In PLAX, `longAxisLines` measures
   * these outlines.
   */
  parasternal:
    | ((frames: readonly GrayImage[], area: Rectangle) => Promise<ParasternalMasks[]>)
    | null;
  /** The open models, and whether each has run. */
  models: readonly OpenModel[];
  close(): Promise<void>;
}

/**
 * Opens the echo models permitted by `allow` (`models` in job.json). The locator is for one study,
 * because it records which models have run.
 *
 * @param opening opens a model and determines on which thread it runs (by default, the caller's).
 *
 * @throws if the bytes of a model differ from those in the registry.
 */
export async function openHeartLocator(
  settings: ModelSettings,
  opening: OpenSession = openSession,
): Promise<HeartLocator> {
  const registry = await readRegistry();
  const sessions = sessionsOfStudy(opening);
  const open = openerFor(registry, settings, sessions.open);
  const view = await open('echo-view');
  const chambers = await open('echo-chambers');
  // These two models take longest. They are opened one directly after the other, so that each runs
  // on its own thread.
  const parasternal = await open('echo-parasternal');
  const ejectionFraction = await open('echo-ejection-fraction');
  const rightHeart = await openRightHeart(registry, chambers, settings, sessions.open);
  const whole = rightHeart ?? chambers;
  const confirm: Parameters<typeof nameView>[3] =
    whole && ((frames, area) => showsRightHeart(whole, frames, area));
  return {
    nameView: view && ((frames, area) => nameView(view, frames, area, confirm)),
    contradictingView:
      view && ((frames, area, named) => contradictingView(view, frames, area, named)),
    isMirrored: chambers && ((frames, area) => isMirrored(chambers, frames, area)),
    segment:
      chambers &&
      (async (frames, area, mirrored) => {
        const masks = await segmentChambers(chambers, frames, area, mirrored);
        if (!rightHeart) return masks;
        const whole = await segmentChambers(rightHeart, frames, area, mirrored);
        return masks.map((left, n) => withRightHeart(left, whole[n] ?? left));
      }),
    ejectionFraction:
      ejectionFraction &&
      (async ({ ed, es, pose, byDiscs }) => {
        const byNetwork = await estimateEjectionFraction(ejectionFraction, ed, es, pose);
        return jointEjectionFraction(byDiscs, byNetwork, ejectionFraction.model);
      }),
    parasternal: parasternal && ((frames, area) => segmentParasternal(parasternal, frames, area)),
    get models() {
      return sessions.models();
    },
    close: sessions.close,
  };
}

/**
 * Opens a permitted model that outlines the right heart, if the more accurate model does not
 * outline it.
 */
async function openRightHeart(
  registry: readonly RegisteredModel[],
  chambers: ModelSession | null,
  settings: ModelSettings,
  opening: OpenSession,
): Promise<ModelSession | null> {
  if (!chambers || chambers.model.output.channels.includes('rv')) return null;
  const knowing = registry.filter(({ output }) => output.channels.includes('rv'));
  return openerFor(knowing, settings, opening)('echo-chambers');
}
