import type { Measurement } from '../../result/envelope.ts';
import { cutOffWithin, isPlausible } from '../../result/obstetric/limits.ts';
import { type EarlyDoubt, say } from '../../result/render/obstetric/early-pregnancy.ts';
import { type ClassificationDraft, criterion } from '../../result/section-outcome.ts';
import {
  acceptedValue,
  EARLY_LENGTHS,
  type EarlyLength,
  judgedValue,
} from '../shared/measurement.ts';
import type { EarlyClip, EarlyEvidence, EarlySweep } from './evidence.ts';
import {
  bothHold,
  DIAGNOSTIC,
  SUSPICIOUS,
  SUSPICIOUS_MSD,
  suspiciousSigns,
  type ViabilityCategory,
  viability,
} from './guideline.ts';
import { EARLY_UNCERTAINTY } from './measure.ts';

/** Source of the criteria for early pregnancy loss on transvaginal ultrasound. */
export const SRU = 'SRU consensus, Doubilet et al., NEJM 2013;369:1443-1451';

/** What the images show; null means not assessed. */
export interface EarlySight {
  transvaginal: boolean;
  sac: boolean;
  yolkSac: boolean | null;
  /** False only if the sac was searched in both planes and no embryo was found. */
  embryo: boolean | null;
  /** False if a sufficiently long and fast cine of the embryo showed no cardiac activity. */
  cardiacActivity: boolean | null;
  /** Length in seconds of the clip without cardiac activity; null if there is no such clip. */
  silentSeconds: number | null;
}

/**
 * Returns true if a rate is plausible for an embryonic heart. The limits exclude the rate of a
 * maternal vessel (obstetric 0.6).
 */
const isRate = (beatsPerMinute: number) => isPlausible('fetal-heart-rate', beatsPerMinute);

const isBeating = ({ cardiac }: EarlyClip) =>
  cardiac?.status === 'beating' && isRate(cardiac.beatsPerMinute);

const fetalRhythms = (sweeps: readonly EarlySweep[]) =>
  sweeps.flatMap(({ fetal, rhythm }) =>
    fetal && rhythm.status === 'beating' && isRate(rhythm.beatsPerMinute) ? [rhythm] : [],
  );

/**
 * Returns what the clips show within the sac. Only clips with an accepted sac are used. Cardiac
 * activity may also come from an M-mode sweep; if its beats could not be separated, cardiac
 * activity is not assessed. A CRL or heart rate among the `machine` values means that the operator
 * saw an embryo. If the contents of a sac need review, only an accepted value among `measurements`
 * shows an embryo or a yolk sac.
 */
export function earlySight(
  clips: readonly EarlyClip[],
  sweeps: readonly EarlySweep[],
  machine: readonly Measurement[],
  measurements: readonly Measurement[],
): EarlySight {
  const withSac = clips.filter(({ frames }) => frames.some(({ sac }) => sac?.accepted));
  const open = withSac.filter(({ held }) => !held);
  const contents = open.flatMap(({ frames }) => frames.flatMap((frame) => frame.contents ?? []));
  const isMeasured = (key: 'crl' | 'yolk-sac') => acceptedValue(measurements, key) !== null;
  const embryoSeen =
    contents.some(({ embryo }) => embryo !== null) ||
    isMeasured('crl') ||
    judgedValue(machine, 'crl') !== null;
  const yolkSacSeen = contents.some(({ yolkSac }) => yolkSac !== null) || isMeasured('yolk-sac');
  // Without a scale, a sac is outlined but not searched.
  const searched = open.filter(({ frames }) => frames.some((frame) => frame.contents));
  const planes = new Set(searched.flatMap(({ plane }) => plane ?? []));
  const silent = withSac.filter(
    ({ cardiac, frames }) =>
      cardiac?.status === 'not-seen' && frames.some((frame) => frame.contents?.embryo),
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
    yolkSac: yolkSacSeen ? true : searched.length > 0 ? false : null,
    embryo: embryoSeen || beating ? true : planes.size === 2 ? false : null,
    cardiacActivity: beating ? true : silence ? false : null,
    silentSeconds: silence ? Math.max(...times) : null,
  };
}

/**
 * The viability categories that a result may contain. No category states that a criterion
 * diagnostic of loss is met, because the analysis alone may overlook an embryo or its cardiac
 * activity (docs/early-pregnancy.md).
 */
export type JudgedViability = Exclude<ViabilityCategory, 'diagnostic-of-pregnancy-loss'>;

export interface EarlyViability {
  category: JudgedViability;
  /**
   * True if the findings of the analysis meet a criterion diagnostic of loss. A person must confirm
   * this.
   */
  seemsLost: boolean;
  criteria: ClassificationDraft['criteria'];
  /**
   * Categories that result from the lower and upper ends of the lengths' uncertainty intervals;
   * null if they agree. If each of these categories leaves viability in doubt, `category` is
   * `uncertain-viability`; otherwise it is `not-assessable`.
   */
  between: readonly JudgedViability[] | null;
  /** Reasons to doubt that a criterion of loss is really met. */
  doubts: EarlyDoubt[];
  /**
   * Mean sac diameter of a sac without an embryo, if its interval includes the cut-off diagnostic
   * of loss; otherwise null.
   */
  nearMsd: { value: number; cutOff: number } | null;
}

/**
 * Returns the mean sac diameter if its interval includes the diagnostic cut-off; otherwise null.
 * Machines do not report an uncertainty, so a machine value is assumed to have the same as ours.
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

type EarlyValues = Readonly<Record<EarlyLength, number | null>>;

/**
 * Returns all combinations of the lower and upper ends of the length intervals. A value without an
 * uncertainty, such as the machine's, is kept as it is.
 */
