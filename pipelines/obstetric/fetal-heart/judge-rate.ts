import { findingConcept } from '../../concepts/concepts.ts';
import { fetusKey, fetusOf } from '../../contract/fetus-name.ts';
import { fixedOffCutOffs } from '../../measure/rounding.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { acrossCutOff } from '../../result/obstetric/limits.ts';
import { formatValue, numberText } from '../../result/render/number-text.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import { withMachineValues } from '../shared/machine-values.ts';
import { keyedByFetus, ofFetusText } from '../shared/several-fetuses.ts';
import type { RateEvidence } from './evidence.ts';
import { FETAL_RATE, type FetalRateBand, fetalRateBand, rateBandsAt } from './guideline.ts';
import { FETAL_HEART_SECTION, type RateGroup, type RateReading, REGULAR } from './measure-rate.ts';

const KEY = 'fetal-heart-rate';

const RATE_TEXT: Readonly<Record<FetalRateBand, string>> = {
  slow: 'below the range for gestational age',
  borderline: 'at the lower border of the range for gestational age',
  normal: 'within the range for gestational age',
  fast: 'above the range for gestational age',
  tachycardia: `above ${FETAL_RATE.tachycardia} per minute`,
};

const GRAVEST_FIRST: readonly FetalRateBand[] = [
  'slow',
  'tachycardia',
  'fast',
  'borderline',
  'normal',
];

/** The limit of a slow rate at an age where it was not verified against its source; null elsewhere. */
function recalledLimit(gaDays: number): string | null {
  const bands = rateBandsAt(gaDays);
  return bands?.recalled ? `limit of ${bands.slowBelow} per minute` : null;
}

/** Who set the bands of an age. */
function schemeAt(gaDays: number): string {
  const source = rateBandsAt(gaDays)?.source ?? FETAL_RATE.source;
  const limit = recalledLimit(gaDays);
  return limit ? `${source}; its ${limit} is recalled, not verified` : source;
}

/** What must be said of the bands of an age beside a rate that lies outside of them. */
export function bandsRemark(gaDays: number): string | null {
  const limit = recalledLimit(gaDays);
  return limit && `The ${limit} at this age was not verified against its source.`;
}

interface Judged extends RateReading {
  band: FetalRateBand | null;
}

export interface RateOutcome {
  measurements: Measurement[];
  sentences: string[];
  findings: FindingDraft[];
  classifications: Result['classifications'];
  /** A rate that was accepted. */
  known: boolean;
}

/** A rate in whole beats, but in its band: 109.7 is no "110, below". */
const rateText = ({ value }: Measurement) => formatValue(KEY, value);

const isOfMachine = ({ source }: RateReading) => source === 'ultrasound machine';

const variationText = (variation: number) =>
  `${fixedOffCutOffs(100 * variation, 0, [100 * REGULAR])} %`;

/** Of all beats seen: those that differ are not left out before the rest is called regular. */
function rhythmText({ variation, alike }: Pick<RateReading, 'variation' | 'alike'>): string {
  if (variation === null) return 'Rhythm was not assessed.';
  const some = alike && alike.beats < alike.seen ? `${alike.beats} of ${alike.seen} beats` : null;
  if (variation <= REGULAR) {
    return some
      ? `The beats on the sweep were regular in length; ${some} were alike in height too.`
      : 'The beats on the sweep were regular.';
  }
  const counted = some ? ` ${some} were alike.` : '';
  return `The beats on the sweep differed by ${variationText(variation)}, more than ${100 * REGULAR} %: rhythm was not confirmed as regular.${counted}`;
}

const isIrregular = ({ variation }: RateReading) => variation !== null && variation > REGULAR;

/** The sweep that is said to be irregular, else the best that tells of the rhythm. */
const rhythmOf = (judged: readonly Judged[]) =>
  judged.find(isIrregular) ?? judged.find(({ variation }) => variation !== null) ?? judged[0];

function rhythmFindings(judged: readonly Judged[]): FindingDraft[] {
  const irregular = judged.find(isIrregular);
  if (!irregular) return [];
  return [
    {
      id: 'fetal-heart-rhythm',
      section: FETAL_HEART_SECTION,
      concept: findingConcept('fetal-heart-screen'),
      text: `${rhythmText(irregular)} Look at it again on a longer sweep.`,
      severity: 'abnormal',
      confidence: irregular.measurement.confidence,
      evidence: [irregular.measurement.id],
    },
  ];
}

/** Where the rate is on neither side of a limit for sure; before 14+0 the bands are too many. */
function rateDoubt({ value, uncertainty }: Measurement, gaDays: number): string | null {
  const { fromDays, least, most, tachycardia } = FETAL_RATE;
  if (gaDays < fromDays) return null;
  return acrossCutOff(value, uncertainty, [least, most, tachycardia], '');
}

