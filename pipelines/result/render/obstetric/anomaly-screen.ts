import { type SentenceTable, statementsOf } from '../../statement.ts';
import type { SentenceContext } from './shared.ts';
import { type Nothing, SEVERAL_FETUSES, type SeveralFetusesSource, withSubject } from './shared.ts';

const FINDING = {
  ventriculomegaly: 'ventriculomegaly',
  'mild-ventriculomegaly': 'mild ventriculomegaly',
  'moderate-ventriculomegaly': 'moderate ventriculomegaly',
  'severe-ventriculomegaly': 'severe ventriculomegaly',
  'effaced-cisterna-magna': 'effaced cisterna magna',
  'mega-cisterna-magna': 'mega cisterna magna',
  'thick-nuchal-fold': 'thick nuchal fold',
} as const;
export type Abnormality = keyof typeof FINDING;

export const SIZE_NAMES = {
  'atrial-width': 'Width of the lateral ventricle',
  'cisterna-magna': 'Cisterna magna',
  'nuchal-fold': 'Nuchal fold',
} as const;
type JudgedSize = keyof typeof SIZE_NAMES;

const wordsOf = (finding: Abnormality | null) => (finding ? FINDING[finding] : 'within its limits');

const sizes = ({ about, text }: SentenceContext) =>
  about.map((one) => `${withSubject(one.label, one)} ${text.value(one)}`).join(', ');

const REASON = {
  'no-head': 'the head was not outlined with enough confidence',
  'no-scale': 'no physical scale was available',
  'no-ends': 'its ends were not found with enough confidence',
} as const;

export const SCREEN_SENTENCES = {
  'screen.no-age': () =>
    'The mid-trimester checklist was not assessed: gestational age was not given.',
  'screen.outside-weeks': ({ from, to }: { from: number; to: number }, { text }: SentenceContext) =>
    `The mid-trimester checklist was not assessed: it applies from ${text.weeks(from)} to ${text.weeks(to)} weeks.`,
  'screen.several-fetuses': ({ source }: { source: SeveralFetusesSource }) =>
    `The mid-trimester checklist was not assessed: ${SEVERAL_FETUSES[source]}.`,
  'screen.no-view': () =>
    'The mid-trimester checklist was not assessed: none of its planes was found.',
  'screen.measured-not-judged': (_: Nothing, context: SentenceContext) =>
    `Measured but not interpreted: ${sizes(context)}.`,
  'screen.measured': (_: Nothing, context: SentenceContext) => `Measured: ${sizes(context)}.`,
  'screen.found': ({ found, expected }: { found: number; expected: number }) =>
    `A corresponding plane or value was found for ${found} of ${expected} checklist items.`,
  'screen.not-judged': ({ sized }: { sized: boolean }) =>
    sized
      ? 'Apart from the sizes given, whether the structures appear normal was not assessed.'
      : 'Whether the structures appear normal was not assessed.',
  'screen.not-examined': ({ items }: { items: readonly string[] }) =>
    `Not examined: ${items.join(', ')}.`,
  'screen.abnormal': (
    { key, finding, unnamed }: { key: JudgedSize; finding: Abnormality; unnamed: boolean },
    { about: [size], text }: SentenceContext,
  ) => {
    if (!size) return '';
    const by =
      size.origin === 'machine' ? 'value from the ultrasound machine' : 'measured on the image';
    const fetus = unnamed ? '; which fetus it belongs to is unknown' : '';
    return `${withSubject(SIZE_NAMES[key], size)} ${text.value(size)}: ${FINDING[finding]} (${by}${fetus}).`;
  },
  /**
   * `about` contains our value, followed by the machine values; `findings` is in the same order.
   */
  'screen.contradiction': (
    { key, findings }: { key: JudgedSize; findings: readonly (Abnormality | null)[] },
    { about, text }: SentenceContext,
  ) => {
    const values = about.map((one, index) => {
      const by = index === 0 ? 'as measured here' : withSubject('by the ultrasound machine', one);
      return `${text.value(one)} ${by} (${wordsOf(findings[index] ?? null)})`;
    });
    return `${SIZE_NAMES[key]} ${values.join(', ')}: measure by hand.`;
  },
  'screen.no-brain-model': () =>
    'Brain structures were not measured: no permitted model locates them.',
  'screen.not-measured': (
    { key, reason }: { key: string; reason: keyof typeof REASON },
    { text }: SentenceContext,
  ) => `${text.label(key)} was not measured: ${REASON[reason]}.`,
} as const satisfies SentenceTable;

export const say = statementsOf<typeof SCREEN_SENTENCES>();
