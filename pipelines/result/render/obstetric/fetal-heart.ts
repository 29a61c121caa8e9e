import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';
import type { SentenceContext, ValueTexts } from './shared.ts';
import { type Nothing, SEVERAL_FETUSES, type SeveralFetusesSource, whose } from './shared.ts';

export const RATE_SOURCE = {
  'm-mode': 'M-mode',
  doppler: 'Doppler',
  cine: 'cine of the chest',
  machine: 'ultrasound machine',
} as const;
export type RateSource = keyof typeof RATE_SOURCE;

const BAND = {
  slow: 'below the range for gestational age',
  'slow-at-any-age': 'slow at any gestational age',
  'fast-at-any-age': 'fast at any gestational age',
  borderline: 'at the lower border of the range for gestational age',
  normal: 'within the range for gestational age',
  fast: 'above the range for gestational age',
  tachycardia: 'above',
} as const;
type Band = keyof typeof BAND;

/** Renders a rate band. `limit` is the tachycardia limit, beats per minute. */
export const bandText = (band: Band, limit: number): string =>
  band === 'tachycardia' ? `${BAND[band]} ${limit} per minute` : BAND[band];

const VIEW = {
  'four-chamber': 'four-chamber view',
  'left-outflow-tract': 'left outflow tract',
  'right-outflow-tract': 'right outflow tract',
  'three-vessel': 'three-vessel view',
  'three-vessel-trachea': 'three-vessel-and-trachea view',
} as const;
type View = keyof typeof VIEW;
const viewList = (views: readonly View[]) => views.map((view) => VIEW[view]).join(', ');

const SIZE = {
  small: 'small for the thorax',
  normal: 'of usual size for the thorax',
  large: 'large for the thorax',
} as const;
type Size = keyof typeof SIZE;

/** Renders a rate with its source; `source` is null if the rate is ours and is the leading one. */
const rateText = (source: RateSource | null, { about: [rate], text }: SentenceContext) =>
  `Fetal heart rate ${rate ? text.value(rate) : ''}${source ? ` (${RATE_SOURCE[source]})` : ''}`;

/**
 * Beats on a sweep. `variation` covers all beats; `alike` counts those similar in length and
 * height.
 */
type Rhythm = {
  variation: number | null;
  alike: { beats: number; seen: number } | null;
  /** Maximum variation at which a rhythm is called regular. */
  regular: number;
};

/**
 * Renders a rhythm. Regularity depends on the variation of all beats, not only of the similar ones.
 */
function rhythmText({ variation, alike, regular }: Rhythm, text: ValueTexts): string {
  if (variation === null) return 'Rhythm was not assessed.';
  const some = alike && alike.beats < alike.seen ? `${alike.beats} of ${alike.seen} beats` : null;
  if (variation <= regular) {
    return some
      ? `The beats on the sweep were regular in length; ${some} were similar in height as well.`
      : 'The beats on the sweep were regular.';
  }
  const counted = some ? ` ${some} were similar.` : '';
  const share = text.rounded(100 * variation, 0, [100 * regular]);
  return `The beats on the sweep differed by ${share} %, more than ${100 * regular} %: rhythm was not confirmed as regular.${counted}`;
}

const ratios = ({ about, text }: SentenceContext) =>
  about.map((one) => `${one.label} ${text.value(one)}${whose(one)}`).join(', ');

const machineSize = (size: Size, value: string) =>
  `By the ultrasound machine value, ${value}, the heart is ${SIZE[size]}: measure by hand.`;

const NO_RANGE = {
  'at-limit': '',
  'no-age': ' (gestational age was not given: no range)',
  'none-known': ' (no range is known for this gestational age)',
} as const;

