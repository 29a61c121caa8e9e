import type { Measurement } from '../../envelope.ts';
import { isOfMachine } from '../../measured.ts';
import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';
import type { SentenceContext, ValueTexts } from './shared.ts';
import {
  acrossText,
  capital,
  inSentence,
  type Nothing,
  SEVERAL_FETUSES,
  type SeveralFetusesSource,
  whose,
} from './shared.ts';

const CATEGORY = {
  'suspicious-for-pregnancy-loss':
    'concerning for early pregnancy loss, not diagnostic; pregnancy of uncertain viability',
  'uncertain-viability': 'pregnancy of uncertain viability',
  'embryo-with-cardiac-activity': 'embryo with cardiac activity',
  'not-assessable': 'viability not assessable from these images',
} as const;
type Category = keyof typeof CATEGORY;

/** Reasons to doubt that a criterion of loss is really met. */
const DOUBT = {
  'silence-unproven':
    'Clip analysis misses the beats of small hearts: it cannot establish that cardiac activity is absent.',
  'emptiness-unproven':
    'Image analysis misses embryos: it cannot establish that a sac is empty. A person must look.',
} as const;
export type EarlyDoubt = keyof typeof DOUBT;

/**
 * Text for an echo-free region without yolk sac and embryo, which need not be a gestational sac.
 */
const UNPROVEN_SAC =
  'Neither yolk sac nor embryo was seen in the outlined echo-free area: whether it is an intrauterine gestational sac rather than a bladder or a cyst was not assessed.';

const valueText = (one: Measurement, text: ValueTexts) =>
  `${one.label} ${text.value(one)}${whose(one)}`;

/** Mean sac diameter if its interval includes the cut-off diagnostic of loss; otherwise null. */
type NearMsd = { value: number; cutOff: number } | null;
const nearMsd = (near: NearMsd, text: ValueTexts) =>
  near
    ? [
        `${text.label('mean-sac-diameter')} ${text.quantity('mean-sac-diameter', near.value)}. ${acrossText(text, near.cutOff)}`,
      ]
    : [];

const CINE_GAP = {
  'no-long-clip':
    'Cardiac activity was not assessed: no clip of the embryo was long and fast enough.',
  still: 'Cardiac activity was not assessed: a still image cannot show it.',
  'needs-review': 'Cardiac activity was not assessed: what the clip shows needs review.',
} as const;
type CineGap = keyof typeof CINE_GAP;

const HEART = { seen: 'seen', 'not-seen': 'not seen in the clip', 'not-assessed': 'not assessed' };
const EMBRYO = {
  seen: 'embryo seen',
  'not-seen': 'no embryo seen',
  'not-assessed': 'embryo not assessed',
};
const crlText = (crl: number | null, text: ValueTexts) =>
  crl === null ? 'CRL not measured' : `CRL ${text.quantity('crl', crl)}`;
const msdText = (msd: number | null, text: ValueTexts) =>
  msd === null ? 'MSD not measured' : `MSD ${text.quantity('mean-sac-diameter', msd)}`;

const ACTIVITY_SEEN = 'cardiac activity seen,';

