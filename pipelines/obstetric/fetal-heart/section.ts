import type { Measurement } from '../../result/envelope.ts';
import { say } from '../../result/render/obstetric/fetal-heart.ts';
import { SIMULATED_ONLY } from '../../result/render/obstetric/shared.ts';
import { notAssessed } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { acceptedValue } from '../shared/measurement.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import type { FetalHeartEvidence } from './evidence.ts';
import { CARDIAC_VIEWS, type CardiacView, type CardiacViewReading } from './evidence.ts';
import { judgeRates, shortSweeps, silentSweeps } from './judge-rate.ts';
import { FETAL_HEART_SECTION, rateGroups, unevenBeats } from './measure-rate.ts';
import { cardiacSizeOf, MACHINE_OF_SEVERAL } from './measure-size-and-axis.ts';

const NEEDS = ['four-chamber plane', 'outflow-tract and three-vessel views', 'a cine or an M-mode'];

interface ViewState {
  view: CardiacView;
  state: 'seen' | 'named-by-machine' | 'not-seen';
}

/**
 * Returns the state of each view. A view counts as seen only if the image shows it; a label alone
 * is only the machine's claim.
 */
function viewStates(readings: readonly CardiacViewReading[]): ViewState[] {
  return CARDIAC_VIEWS.map((view) => {
    const own = readings.filter((reading) => reading.view === view);
    if (own.some(({ by }) => by === 'classifier')) return { view, state: 'seen' };
    return { view, state: own.length > 0 ? 'named-by-machine' : 'not-seen' };
  });
}

const viewsIn = (states: readonly ViewState[], state: ViewState['state']) =>
  states.filter((one) => one.state === state).map(({ view }) => view);

function viewStatements(states: readonly ViewState[], chestFrames: number): Statement[] {
  const seen = viewsIn(states, 'seen');
  const named = viewsIn(states, 'named-by-machine');
  const missing = viewsIn(states, 'not-seen');
  const outflow = missing.filter((view) => view !== 'four-chamber');
  return [
    ...(seen.length > 0 ? [say.conclusion('heart.seen', { views: seen })] : []),
    ...(named.length > 0 ? [say.gap('heart.named', { views: named })] : []),
    ...(chestFrames > 0 && !seen.includes('four-chamber') ? [say.gap('heart.chest-only', {})] : []),
    ...(missing.includes('four-chamber') ? [say.gap('heart.no-four-chamber', {})] : []),
    ...(outflow.length > 0 ? [say.gap('heart.outflow-not-looked-for', { views: outflow })] : []),
  ];
}

function nothingFound({ views }: FetalHeartEvidence, unused: readonly Statement[]): SectionOutcome {
  const cine = (views.presentation?.cardiac ?? []).length > 0;
  const mMode = (views.fetalHeart?.mMode ?? []).length > 0;
  const gaps = [say.gap('heart.nothing-found', { cine, mMode }), ...unused];
  return notAssessed('view_missing', gaps, NEEDS);
}

function run(evidence: FetalHeartEvidence, earlier: readonly Measurement[]): SectionOutcome {
  const readings = evidence.views.fetalHeart;
  const states = viewStates(readings?.views ?? []);
  const groups = rateGroups(evidence, earlier);
  const silence = silentSweeps(evidence, groups);
  const short = shortSweeps(evidence);
  const uneven = unevenBeats(evidence);
  const size = cardiacSizeOf(evidence);
  const chestFrames = readings?.chestFrames ?? 0;
  const anyView = states.some(({ state }) => state !== 'not-seen') || chestFrames > 0;
  const measured = groups.some(({ rates }) => rates.length > 0) || size.measurements.length > 0;
  if (!anyView && !measured && silence.statements.length + uneven.length === 0) {
    return nothingFound(evidence, [
      ...short,
      ...size.missing.filter((one) => one === MACHINE_OF_SEVERAL),
    ]);
  }
  const byCrl = acceptedValue(earlier, 'ga-by-crl');
  const gaDays = evidence.options.dating?.ga_days ?? (byCrl && Math.round(byCrl.value));
  const rate = judgeRates(groups, gaDays);
  const missing = [
    ...viewStatements(states, chestFrames),
    ...(rate.known ? [] : [say.gap('heart.no-rate', {})]),
    ...silence.statements,
    ...short,
    ...uneven,
    ...size.missing,
    // A still four-chamber view does not show whether the heart is normal. The report never states
    // "normal heart" (obstetric 7.3).
    say.limitation('heart.not-judged', {}),
  ];
  return {
    status: 'partial',
    reason: { code: 'not_all_assessed', gaps: missing, needs: NEEDS },
    statements: [...rate.statements, ...size.statements, ...missing],
    data: {
      views: Object.fromEntries(states.map(({ view, state }) => [view, state])),
      limitation: SIMULATED_ONLY,
    },
    measurements: [...rate.measurements, ...size.measurements],
    findings: [...rate.findings, ...silence.findings, ...size.findings],
    classifications: [...rate.classifications, ...size.classifications],
  };
}

/** Section on the fetal heart: views, rate and rhythm, and size if known (obstetric 7). */
export const fetalHeart: ObstetricSection<FetalHeartEvidence> = {
  id: FETAL_HEART_SECTION,
  title: 'Fetal heart',
  needs: NEEDS,
  reads: ['fetalHeart', 'spectra', 'presentation'],
  run,
};
