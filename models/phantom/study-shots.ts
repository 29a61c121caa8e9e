import type { PixelEncoding } from './dicom.ts';
import type { Plane } from './labels.ts';
import { CHARTED_DAYS } from './sizes.ts';
import type { PhantomView } from './view.ts';
import { cerebellum, lateralVentricle } from './views/brain-structures.ts';
import { cervix } from './views/cervix.ts';
import { earlyPregnancy } from './views/early-pregnancy.ts';
import { amnioticFluid } from './views/fluid.ts';
import { fourChamber } from './views/four-chamber.ts';
import { fetalHeartMMode } from './views/m-mode.ts';
import { crlSagittal, midsagittal } from './views/midsagittal.ts';
import { placenta } from './views/placenta.ts';
import {
  leftUterineArtery,
  middleCerebralArtery,
  rightUterineArtery,
  umbilicalArtery,
} from './views/spectrum.ts';
import { presentationSweep } from './views/sweep.ts';
import { transperineal } from './views/transperineal.ts';

/** One image or cine of a study: a biometry plane, or a view. */
export interface Shot {
  of: Plane | PhantomView;
  frames: number;
  encoding: PixelEncoding;
  /** The cart's name for the view. */
  viewName?: string;
  /** Requested values of the view, as a function of the exact gestational age in weeks. */
  anatomy?: (weeks: number) => Readonly<Record<string, number>>;
}

/**
 * Contents of a study. `biometry`: only the biometry planes; `stills`: also stills of the other
 * views; `complete`: also cines; `labor`: the transperineal plane at rest and with pushing, and a
 * sweep; `twins`: sweeps over two fetuses. In the first trimester, the first three contain the
 * views for that age.
 */
const STUDY_CONTENTS = ['biometry', 'stills', 'complete', 'labor', 'twins'] as const;
export type StudyContents = (typeof STUDY_CONTENTS)[number];

const STILL = {
  native: { compression: 'native', colour: 'grey' },
  nativeColour: { compression: 'native', colour: 'rgb' },
  jpeg: { compression: 'jpeg', colour: 'grey' },
  jpegColour: { compression: 'jpeg', colour: 'rgb' },
} as const satisfies Record<string, PixelEncoding>;

/** Images of the measured planes. Each plane is imaged three times (INTERGROWTH-21st protocol). */
const MEASURED: readonly Shot[] = [
  { of: 'transthalamic', frames: 1, encoding: STILL.native },
  { of: 'transthalamic', frames: 1, encoding: STILL.jpeg },
  { of: 'transthalamic', frames: 1, encoding: STILL.jpegColour },
  { of: 'abdominal', frames: 1, encoding: STILL.native },
  { of: 'abdominal', frames: 1, encoding: STILL.jpeg },
  { of: 'abdominal', frames: 1, encoding: STILL.nativeColour },
  { of: 'femur', frames: 1, encoding: STILL.native },
  { of: 'femur', frames: 1, encoding: STILL.jpeg },
  { of: 'femur', frames: 1, encoding: STILL.jpegColour },
];

const HEAD_CINE: Shot = { of: 'transthalamic', frames: 6, encoding: STILL.jpeg };

/** The measured planes, the other head planes once each, and one cine. */
const BIOMETRY: readonly Shot[] = [
  ...MEASURED,
  { of: 'transventricular', frames: 1, encoding: STILL.jpeg },
  { of: 'transcerebellar', frames: 1, encoding: STILL.jpegColour },
  HEAD_CINE,
];

const still = (of: PhantomView, more: Partial<Shot> = {}): Shot => ({
  of,
  frames: 1,
  encoding: STILL.jpeg,
  ...more,
});

const FETAL_RATE = 146;

/**
 * Returns the median peak velocity, cm/s (Mari 2000). Deliberately separate from the gateway's
 * chart.
 */
const usualCerebralPeak = (weeks: number) => Math.exp(2.31 + 0.046 * weeks);

/**
 * Returns the median transcerebellar diameter, mm: a parabola through the values at three ages
 * (Rodriguez-Sibaja 2021). Deliberately separate from the gateway's chart.
 */
function usualCerebellum(weeks: number): number {
  const since = weeks - 19.66;
  return 20 + 1.49 * since + 0.04 * since * (since - 6.7);
}

/**
 * The head planes other than the measured one, with structures of normal size (ISUOG CNS part 1,
 * 2020).
 */
const BRAIN: readonly Shot[] = [
  still(lateralVentricle, { anatomy: () => ({ atrialMm: 6.8 }) }),
  still(cerebellum, {
    encoding: STILL.jpegColour,
    anatomy: (weeks) => ({ tcdMm: usualCerebellum(weeks), cisternaMm: 5 }),
  }),
];

/** Half the depth of the cavity in mm that results in an amniotic fluid index near the median. */
const USUAL_FLUID_MM = 24;

