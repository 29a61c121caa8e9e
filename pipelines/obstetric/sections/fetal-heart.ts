import { findingConcept } from '../../result/concepts.ts';
import type { Finding, Measurement, Result } from '../../result/envelope.ts';
import { cardiacSizeOf } from '../cardiac-size.ts';
import { FETAL_RATE, type FetalRateBand, fetalRateBand } from '../charts/fetal-heart.ts';
import { acrossCutOff } from '../cut-off.ts';
import { FETAL_HEART_SECTION, type RateReading, REGULAR, ratesOf } from '../fetal-heart-rate.ts';
import { format, standing as standingValue } from '../measurement.ts';
import { CARDIAC_VIEWS, type CardiacView, type CardiacViewReading } from '../read/fetal-heart.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';
import { SIMULATED_ONLY } from '../simulated-only.ts';

const NEEDS = ['four-chamber plane', 'outflow-tract and three-vessel views', 'a cine or an M-mode'];

const VIEW_TEXT: Readonly<Record<CardiacView, string>> = {
  'four-chamber': 'four-chamber view',
  'left-outflow-tract': 'left outflow tract',
  'right-outflow-tract': 'right outflow tract',
  'three-vessel': 'three-vessel view',
  'three-vessel-trachea': 'three-vessel-and-trachea view',
};

const RATE_TEXT: Readonly<Record<FetalRateBand, string>> = {
  slow: 'below the range for gestational age',
  borderline: 'at the lower border of the range for gestational age',
  normal: 'within the range for gestational age',
  fast: 'above the range for gestational age',
  tachycardia: 'above 180 per minute',
};

/** What a still four-chamber view cannot answer; never "normal heart" (obstetric reference 7.3). */
const NOT_JUDGED =
  'Situs, position, the side of the axis, chambers, septum, valves, veins, flow and outflow tracts were not assessed, nor whether there is an effusion.';

interface ViewState {
  view: CardiacView;
  state: 'seen' | 'named-by-machine' | 'not-seen';
}

/** A view counts as seen by its image; a name alone is the machine's word. */
function viewStates(readings: readonly CardiacViewReading[]): ViewState[] {
  return CARDIAC_VIEWS.map((view) => {
    const own = readings.filter((reading) => reading.view === view);
    if (own.some(({ by }) => by === 'classifier')) return { view, state: 'seen' };
    return { view, state: own.length > 0 ? 'named-by-machine' : 'not-seen' };
  });
}

const listOf = (states: readonly ViewState[], state: ViewState['state']) =>
  states.filter((one) => one.state === state).map(({ view }) => VIEW_TEXT[view]);

function viewSentences(states: readonly ViewState[], chestFrames: number): string[] {
  const seen = listOf(states, 'seen');
  const named = listOf(states, 'named-by-machine');
  const missing = listOf(states, 'not-seen');
  const outflow = missing.filter((view) => view !== VIEW_TEXT['four-chamber']);
  return [
    ...(seen.length > 0 ? [`Seen: ${seen.join(', ')}.`] : []),
    ...(named.length > 0 ? [`Named by the machine, not verified: ${named.join(', ')}.`] : []),
    ...(chestFrames > 0 && !seen.includes(VIEW_TEXT['four-chamber'])
      ? ['A section of the chest was seen; a four-chamber view was not confirmed on it.']
      : []),
    ...(missing.includes(VIEW_TEXT['four-chamber']) ? ['Not seen: four-chamber view.'] : []),
    ...(outflow.length > 0
      ? [
          `Not looked for on the images, since no model knows them, and named by none: ${outflow.join(', ')}.`,
        ]
      : []),
  ];
}

/** The best rate under the plain id, unless an earlier section gave one. */
function withStanding(
  rates: readonly RateReading[],
  earlier: readonly Measurement[],
): { measurements: Measurement[]; standing: RateReading | null } {
  const measurements = rates.map(({ measurement }) => measurement);
  const best = rates.find(({ measurement }) => measurement.quality === 'accepted') ?? null;
  if (!best || earlier.some(({ id }) => id === 'fetal-heart-rate')) {
    return { measurements, standing: best };
  }
  const plain = { ...best.measurement, id: 'fetal-heart-rate' };
  return {
    measurements: measurements.map((one) => (one === best.measurement ? plain : one)),
    standing: { ...best, measurement: plain },
  };
}

function rhythmText(variation: number | null): string {
  if (variation === null) return 'Rhythm was not assessed.';
  return variation <= REGULAR
    ? 'The beats on the sweep were regular.'
    : `The beats on the sweep differed by ${(100 * variation).toFixed(0)} %, more than ${100 * REGULAR} %: rhythm was not confirmed as regular.`;
}

