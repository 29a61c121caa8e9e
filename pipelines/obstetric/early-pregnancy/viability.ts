import type { Measurement } from '../../result/envelope.ts';
import { cutOffWithin, isPlausible } from '../../result/obstetric/limits.ts';
import { type EarlyDoubt, say } from '../../result/render/obstetric/early-pregnancy.ts';
import type { ClassificationDraft } from '../../result/section-outcome.ts';
import type { MModeReading } from '../fetal-heart/evidence.ts';
import { type EarlyLength, judgedValue } from '../shared/machine-values.ts';
import type { EarlyClip, EarlyEvidence } from './evidence.ts';
import {
  DIAGNOSTIC,
  SUSPICIOUS,
  SUSPICIOUS_MSD,
  suspiciousSigns,
  type ViabilityCategory,
  viability,
} from './guideline.ts';
import { EARLY_UNCERTAINTY } from './measure.ts';

/** Criteria of early pregnancy loss on transvaginal ultrasound. */
export const SRU = 'SRU consensus, Doubilet et al., NEJM 2013;369:1443-1451';

/** What the images show; null: not assessed. */
export interface EarlySight {
  transvaginal: boolean;
  sac: boolean;
  yolkSac: boolean;
  /** False only where the sac was seen in both planes. */
  embryo: boolean | null;
  /** False: looked for on a long and quick enough cine of the embryo and not seen. */
  cardiacActivity: boolean | null;
  /** Seconds of the clip in which cardiac activity was looked for and not seen. */
  silentSeconds: number | null;
}

/** A rate of an embryo's heart; that of a mother's vessel is none (obstetric 0.6). */
const isRate = (beatsPerMinute: number) => isPlausible('fetal-heart-rate', beatsPerMinute);

const isBeating = ({ cardiac }: EarlyClip) =>
  cardiac?.status === 'beating' && isRate(cardiac.beatsPerMinute);

/** Rhythms of sweeps that beat at such a rate and are of the fetus, not of the mother. */
const fetalRhythms = (sweeps: readonly Pick<MModeReading, 'fetal' | 'rhythm'>[]) =>
  sweeps.flatMap(({ fetal, rhythm }) =>
    fetal && rhythm.status === 'beating' && isRate(rhythm.beatsPerMinute) ? [rhythm] : [],
  );

/**
 * What the clips show of the contents of the sac; only those with an accepted sac count. M-mode
 * sweeps count for cardiac activity; one whose beats could not be separated leaves it open. A CRL or
 * a heart rate among the values of the `machine` means that its operator saw an embryo.
 */
export function earlySight(
  clips: readonly EarlyClip[],
  sweeps: readonly Pick<MModeReading, 'fetal' | 'rhythm'>[] = [],
  machine: readonly Measurement[] = [],
): EarlySight {
  const withSac = clips.filter(({ frames }) => frames.some(({ sac }) => sac?.accepted));
  const contents = withSac.flatMap(({ frames }) => frames.flatMap((frame) => frame.contents ?? []));
  const embryoSeen =
    contents.some(({ embryo }) => embryo !== null) || judgedValue(machine, 'crl') !== null;
  const planes = new Set(withSac.flatMap(({ plane }) => plane ?? []));
  const silent = withSac.filter(
    ({ cardiac, frames }) =>
      cardiac?.status === 'not-seen' && frames.some(({ contents: held }) => held?.embryo),
  );
  const swept = fetalRhythms(sweeps);
  const beating =
    withSac.some(isBeating) ||
    swept.some(({ variation }) => variation !== null) ||
    judgedValue(machine, 'fetal-heart-rate') !== null;
  const silence = silent.length > 0 && swept.length === 0;
  const times = silent.map(({ clip }) => clip.frames.at(-1)?.time ?? 0);
  return {
    transvaginal: withSac.length > 0 && withSac.every(({ route }) => route === 'transvaginal'),
    sac: withSac.length > 0,
    yolkSac: contents.some(({ yolkSac }) => yolkSac !== null),
    embryo: embryoSeen || beating ? true : planes.size === 2 ? false : null,
    cardiacActivity: beating ? true : silence ? false : null,
    silentSeconds: silence ? Math.max(...times) : null,
  };
}

/**
 * The category of viability: never that a criterion diagnostic of loss is met. That there is no embryo
 * or no cardiac activity is known from the analysis alone, which misses either (docs/early-pregnancy.md).
 */
export type JudgedViability = Exclude<ViabilityCategory, 'diagnostic-of-pregnancy-loss'>;