/** `Fetal heart rate 75 /min (Doppler)`; the source where it is not the one that stands, or the machine. */
function shownText(one: Judged, standing: Judged): string {
  const source = one !== standing || isOfMachine(one) ? ` (${one.source})` : '';
  return `Fetal heart rate ${rateText(one.measurement)}${source}`;
}

const worstOf = (judged: readonly Judged[]) =>
  GRAVEST_FIRST.flatMap((band) => judged.find((one) => one.band === band) ?? [])[0] ?? null;

function bandFindings(judged: readonly Judged[], standing: Judged, gaDays: number): FindingDraft[] {
  const worst = worstOf(judged);
  if (!worst?.band || worst.band === 'normal') return [];
  const { measurement, band } = worst;
  const more = [rateDoubt(measurement, gaDays), bandsRemark(gaDays)];
  return [
    {
      id: 'fetal-heart-rate-band',
      section: FETAL_HEART_SECTION,
      concept: findingConcept('fetal-heart-rate-band'),
      text: [
        `${shownText(worst, standing)}, ${RATE_TEXT[band]}; confirm over time with M-mode or Doppler.`,
        ...more.filter((one) => one !== null),
      ].join(' '),
      severity: band === 'borderline' ? 'info' : 'abnormal',
      confidence: measurement.confidence,
      evidence: [measurement.id],
    },
  ];
}

function apart(one: Judged, other: Judged): boolean {
  const [a, b] = [one.measurement, other.measurement];
  return Math.abs(a.value - b.value) > (a.uncertainty ?? 0) + (b.uncertainty ?? 0);
}

/**
 * That the sources tell different rates. A heart changes its rate within minutes: it is abnormal only
 * where the bands differ too.
 */
function sourceFindings(judged: readonly Judged[]): FindingDraft[] {
  const [first] = judged;
  if (!first) return [];
  const bands = new Set(judged.map(({ band }) => band)).size > 1;
  const beyond = judged.some((one) => judged.some((other) => apart(one, other)));
  if (!bands && !beyond) return [];
  const said = judged.map((one) => {
    const band = bands && one.band ? ` (${RATE_TEXT[one.band]})` : '';
    return `${one.source} ${rateText(one.measurement)}${band}`;
  });
  return [
    {
      id: 'fetal-heart-rate-sources',
      section: FETAL_HEART_SECTION,
      concept: findingConcept('fetal-heart-rate-band'),
      text: `The sources of the fetal heart rate differ: ${said.join(', ')}. Measure it again.`,
      severity: bands && beyond ? 'abnormal' : 'info',
      confidence: null,
      evidence: judged.map(({ measurement }) => measurement.id),
    },
  ];
}

function bandClassification(judged: readonly Judged[], gaDays: number): Result['classifications'] {
  const worst = worstOf(judged);
  if (!worst?.band) return [];
  return [
    {
      id: 'fetal-heart-rate-band',
      section: FETAL_HEART_SECTION,
      concept: findingConcept('fetal-heart-rate-band'),
      name: 'Fetal heart rate',
      value: worst.band,
      scheme: schemeAt(gaDays),
      criteria: judged.flatMap(({ band, source, measurement }) =>
        band
          ? [
              {
                name: judged.length > 1 ? `${source}: ${RATE_TEXT[band]}` : RATE_TEXT[band],
                value: numberText(measurement),
                met: band === worst.band,
              },
            ]
          : [],
      ),
    },
  ];
}

function rateSentences(judged: readonly Judged[], standing: Judged, gaDays: number | null) {
  const shown = shownText(standing, standing);
  const rhythm = rhythmText(rhythmOf(judged) ?? standing);
  if (standing.band && gaDays !== null) {
    const doubt = rateDoubt(standing.measurement, gaDays);
    return [`${shown}, ${RATE_TEXT[standing.band]}.`, ...(doubt ? [doubt] : []), rhythm];
  }
  const why =
    gaDays === null
      ? 'gestational age was not given: no range'
      : 'no range is known for this gestational age';
  return [`${shown} (${why}).`, rhythm];
}

/** What an earlier section listed is not listed again. */
const isListed = ({ measurement }: RateReading) => measurement.section !== FETAL_HEART_SECTION;

/** The best rate under the plain id; the machine's beside it, or in its place where there is none. */
function withStanding(rates: readonly RateReading[]): RateReading[] {
  const ours = rates.filter((one) => !isOfMachine(one));
  const best = ours.find(({ measurement }) => measurement.quality === 'accepted');
  const named = ours.map((one) =>
    one === best ? { ...one, measurement: { ...one.measurement, id: KEY } } : one,
  );
  const accepted = best ? named.map(({ measurement }) => measurement) : [];
  const machine = rates.filter(isOfMachine).map((one, index): RateReading => {
    // Of several of the machine each is judged: none stands for the others.
    if (isListed(one) || (!best && index > 0)) return one;
    const value = withMachineValues([one.measurement], accepted).at(-1);
    return { ...one, measurement: value ?? one.measurement };
  });
  return [...named, ...machine];
}