function rhythmFinding({ measurement, variation }: RateReading): Finding[] {
  if (variation === null || variation <= REGULAR) return [];
  return [
    {
      id: 'fetal-heart-rhythm',
      section: FETAL_HEART_SECTION,
      concept: findingConcept('fetal-heart-screen'),
      text: `${rhythmText(variation)} Look at it again on a longer sweep.`,
      severity: 'abnormal',
      confidence: measurement.confidence,
      evidence: [measurement.id],
    },
  ];
}

/** Where the rate is on neither side of a limit for sure; before 14+0 the bands are too many. */
function rateDoubt({ value, uncertainty }: Measurement, gaDays: number): string | null {
  const { fromDays, least, most, tachycardia } = FETAL_RATE;
  if (gaDays < fromDays) return null;
  return acrossCutOff(value, uncertainty, [least, most, tachycardia], '');
}

function rateOutcome(standing: RateReading | null, gaDays: number | null) {
  const none = { sentences: [], findings: [], classifications: [] };
  if (!standing) return none;
  const { measurement, variation } = standing;
  const shown = `Fetal heart rate ${format('fetal-heart-rate', measurement.value)}`;
  const rhythm = rhythmText(variation);
  const irregular = rhythmFinding(standing);
  const band = gaDays === null ? null : fetalRateBand(gaDays, measurement.value);
  if (!band || gaDays === null) {
    const why =
      gaDays === null
        ? 'gestational age was not given: no range'
        : 'no range is known for this gestational age';
    return { ...none, sentences: [`${shown} (${why}).`, rhythm], findings: irregular };
  }
  const doubt = rateDoubt(measurement, gaDays);
  const doubts = doubt ? [doubt] : [];
  const classifications: Result['classifications'] = [
    {
      id: 'fetal-heart-rate-band',
      section: FETAL_HEART_SECTION,
      concept: findingConcept('fetal-heart-rate-band'),
      name: 'Fetal heart rate',
      value: band,
      scheme: 'ISUOG 2023; FMF before 14 weeks',
      criteria: [{ name: RATE_TEXT[band], value: measurement.value.toFixed(0), met: true }],
    },
  ];
  const findings: Finding[] =
    band === 'normal'
      ? []
      : [
          {
            id: 'fetal-heart-rate-band',
            section: FETAL_HEART_SECTION,
            concept: findingConcept('fetal-heart-rate-band'),
            text: [
              `${shown}, ${RATE_TEXT[band]}; confirm over time with M-mode or Doppler.`,
              ...doubts,
            ].join(' '),
            severity: band === 'borderline' ? 'info' : 'abnormal',
            confidence: measurement.confidence,
            evidence: [measurement.id],
          },
        ];
  return {
    sentences: [`${shown}, ${RATE_TEXT[band]}.`, ...doubts, rhythm],
    findings: [...findings, ...irregular],
    classifications,
  };
}

function notAssessed(): SectionOutcome {
  const detail =
    'The fetal heart was not assessed: no four-chamber, outflow-tract or three-vessel view, no cine of the chest and no M-mode was found.';
  return {
    status: 'not_assessed',
    reason: { code: 'view_missing', detail, needs: NEEDS },
    summary: detail,
  };
}

function run(evidence: ObstetricEvidence, earlier: readonly Measurement[]): SectionOutcome {
  const readings = evidence.views.fetalHeart;
  const states = viewStates(readings?.views ?? []);
  const { measurements, standing } = withStanding(ratesOf(evidence), earlier);
  const size = cardiacSizeOf(evidence);
  const chestFrames = readings?.chestFrames ?? 0;
  const anyView = states.some(({ state }) => state !== 'not-seen') || chestFrames > 0;
  if (!anyView && measurements.length === 0 && size.measurements.length === 0) {
    return notAssessed();
  }
  const byCrl = standingValue(earlier, 'ga-by-crl');
  const gaDays = evidence.options.dating?.ga_days ?? (byCrl && Math.round(byCrl.value));
  const rate = rateOutcome(standing, gaDays);
  const missing = [
    ...viewSentences(states, chestFrames),
    ...(standing ? [] : ['Fetal heart rate was not measured.']),
    ...size.missing,
    NOT_JUDGED,
  ];
  return {
    status: 'partial',
    reason: { code: 'not_all_assessed', detail: missing.join(' '), needs: NEEDS },
    summary: [...rate.sentences, ...size.sentences, ...missing].join(' '),
    data: {
      views: Object.fromEntries(states.map(({ view, state }) => [view, state])),
      limitation: SIMULATED_ONLY,
    },
    measurements: [...measurements, ...size.measurements],
    findings: [...rate.findings, ...size.findings],
    classifications: [...rate.classifications, ...size.classifications],
  };
}

/** Views, rate and rhythm of the fetal heart, and its size where known (obstetric reference 7). */
export const fetalHeart: ObstetricSection = {
  id: FETAL_HEART_SECTION,
  title: 'Fetal heart',
  needs: NEEDS,
  reads: ['fetalHeart', 'spectra', 'presentation'],
  run,
};