export interface EarlyViability {
  category: JudgedViability;
  /** A criterion diagnostic of loss would be met if a person saw what the analysis saw. */
  seemsLost: boolean;
  criteria: ClassificationDraft['criteria'];
  /** Why a criterion of loss is not certain although it seems to be met. */
  doubts: EarlyDoubt[];
  /** A mean sac diameter whose interval includes the cut-off that is diagnostic of loss. */
  nearMsd: { value: number; cutOff: number } | null;
}

/**
 * A mean sac diameter on neither side of the diagnostic cut-off for certain; null where it is. The
 * machine gives no uncertainty: the calipers of a person are not taken to be more certain than ours.
 */
function nearCutOff(msd: Measurement | null): EarlyViability['nearMsd'] {
  if (!msd) return null;
  const { value, uncertainty } = msd;
  const given = { value, uncertainty: uncertainty ?? EARLY_UNCERTAINTY.sac };
  const cutOff = cutOffWithin(given, [DIAGNOSTIC.msd]);
  return cutOff === null ? null : { value, cutOff };
}

const seenState = (seen: boolean | null) =>
  seen === null ? 'not-assessed' : seen ? 'seen' : 'not-seen';

/**
 * SRU's criteria in their order. What would meet one diagnostic of loss is no more than suspicious.
 * `measurements` are those of `measureEarlyPregnancy`, `dating` that of the request.
 */
export function judgeViability(
  seen: EarlySight,
  measurements: readonly Measurement[],
  dating: EarlyEvidence['options']['dating'],
): EarlyViability {
  const measured = (key: EarlyLength) => judgedValue(measurements, key);
  const value = (key: EarlyLength) => measured(key)?.value ?? null;
  const crl = value('crl');
  const msd = value('mean-sac-diameter');
  const { embryo, cardiacActivity } = seen;
  const signs = suspiciousSigns({
    yolkSac: value('yolk-sac'),
    msd,
    crl,
    embryo,
    daysByLmp: dating?.basis === 'lmp' ? dating.ga_days : null,
  });
  const silent = crl !== null && cardiacActivity === false;
  const empty = msd !== null && embryo === false;
  const byScan = viability({ crl, msd, embryo, cardiacActivity });
  const anySign = cardiacActivity !== true && Object.values(signs).some(Boolean);
  const seemsLost = byScan === 'diagnostic-of-pregnancy-loss';
  const held = seemsLost ? 'suspicious-for-pregnancy-loss' : byScan;
  const open = held === 'uncertain-viability' || held === 'not-assessable';
  const category = open && anySign ? 'suspicious-for-pregnancy-loss' : held;
  const heart = say.value('early.crl-and-heart', { crl, heart: seenState(cardiacActivity) });
  const sac = say.value('early.msd-and-embryo', { msd, embryo: seenState(embryo) });
  const yolkSac = value('yolk-sac');
  return {
    category,
    seemsLost,
    // The analysis misses small hearts that beat, and a third of embryos (docs/early-pregnancy.md).
    doubts: [
      ...(silent ? ['silence-unproven' as const] : []),
      ...(empty ? ['emptiness-unproven' as const] : []),
    ],
    nearMsd: empty ? nearCutOff(measured('mean-sac-diameter')) : null,
    criteria: [
      {
        name: 'transvaginal images',
        value: seen.transvaginal ? 'yes' : 'not known',
        met: seen.transvaginal,
      },
      {
        name: `CRL at least ${DIAGNOSTIC.crl} mm and no cardiac activity`,
        value: heart,
        met: silent && crl >= DIAGNOSTIC.crl,
      },
      {
        name: `MSD at least ${DIAGNOSTIC.msd} mm and no embryo`,
        value: sac,
        met: empty && msd >= DIAGNOSTIC.msd,
      },
      {
        name: `CRL below ${DIAGNOSTIC.crl} mm and no cardiac activity`,
        value: heart,
        met: silent && crl < DIAGNOSTIC.crl,
      },
      {
        name: `MSD from ${SUSPICIOUS_MSD} mm and no embryo`,
        value: sac,
        met: empty && msd >= SUSPICIOUS_MSD && msd < DIAGNOSTIC.msd,
      },
      {
        name: `yolk sac above ${SUSPICIOUS.yolkSacAbove} mm`,
        value: yolkSac === null ? 'not measured' : { of: 'yolk-sac', value: yolkSac },
        met: signs.largeYolkSac,
      },
      {
        name: `MSD less CRL below ${SUSPICIOUS.smallSacBelow} mm`,
        value: say.value('early.msd-and-crl', { msd, crl }),
        met: signs.smallSac,
      },
      {
        name: 'no embryo from 6 weeks after the last menstrual period',
        value: say.value('early.embryo', { embryo: seenState(embryo) }),
        met: signs.lateEmbryo,
      },
    ],
  };
}