export const HEART_SENTENCES = {
  'heart.rate': (
    of: {
      source: RateSource | null;
      band: Band | null;
      tachycardia: number;
      /** Reason why there is no band; ignored if there is one. */
      range: keyof typeof NO_RANGE;
    },
    context: SentenceContext,
  ) => {
    const shown = rateText(of.source, context);
    if (of.band) return `${shown}, ${bandText(of.band, of.tachycardia)}.`;
    return `${shown}${NO_RANGE[of.range]}.`;
  },
  'heart.rhythm': (rhythm: Rhythm, { text }: SentenceContext) => rhythmText(rhythm, text),
  'heart.irregular': (rhythm: Rhythm, { text }: SentenceContext) =>
    `${rhythmText(rhythm, text)} Reassess on a longer sweep.`,
  'heart.band': (
    of: {
      source: RateSource | null;
      band: Band;
      tachycardia: number;
      /**
       * Limit below which the rate is slow, if the limit was not verified against its source;
       * otherwise null.
       */
      recalled: number | null;
    },
    context: SentenceContext,
  ) =>
    [
      `${rateText(of.source, context)}, ${bandText(of.band, of.tachycardia)}; confirm over time with M-mode or Doppler.`,
      ...(of.recalled === null
        ? []
        : [
            `The limit of ${of.recalled} per minute at this age was not verified against its source.`,
          ]),
    ].join(' '),
  'heart.sources-differ': (
    of: {
      sources: readonly RateSource[];
      /** Empty if all rates fall into one band. */
      bands: readonly (Band | null)[];
      tachycardia: number;
    },
    { about, text }: SentenceContext,
  ) => {
    const values = about.map((one, index) => {
      const band = of.bands[index];
      const source = of.sources[index];
      const shown = band ? ` (${bandText(band, of.tachycardia)})` : '';
      return `${source ? RATE_SOURCE[source] : ''} ${text.value(one)}${shown}`;
    });
    return `The sources of the fetal heart rate differ: ${values.join(', ')}. Measure it again.`;
  },
  'heart.no-rate': () => 'Fetal heart rate was not measured.',
  'heart.silent-m-mode': () =>
    'An M-mode shows no repeating beat: cardiac activity was not confirmed on it.',
  'heart.short-m-mode': () =>
    'An M-mode sweep is too short to show a slow heartbeat: cardiac activity was not assessed on it.',
  'heart.silent-cine': () => 'No cardiac activity was seen on a cine of the chest.',
  'heart.second-observer': () =>
    'No cardiac activity was seen on the recorded M-mode; confirmation by a second observer is required.',
  'heart.uneven-beats': () =>
    'Fewer than half of the beats on a Doppler spectrum of the fetus are alike: the rhythm is irregular or the trace unreliable.',
  'heart.seen': ({ views }: { views: readonly View[] }) => `Seen: ${viewList(views)}.`,
  'heart.named': ({ views }: { views: readonly View[] }) =>
    `Named by the machine, not verified: ${viewList(views)}.`,
  'heart.chest-only': () =>
    'A section of the chest was seen but not confirmed as a four-chamber view.',
  'heart.no-four-chamber': () => 'Not seen: four-chamber view.',
  'heart.outflow-not-looked-for': ({ views }: { views: readonly View[] }) =>
    `Outflow-tract and three-vessel views are recognised only by the image names from the machine; not named: ${viewList(views)}.`,
  'heart.not-judged': () =>
    'Situs, position, the side of the axis, chambers, septum, valves, veins, flow and outflow tracts were not assessed, nor whether there is an effusion.',
  'heart.nothing-found': ({ cine, mMode }: { cine: boolean; mMode: boolean }) =>
    `The fetal heart was not assessed: no four-chamber, outflow-tract or three-vessel view, no ${cine ? 'sufficiently long and fast cine of the chest' : 'cine of the chest'} and no ${mMode ? 'readable M-mode' : 'M-mode'} was found.`,
  'heart.axis': (_: Nothing, { about: [axis], text }: SentenceContext) =>
    `Cardiac axis ${axis ? text.value(axis) : ''} to the midline.`,
  'heart.no-axis': () => 'The cardiac axis was not measured.',
  'heart.abnormal-axis': (
    { least, most }: { least: number; most: number },
    { about: [axis], text }: SentenceContext,
  ) =>
    `Cardiac axis ${axis ? text.value(axis) : ''} to the midline, outside ${least}° to ${most}°; its side was not assessed.`,
  'heart.ratios': (_: Nothing, context: SentenceContext) => `${ratios(context)}.`,
  /**
   * `about` contains the ratios that are used. `size` is null if it is undetermined because an
   * interval includes a limit. `machine` is the machine's area ratio, stated if it contradicts ours
   * or if the size is undetermined.
   */
  'heart.abnormal-size': (
    { size, machine }: { size: Size | null; machine: { size: Size; value: number } | null },
    context: SentenceContext,
  ) => {
    const judged =
      size === null
        ? 'undetermined, as a cut-off lies within the interval'
        : `the heart is ${SIZE[size]}`;
    const lead = `${ratios(context)}: ${judged}.`;
    return machine
      ? `${lead} ${machineSize(machine.size, context.text.quantity('cardiothoracic-area-ratio', machine.value))}`
      : lead;
  },
  'heart.machine-size': ({ size }: { size: Size }, { about: [ratio], text }: SentenceContext) =>
    machineSize(size, ratio ? text.value(ratio) : ''),
  'heart.no-ratio': ({ reason }: { reason: 'implausible' | 'rejected' | 'no-model' | 'no-view' }) =>
    ({
      implausible:
        'The cardiothoracic ratio was not measured. A cardiothoracic ratio from the ultrasound machine is implausible and was not used.',
      rejected:
        'The cardiothoracic ratio was not measured. The reader rejected that of the ultrasound machine.',
      'no-model':
        'The cardiothoracic ratio was not measured: no permitted model outlines the heart.',
      'no-view':
        'The cardiothoracic ratio was not measured: no four-chamber view that shows the whole thorax was outlined with enough confidence.',
    })[reason],
  'heart.fetus-not-named': ({ source }: { source: SeveralFetusesSource }) =>
    `Cardiac size and axis were not assessed on images that do not name the fetus: ${SEVERAL_FETUSES[source]}.`,
} as const satisfies SentenceTable;

export const say = statementsOf<typeof HEART_SENTENCES>();

export const HEART_REMARKS = {
  'heart.not-known-fetal': () =>
    'no image of the study shows a fetus, and the machine does not label it fetal',
  'heart.beats-not-separable': () => 'its beats could not be separated',
} as const satisfies SentenceTable;

export const remarkOfHeart = remarksOf<typeof HEART_REMARKS>();