/** What the rates of one fetus say; every accepted one is judged. */
function judgeGroup(
  { rates, fetus, several }: RateGroup,
  gaDays: number | null,
  number: number,
): RateOutcome {
  const nameless = several && fetus === null;
  const given = nameless ? rates : withStanding(rates);
  const measurements = given.filter((one) => !isListed(one)).map(({ measurement }) => measurement);
  const judged = given
    .filter(({ measurement }) => measurement.quality === 'accepted')
    .map((one) => ({
      ...one,
      band: gaDays === null ? null : fetalRateBand(gaDays, one.measurement.value),
    }));
  const [standing] = judged;
  const none = { measurements, sentences: [], findings: [], classifications: [], known: false };
  if (!standing) return none;
  const sentences = rateSentences(judged, standing, gaDays);
  const own = {
    measurements,
    findings: [
      ...(gaDays === null ? [] : bandFindings(judged, standing, gaDays)),
      ...sourceFindings(judged),
      ...rhythmFindings(judged),
    ],
    classifications: gaDays === null ? [] : bandClassification(judged, gaDays),
  };
  if (fetus !== null) {
    const said = sentences.map((text) => ofFetusText(text, fetus));
    return { ...keyedByFetus(own, fetus), sentences: said, known: true };
  }
  if (!nameless) return { ...own, sentences, known: true };
  const say = (text: string) => `A fetus that is not named: ${text}`;
  return {
    measurements,
    sentences: sentences.map(say),
    findings: own.findings.map((one) => ({
      ...one,
      id: `${one.id}-unnamed-${number}`,
      text: say(one.text ?? ''),
    })),
    classifications: [],
    known: true,
  };
}

/** What all rates say, of each fetus by itself. */
export function judgeRates(groups: readonly RateGroup[], gaDays: number | null): RateOutcome {
  const all = groups.map((group, index) => judgeGroup(group, gaDays, index + 1));
  return {
    measurements: all.flatMap(({ measurements }) => measurements),
    sentences: all.flatMap(({ sentences }) => sentences),
    findings: all.flatMap(({ findings }) => findings),
    classifications: all.flatMap(({ classifications }) => classifications),
    known: all.some(({ known }) => known),
  };
}

const SILENT = 'An M-mode shows no beat that repeats: cardiac activity was not confirmed on it.';

/** As of a silent cine (obstetric 12): neutral, and a second observer is required. */
const SECOND_OBSERVER =
  'No cardiac activity was seen on the recorded M-mode; confirmation by a second observer is required.';

/** Presentation tells it as a finding, with the length of the clip. */
const SILENT_CINE = 'No cardiac activity was seen on a cine of the chest.';

/** A slower one may be the rate of the mother. */
const isFetalBeat = ({ measurement, source }: RateReading) =>
  measurement.quality === 'accepted' &&
  source !== 'ultrasound machine' &&
  measurement.value >= FETAL_RATE.least;

/** Whether the heart of the fetus of a sweep was seen to beat on another image. */
function beatsElsewhere(groups: readonly RateGroup[], fetus: string | null): boolean {
  return groups.some(
    (group) =>
      group.rates.some(isFetalBeat) &&
      (!group.several ||
        (fetus !== null && group.fetus !== null && fetusKey(group.fetus) === fetusKey(fetus))),
  );
}

/**
 * Sweeps of a fetus on which nothing repeats at the rate of a heart. The line may have missed the heart:
 * where it beats on another image of the same fetus, nothing is found.
 */
export function silentSweeps(
  { study, views }: RateEvidence,
  groups: readonly RateGroup[],
): { sentences: string[]; findings: FindingDraft[] } {
  const silent = (views.fetalHeart?.mMode ?? []).filter(
    ({ fetal, rhythm }) => fetal && rhythm.status === 'not-seen',
  );
  const cines = views.presentation?.cardiac ?? [];
  const unproven = silent.filter(({ file }) => {
    const clip = study.clips.find((one) => one.file === file);
    return !beatsElsewhere(groups, clip ? fetusOf(clip) : null);
  });
  const finding: FindingDraft = {
    id: 'cardiac-activity',
    section: FETAL_HEART_SECTION,
    concept: findingConcept('cardiac-activity'),
    text: SECOND_OBSERVER,
    severity: 'critical',
    confidence: null,
    evidence: [],
  };
  return {
    sentences: [
      ...(silent.length > 0 ? [SILENT] : []),
      ...(cines.some(({ activity }) => activity.status === 'not-seen') ? [SILENT_CINE] : []),
    ],
    findings: unproven.length > 0 ? [finding] : [],
  };
}
