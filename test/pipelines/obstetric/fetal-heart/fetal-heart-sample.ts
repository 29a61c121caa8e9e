import type { CartMeasurement } from '../../../../pipelines/contract/study.ts';
import type { MModeRhythm } from '../../../../pipelines/measure/m-mode/heart-rate.ts';
import type { CardiacActivity } from '../../../../pipelines/measure/periodicity.ts';
import type { SpectrumReading } from '../../../../pipelines/obstetric/doppler/evidence.ts';
import type { LocatorUncertainty } from '../../../../pipelines/obstetric/evidence.ts';
import type {
  ChestReading,
  FetalHeartReadings,
  LocatedChest,
} from '../../../../pipelines/obstetric/fetal-heart/evidence.ts';
import { fetalHeart } from '../../../../pipelines/obstetric/fetal-heart/section.ts';
import { parseOptions } from '../../../../pipelines/obstetric/input.ts';
import type { FramePlane } from '../../../../pipelines/obstetric/shared/plane.ts';
import { clip, evidenceWith, NO_MODELS, runSection } from '../evidence-sample.ts';

export const BEATING = {
  status: 'beating',
  beatsPerMinute: 145,
  variation: 0.03,
  strength: 0.8,
} as const satisfies MModeRhythm;

/** Returns a thorax of 100 by 90 pixels around (200, 200), with its spine on the right. */
export function chest(
  area: number,
  degrees: number,
  given: Partial<LocatedChest> = {},
): ChestReading {
  const thorax = { centre: { x: 200, y: 200 }, a: 100, b: 90, angle: 0 };
  const b = Math.sqrt((area * 100 * 90) / 1.25);
  const turn = Math.PI - (degrees * Math.PI) / 180;
  const crux = { x: 195, y: 200 };
  const located: LocatedChest = {
    thorax,
    heart: { centre: { x: 190, y: 205 }, a: 1.25 * b, b, angle: turn },
    confidence: 0.9,
    accepted: true,
    septum: {
      crux,
      apex: { x: crux.x + 60 * Math.cos(turn), y: crux.y + 60 * Math.sin(turn) },
      spine: { x: 296, y: 200 },
      confidence: 0.8,
      accepted: true,
    },
    ...given,
  };
  const at = clip('chest.dcm', { regions: [] });
  const frame = at.frames[0] as FramePlane['frame'];
  return { clip: at, frame, located };
}

export interface Given {
  uncertainty?: LocatorUncertainty;
  chests?: ChestReading[] | null;
  views?: FetalHeartReadings['views'];
  chestFrames?: number;
  mMode?: MModeRhythm[];
  /** True if the sweeps are known to show a fetus. */
  fetal?: boolean;
  cines?: CardiacActivity[];
  gaDays?: number | null;
  cart?: CartMeasurement[];
  spectra?: SpectrumReading[];
}

/** Runs the section on these readings. Returns its outcome and the accepted rate. */
export function run(given: Given = {}) {
  const {
    chests = null,
    views = [],
    chestFrames = 0,
    mMode = [],
    cines = [],
    gaDays = 154,
  } = given;
  const at = { file: 'sweep.dcm', sopInstanceUid: null, frame: 0, fetal: given.fetal ?? true };
  const evidence = evidenceWith({
    study: { clips: [], cart: given.cart ?? [], refused: [], files: 1, series: 1 },
    options: parseOptions(gaDays === null ? {} : { dating: { ga_days: gaDays } }),
    planes: null,
    readings: [],
    withoutModel: [],
    uncertainty: given.uncertainty ?? NO_MODELS.uncertainty,
    priors: [],
    views: {
      fetalHeart: { chests, views, chestFrames, mMode: mMode.map((rhythm) => ({ ...at, rhythm })) },
      presentation: {
        sweeps: [],
        cardiac: cines.map((activity) => ({ clip: clip('chest.dcm'), activity })),
      },
      spectra: given.spectra ?? [],
    },
  });
  const outcome = runSection(fetalHeart, evidence, []);
  return {
    ...outcome,
    rate: outcome.measurements?.find(({ id }) => id === 'fetal-heart-rate') ?? null,
  };
}
