import { imageText } from '../../../contract/study.ts';
import { type SentenceTable, statementsOf } from '../../statement.ts';
import type { SentenceContext, ValueTexts } from './shared.ts';
import { allOf, capital, SEVERAL_FETUSES, type SeveralFetusesSource } from './shared.ts';

const PRESENTATION = { cephalic: 'cephalic', breech: 'breech' } as const;
export type Presentation = keyof typeof PRESENTATION;

/** Words for the fetus to which the presenting part belongs if there are several fetuses. */
export const NEAREST_FETUS = 'the fetus nearest the cervix';

/** A heartbeat found elsewhere in the study, although none was seen on the listed clips. */
export type Beat = {
  /** How the rate was measured. For a cine, `image` is the number of the image. */
  by: 'cine' | 'm-mode' | 'doppler';
  image: number | null;
  beatsPerMinute: number;
  /** True if the rate is below the fetal range, so the beat may be the mother's. */
  maternal: boolean;
};

function beatText({ by, image, beatsPerMinute, maternal }: Beat, text: ValueTexts): string {
  const rate = text.quantity('fetal-heart-rate', beatsPerMinute);
  if (by === 'cine') return `it was seen in ${imageText(image)} (${rate})`;
  const name = by === 'm-mode' ? 'M-mode' : 'Doppler';
  const doubt = maternal ? ', which may be the maternal rate' : '';
  return `${name} reads ${rate}${doubt}`;
}

type Silent = { image: number | null; seconds: number };

const CONFIRM = 'confirmation by a second observer is required';

/**
 * Renders the clips without a beat. They are listed by image if there are several, or if other
 * evidence contradicts them (obstetric 12).
 */
function notSeen(silent: readonly Silent[], named: boolean): string {
  const lengthOf = ({ seconds }: Silent) => `${seconds.toFixed(1)} s`;
  const [first, ...others] = silent;
  const clips =
    first && others.length === 0 && !named
      ? `clip of ${lengthOf(first)}`
      : `${others.length > 0 ? 'clips' : 'clip'}, ${allOf(silent.map((one) => `${imageText(one.image)} (${lengthOf(one)})`))}`;
  return `No cardiac activity was seen during the recorded ${clips}`;
}

export const PRESENTATION_SENTENCES = {
  'presentation.presentation': (
    of: {
      presentation: Presentation;
      several: boolean;
      weight: 'no-age' | 'too-early' | null;
      fromDays: number;
    },
    { text }: SentenceContext,
  ) => {
    const name = PRESENTATION[of.presentation];
    const lead = of.several
      ? `${capital(name)} presentation of ${NEAREST_FETUS}.`
      : `Longitudinal lie, ${name} presentation.`;
    if (of.weight === 'no-age') {
      return `${lead} Gestational age was not given, so its clinical relevance was not assessed.`;
    }
    return of.weight === 'too-early'
      ? `${lead} It is variable before ${text.weeks(of.fromDays)} weeks and has no clinical relevance.`
      : lead;
  },
  'presentation.one-fetus': () => 'One fetal head was seen in the swept part of the uterus.',
  'presentation.fetuses': ({ count }: { count: number }) => `At least ${count} fetuses.`,
  'presentation.no-sweep': () =>
    'Presentation, lie and number of fetuses were not assessed: no sweep of the uterus was found; a single frame cannot establish them.',
  'presentation.no-direction': () =>
    'Presentation and lie were not assessed: the direction of the sweep along the mother is unknown.',
  'presentation.sweeps-disagree': () =>
    'Presentation was not assessed: the sweeps contradict each other.',
  'presentation.parts-not-found': () =>
    'Presentation and lie were not assessed: head and trunk were not both found along the sweep.',
  'presentation.other-fetuses': () =>
    'The presentation of the other fetuses, and the lie of each, were not assessed.',
  'presentation.breech': (
    { several, fromDays }: { several: boolean; fromDays: number },
    { text }: SentenceContext,
  ) =>
    `Breech presentation ${several ? `of ${NEAREST_FETUS} ` : ''}at or after ${text.weeks(fromDays)} weeks; the type of breech was not assessed.`,
  'presentation.multiple': ({ count }: { count: number }) =>
    `At least ${count} fetuses, seen in succession on one sweep; chorionicity was not assessed.`,
  'cardiac.not-assessed': () =>
    'No cine of the fetal chest was long and fast enough to show cardiac activity.',
  'cardiac.seen': ({ beatsPerMinute }: { beatsPerMinute: number }, { text }: SentenceContext) =>
    `Cardiac activity seen, ${text.quantity('fetal-heart-rate', beatsPerMinute)}.`,
  'cardiac.not-seen': ({ silent }: { silent: readonly Silent[] }) =>
    `${notSeen(silent, false)}; ${CONFIRM}.`,
  'cardiac.contradictory': (
    of: {
      silent: readonly Silent[];
      beats: readonly Beat[];
      several: SeveralFetusesSource | null;
    },
    { text }: SentenceContext,
  ) => {
    const seen = allOf(of.beats.map((beat) => beatText(beat, text)));
    const fetuses = of.several ? ` ${capital(SEVERAL_FETUSES[of.several])}.` : '';
    return `${notSeen(of.silent, true)}, but ${seen}; ${CONFIRM}.${fetuses}`;
  },
} as const satisfies SentenceTable;

export const say = statementsOf<typeof PRESENTATION_SENTENCES>();