/**
 * Stills of a normal pregnancy: normal fluid and placenta, a long cervix, and three images of each
 * measured view.
 */
const OTHER_STILLS: readonly Shot[] = [
  ...['RUQ', 'LUQ', 'LLQ', 'RLQ'].map((quadrant) =>
    still(amnioticFluid, {
      viewName: `AFI ${quadrant}`,
      anatomy: () => ({ amount: 1, downMm: USUAL_FLUID_MM }),
    }),
  ),
  still(placenta, { anatomy: () => ({ wall: 0, lacunae: 0, clearZone: 1 }) }),
  ...[36, 37, 38].map((lengthMm) =>
    still(cervix, { viewName: 'TRANSVAGINAL CERVIX', anatomy: () => ({ lengthMm, funnel: 0 }) }),
  ),
  still(umbilicalArtery, {
    anatomy: () => ({ psv: 38, edvShare: 0.3, beatsPerMinute: FETAL_RATE, irregularity: 0 }),
  }),
  still(middleCerebralArtery, {
    anatomy: (weeks) => ({
      psv: usualCerebralPeak(weeks),
      edvShare: 0.16,
      beatsPerMinute: FETAL_RATE,
      irregularity: 0,
    }),
  }),
  ...[leftUterineArtery, rightUterineArtery].map((artery) =>
    still(artery, {
      anatomy: () => ({ psv: 65, edvShare: 0.42, notch: 0, beatsPerMinute: 78, beats: 5 }),
    }),
  ),
];

function sweep(anatomy: Readonly<Record<string, number>>): Shot {
  return { of: presentationSweep, frames: 36, encoding: STILL.jpeg, anatomy: () => anatomy };
}

/** Two seconds of a beating heart, and a sweep from the cervix to the fundus. */
const CINES: readonly Shot[] = [
  {
    of: fourChamber,
    frames: 60,
    encoding: STILL.jpeg,
    anatomy: () => ({ areaRatio: 0.3, axisDegrees: 45, beatsPerMinute: FETAL_RATE, effusionMm: 0 }),
  },
  sweep({ cephalic: 1 }),
];

/**
 * Range of gestational ages of an examination in days: 6+0 to 42+0 weeks. Labour begins at 37+0.
 */
const STUDY_AGES = { youngest: 42, oldest: 294, labor: 259 } as const;

const STILLS = [...MEASURED, ...BRAIN, HEAD_CINE, ...OTHER_STILLS];

const heartSweep = still(fetalHeartMMode, {
  anatomy: () => ({ beatsPerMinute: 158, irregularity: 0.01 }),
});

/** Until 10+6 weeks: the sac along and across the uterus, and the embryo's beating heart. */
const EARLY: readonly Shot[] = [
  ...[0, 0, 1].map((transverse) => still(earlyPregnancy, { anatomy: () => ({ transverse }) })),
  { of: earlyPregnancy, frames: 60, encoding: STILL.jpeg, anatomy: () => ({ transverse: 0 }) },
];

/**
 * 11+0 to 13+6 weeks: crown-rump length and nuchal translucency three times each, and the heart
 * rate.
 */
const NUCHAL: readonly Shot[] = [
  ...[0, 1, 2].map(() => still(crlSagittal)),
  ...[0, 1, 2].map(() =>
    still(midsagittal, { anatomy: () => ({ nasalBone: 1, flexionDegrees: 0 }) }),
  ),
  heartSweep,
];

/**
 * Stills of the fetal head at rest and, lower each time, during two pushes; then a sweep that shows
 * the fetal lie.
 */
const LABOR: readonly Shot[] = [
  ...[112, 114, 124].map((angleOfProgressionDegrees) =>
    still(transperineal, { anatomy: () => ({ angleOfProgressionDegrees }) }),
  ),
  sweep({ cephalic: 1 }),
];

const TWINS: readonly Shot[] = [
  sweep({ fetuses: 2, cephalic: 1 }),
  sweep({ fetuses: 2, cephalic: 1, fromFundus: 1 }),
];

const SHOTS: Readonly<Record<StudyContents, readonly Shot[]>> = {
  biometry: BIOMETRY,
  stills: STILLS,
  complete: [...STILLS, ...CINES],
  labor: LABOR,
  twins: TWINS,
};

/**
 * Returns the shots of an examination at an age.
 * @throws RangeError if there is no such examination
 */
export function shotsAt(gaDays: number, contents: StudyContents): readonly Shot[] {
  const { youngest, oldest, labor } = STUDY_AGES;
  const from = { labor, twins: presentationSweep.ages.youngest }[contents as string] ?? youngest;
  if (!(gaDays >= from && gaDays <= oldest)) {
    throw new RangeError(`gestational age ${gaDays} d: ${contents} is from ${from} to ${oldest} d`);
  }
  if (gaDays >= CHARTED_DAYS.youngest) return SHOTS[contents];
  return gaDays < midsagittal.ages.youngest ? EARLY : NUCHAL;
}
