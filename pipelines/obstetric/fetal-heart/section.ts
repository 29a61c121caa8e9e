import type { Measurement } from '../../result/envelope.ts';
import { acceptedValue as standingValue } from '../../result/render/number-text.ts';
import { notAssessed } from '../../result/section-outcome.ts';
import { MACHINE_UNUSED } from '../shared/machine-values.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import { SIMULATED_ONLY } from '../shared/simulated-only.ts';
import type { FetalHeartEvidence } from './evidence.ts';
import { CARDIAC_VIEWS, type CardiacView, type CardiacViewReading } from './evidence.ts';
import { judgeRates, silentSweeps } from './judge-rate.ts';
import { cardiacSizeOf } from './judge-size.ts';
import { FETAL_HEART_SECTION, rateGroups, unevenBeats } from './measure-rate.ts';

const NEEDS = ['four-chamber plane', 'outflow-tract and three-vessel views', 'a cine or an M-mode'];

const VIEW_TEXT: Readonly<Record<CardiacView, string>> = {
  'four-chamber': 'four-chamber view',
  'left-outflow-tract': 'left outflow tract',
  'right-outflow-tract': 'right outflow tract',
  'three-vessel': 'three-vessel view',
  'three-vessel-trachea': 'three-vessel-and-trachea view',
};

/** What a still four-chamber view cannot answer; never "normal heart" (obstetric 7.3). */
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

function nothingFound({ views }: FetalHeartEvidence, unused: readonly string[]): SectionOutcome {
  const cines = views.presentation?.cardiac ?? [];
  const sweeps = views.fetalHeart?.mMode ?? [];
  const cine =
    cines.length > 0 ? 'cine of the chest that is long and quick enough' : 'cine of the chest';
  const sweep = sweeps.length > 0 ? 'M-mode that could be read' : 'M-mode';
  const detail = `The fetal heart was not assessed: no four-chamber, outflow-tract or three-vessel view, no ${cine} and no ${sweep} was found.`;
  return notAssessed('view_missing', [detail, ...unused].join(' '), NEEDS);
}

function run(evidence: FetalHeartEvidence, earlier: readonly Measurement[]): SectionOutcome {
  const readings = evidence.views.fetalHeart;
  const states = viewStates(readings?.views ?? []);
  const groups = rateGroups(evidence, earlier);
  const silence = silentSweeps(evidence, groups);
  const uneven = unevenBeats(evidence.views.spectra ?? []);
  const size = cardiacSizeOf(evidence);
  const chestFrames = readings?.chestFrames ?? 0;
  const anyView = states.some(({ state }) => state !== 'not-seen') || chestFrames > 0;
  const measured = groups.some(({ rates }) => rates.length > 0) || size.measurements.length > 0;
  if (!anyView && !measured && silence.sentences.length + uneven.length === 0) {
    return nothingFound(
      evidence,
      size.missing.filter((one) => one === MACHINE_UNUSED),
    );
  }
  const byCrl = standingValue(earlier, 'ga-by-crl');
  const gaDays = evidence.options.dating?.ga_days ?? (byCrl && Math.round(byCrl.value));
  const rate = judgeRates(groups, gaDays);
  const missing = [
    ...viewSentences(states, chestFrames),
    ...(rate.known ? [] : ['Fetal heart rate was not measured.']),
    ...silence.sentences,
    ...uneven,
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
    measurements: [...rate.measurements, ...size.measurements],
    findings: [...rate.findings, ...silence.findings, ...size.findings],
    classifications: [...rate.classifications, ...size.classifications],
  };
}

/** Views, rate and rhythm of the fetal heart, and its size where known (obstetric 7). */
export const fetalHeart: ObstetricSection<FetalHeartEvidence> = {
  id: FETAL_HEART_SECTION,
  title: 'Fetal heart',
  needs: NEEDS,
  reads: ['fetalHeart', 'spectra', 'presentation'],
  run,
};