export const EARLY_SENTENCES = {
  'early.found': (
    of: {
      sac: boolean;
      /** Size of a yolk sac outside the usual range; null if the size is usual or unknown. */
      yolkSac: { band: 'small' | 'large'; from: number; to: number } | null;
      /** True if cardiac activity was seen on an M-mode sweep but no rate was measured. */
      onMMode: boolean;
      noEmbryo: boolean;
      category: Category;
    },
    { about, text }: SentenceContext,
  ) => {
    const onMMode = of.onMMode ? ['cardiac activity seen on M-mode'] : [];
    const parts = about.flatMap((one) => {
      const { key } = one.concept;
      if (key === 'fetal-heart-rate') {
        // The category at the beginning already states the activity.
        const seen = of.category === 'embryo-with-cardiac-activity' ? 'heart rate' : ACTIVITY_SEEN;
        return `${seen} ${text.value(one)}${whose(one)}`;
      }
      if (key === 'ga-by-crl') {
        return [...onMMode.splice(0), `gestational age by CRL ${text.weeks(one.value)} weeks`];
      }
      if (key !== 'yolk-sac' || !of.yolkSac) return inSentence(valueText(one, text));
      const { band, from, to } = of.yolkSac;
      return `${inSentence(one.label)} ${text.value(one)} (${band}; usual ${from} to ${to} mm)${whose(one)}`;
    });
    return `${[
      capital(CATEGORY[of.category]),
      ...(of.sac ? ['gestational sac seen'] : []),
      ...(!of.sac && about.some(isOfMachine) ? ['values of the ultrasound machine'] : []),
      ...parts,
      ...onMMode,
      ...(of.noEmbryo ? ['no embryo seen in either plane'] : []),
    ].join('; ')}.`;
  },
  'early.at-cut-off': (
    { between }: { between: readonly Category[] },
    { about, text }: SentenceContext,
  ) =>
    `${about.map((one) => valueText(one, text)).join(', ')}, at a cut-off: ${between.map((one) => CATEGORY[one]).join(', or ')}; measure by hand.`,
  'early.doubt': (
    { doubts, msd }: { doubts: readonly EarlyDoubt[]; msd: NearMsd },
    { text }: SentenceContext,
  ) => [...doubts.map((one) => DOUBT[one]), ...nearMsd(msd, text)].join(' '),
  'early.viability': (
    of: {
      category: Category;
      silentSeconds: number | null;
      unprovenSac: boolean;
      doubts: readonly EarlyDoubt[];
      msd: NearMsd;
    },
    { about, text }: SentenceContext,
  ) => {
    const values = about.map((one) => valueText(one, text));
    return [
      `${[capital(CATEGORY[of.category]), ...values].join('; ')}.`,
      ...(of.silentSeconds === null
        ? []
        : [
            `No cardiac activity was seen during the recorded clip of ${of.silentSeconds.toFixed(1)} s; confirmation by a second observer is required.`,
          ]),
      ...(of.unprovenSac ? [UNPROVEN_SAC] : []),
      ...of.doubts.map((one) => DOUBT[one]),
      ...nearMsd(of.msd, text),
    ].join(' ');
  },
  /**
   * `about` contains the rate and the age by CRL, if it is known; otherwise `stated` is the stated age
   * in days, if any.
   */
  'early.heart-rate': (
    of: { bands: readonly string[]; recalled: number | null; stated?: number | null },
    { about: [rate, age], text }: SentenceContext,
  ) => {
    if (!rate) return '';
    const stated = of.stated ?? null;
    const at = age
      ? `${text.weeks(age.value)} weeks by CRL`
      : stated === null
        ? 'any age'
        : `${text.weeks(stated)} weeks`;
    const remark =
      of.recalled === null
        ? ''
        : ` The limit of ${of.recalled} per minute at this age was not verified against its source.`;
    return `Embryonic heart rate ${text.value(rate)}${whose(rate)}: ${of.bands.join(' or ')} at ${at}.${remark}`;
  },
  'early.age-by-crl': (
    of: { apart: number; stated: number; limit: number },
    { about: [age], text }: SentenceContext,
  ) =>
    `Age by CRL ${age ? text.weeks(age.value) : ''} weeks, ${of.apart} days from the ${text.weeks(of.stated)} weeks by last menstrual period: beyond ${of.limit} days dating by ultrasound is advised (ACOG Committee Opinion 700). The age given was kept.`,
  /** `about` contains the machine value, followed by ours. */
  'early.values-differ': (_: Nothing, { about: [machine, own], text }: SentenceContext) =>
    machine && own
      ? `${own.label} ${text.value(machine)} by the ultrasound machine, ${text.value(own)} as measured here: measure by hand.`
      : '',
  'early.several-sacs': () =>
    'More than one gestational sac may be present: which value belongs to which sac was not determined, and nothing was measured.',
  'early.sac-unclear': () =>
    'Early pregnancy was not assessed: more than one echo-free area may be the sac, and neither a yolk sac nor an embryo shows which it is.',
  'early.no-sac': () =>
    'Early pregnancy was not assessed: no gestational sac could be outlined with confidence; this does not mean that there is none.',
  'early.no-view': () =>
    'Early pregnancy was not assessed: no view of a gestational sac was found.',
  'early.no-scale': () =>
    'A gestational sac was seen but not measured: no physical scale was available.',
  'early.apart': ({ source }: { source: SeveralFetusesSource }) =>
    `Each embryo length is reported separately, without an age or a category: ${SEVERAL_FETUSES[source]}.`,
  'early.sac-not-found': () => 'No gestational sac was found on the images.',
  'early.no-msd': ({ contradict }: { contradict: boolean }) =>
    `Mean sac diameter could not be computed${contradict ? ', because the images of the two planes disagree on the height of the sac' : ''}; viability criteria based on MSD were not applied.`,
  'early.crl-outside': (
    { from, to }: { from: number; to: number },
    { about: [crl], text }: SentenceContext,
  ) =>
    `CRL ${crl ? text.value(crl) : ''} is outside the ${from} to ${to} mm range for age by CRL: no age was given.`,
  'early.two-planes': () => 'An embryo outside the two planes of the sac would not be seen.',
  'early.history': () =>
    'Criteria that depend on an earlier scan, and the empty amnion sign, were not assessed.',
  'early.route': () =>
    'The images are not known to be transvaginal; the criteria for pregnancy loss apply to transvaginal images.',
  'early.location': () =>
    'Whether the sac lies within the uterus was not assessed; the criteria apply to an intrauterine sac.',
  'early.no-cine': ({ reason }: { reason: CineGap }) => CINE_GAP[reason],
  'early.crl-and-heart': (
    { crl, heart }: { crl: number | null; heart: keyof typeof HEART },
    { text }: SentenceContext,
  ) => `${crlText(crl, text)}, cardiac activity ${HEART[heart]}`,
  'early.msd-and-embryo': (
    { msd, embryo }: { msd: number | null; embryo: keyof typeof EMBRYO },
    { text }: SentenceContext,
  ) => `${msdText(msd, text)}, ${EMBRYO[embryo]}`,
  'early.msd-and-crl': (
    { msd, crl }: { msd: number | null; crl: number | null },
    { text }: SentenceContext,
  ) => `${msdText(msd, text)}, ${crlText(crl, text)}`,
  'early.embryo': ({ embryo }: { embryo: keyof typeof EMBRYO }) => EMBRYO[embryo],
  'early.advice-repeat': ({ days, secondOpinion }: { days: number; secondOpinion: boolean }) => {
    const scan = `a repeat scan after at least ${days} days`;
    return secondOpinion
      ? `Consider a second opinion and ${scan} per local protocol before any diagnosis.`
      : `Consider ${scan} per local protocol.`;
  },
} as const satisfies SentenceTable;

export const say = statementsOf<typeof EARLY_SENTENCES>();

export const EARLY_REMARKS = {
  'early.crl-of-machine': () => 'from the CRL of the ultrasound machine',
  'early.crl-contradicted': () =>
    'contradicted by another length of the embryo, by more than the uncertainty of both',
  'early.low-precision': () =>
    'low precision: never used to set the due date once a crown-rump length is available',
} as const satisfies SentenceTable;

export const remarkOfEarly = remarksOf<typeof EARLY_REMARKS>();