function endsOf(measured: (key: EarlyLength) => Measurement | null): EarlyValues[] {
  return EARLY_LENGTHS.reduce<EarlyValues[]>(
    (before, key) => {
      const one = measured(key);
      const ends =
        one === null || one.uncertainty === null
          ? [one?.value ?? null]
          : [one.value - one.uncertainty, one.value + one.uncertainty];
      return before.flatMap((values) => ends.map((value) => ({ ...values, [key]: value })));
    },
    [{ 'mean-sac-diameter': null, 'yolk-sac': null, crl: null }],
  );
}

/** Categories that a person must check. */
export const IN_DOUBT: ReadonlySet<JudgedViability> = new Set([
  'suspicious-for-pregnancy-loss',
  'uncertain-viability',
]);

function viabilityAt(
  values: EarlyValues,
  { embryo, cardiacActivity }: EarlySight,
  dating: EarlyEvidence['options']['dating'],
) {
  const { crl, 'mean-sac-diameter': msd, 'yolk-sac': yolkSac } = values;
  const daysByLmp = dating?.basis === 'lmp' ? dating.ga_days : null;
  const signs = suspiciousSigns({ yolkSac, msd, crl, embryo, daysByLmp });
  const byScan = viability({ crl, msd, embryo, cardiacActivity });
  const anySign = Object.values(signs).some(Boolean);
  const seemsLost = byScan === 'diagnostic-of-pregnancy-loss';
  const held = seemsLost ? 'suspicious-for-pregnancy-loss' : byScan;
  const open = held === 'uncertain-viability' || held === 'not-assessable';
  const category: JudgedViability = open && anySign ? 'suspicious-for-pregnancy-loss' : held;
  return { category, seemsLost, signs };
}

function criteriaOf(
  { transvaginal, embryo, cardiacActivity }: EarlySight,
  { crl, msd, yolkSac }: Record<'crl' | 'msd' | 'yolkSac', number | null>,
  signs: ReturnType<typeof suspiciousSigns>,
): EarlyViability['criteria'] {
  const silent = cardiacActivity === null ? null : !cardiacActivity;
  const empty = embryo === null ? null : !embryo;
  const within = (mm: number | null, from: number, below = Number.POSITIVE_INFINITY) =>
    mm === null ? null : mm >= from && mm < below;
  const heart = say.value('early.crl-and-heart', { crl, heart: seenState(cardiacActivity) });
  const sac = say.value('early.msd-and-embryo', { msd, embryo: seenState(embryo) });
  return [
    criterion('transvaginal images', null, transvaginal || null),
    criterion(
      `CRL at least ${DIAGNOSTIC.crl} mm and no cardiac activity`,
      heart,
      bothHold(silent, within(crl, DIAGNOSTIC.crl)),
    ),
    criterion(
      `MSD at least ${DIAGNOSTIC.msd} mm and no embryo`,
      sac,
      bothHold(empty, within(msd, DIAGNOSTIC.msd)),
    ),
    criterion(
      `CRL below ${DIAGNOSTIC.crl} mm and no cardiac activity`,
      heart,
      bothHold(silent, within(crl, 0, DIAGNOSTIC.crl)),
    ),
    criterion(
      `MSD from ${SUSPICIOUS_MSD} mm and no embryo`,
      sac,
      bothHold(empty, within(msd, SUSPICIOUS_MSD, DIAGNOSTIC.msd)),
    ),
    criterion(
      `yolk sac above ${SUSPICIOUS.yolkSacAbove} mm`,
      yolkSac === null ? null : { of: 'yolk-sac', value: yolkSac },
      signs.largeYolkSac,
    ),
    criterion(
      `MSD less CRL below ${SUSPICIOUS.smallSacBelow} mm`,
      say.value('early.msd-and-crl', { msd, crl }),
      signs.smallSac,
    ),
    criterion(
      'no embryo from 6 weeks after the last menstrual period',
      say.value('early.embryo', { embryo: seenState(embryo) }),
      signs.lateEmbryo,
    ),
  ];
}

/**
 * Returns the viability by SRU's criteria, in their order. A result that would be diagnostic of
 * loss is reported only as suspicious. `measurements` come from `measureEarlyPregnancy`, `dating`
 * from the request.
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
  const at = (values: EarlyValues) => viabilityAt(values, seen, dating);
  const {
    category: point,
    seemsLost,
    signs,
  } = at({
    'mean-sac-diameter': msd,
    'yolk-sac': value('yolk-sac'),
    crl,
  });
  const possible = [...new Set(endsOf(measured).map((values) => at(values).category))];
  const between = possible.length > 1 ? possible : null;
  const undecided = possible.every((one) => IN_DOUBT.has(one))
    ? ('uncertain-viability' as const)
    : ('not-assessable' as const);
  const category = between === null ? point : undecided;
  const silent = crl !== null && cardiacActivity === false;
  const empty = msd !== null && embryo === false;
  return {
    category,
    between,
    seemsLost,
    // The analysis misses the heartbeat of small embryos, and misses a third of all embryos
    // entirely (docs/early-pregnancy.md).
    doubts: [
      ...(silent ? ['silence-unproven' as const] : []),
      ...(empty ? ['emptiness-unproven' as const] : []),
    ],
    nearMsd: empty ? nearCutOff(measured('mean-sac-diameter')) : null,
    criteria: criteriaOf(seen, { crl, msd, yolkSac: value('yolk-sac') }, signs),
  };
}
