import {
  type FindingConceptKey,
  findingConcept,
  type ObstetricConcept,
} from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine, isRejected } from '../../result/measured.ts';
import { FLOW_TEXT, remarkOfDoppler, say } from '../../result/render/obstetric/doppler.ts';
import {
  type CategoryWithin,
  type ClassificationDraft,
  type CriterionDraft,
  categoryWithin,
  criterion,
  type FindingDraft,
  outcomeOf,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { acceptedValue } from '../shared/measurement.ts';
import { finding } from '../shared/section.ts';
import { type FlowOfTraces, graverFlow, type StatedFlow } from './flow.ts';
import {
  ANAEMIA_MOM,
  type AWave,
  anaemiaBand,
  type DopplerState,
  type DopplerSummary,
  type EndDiastolicFlow,
  FLOW_EXPECTED_FROM,
  isAnaemiaFlag,
  isUsualFlow,
  LOW_CPR,
  MCA_ANGLE,
  rank,
} from './guideline.ts';
import { type TracedReading, uncertaintyOf } from './measure.ts';

/** Guideline for the technique and thresholds of obstetric Doppler. */
export const ISUOG = 'ISUOG 2021, Ultrasound Obstet Gynecol 58:331-339';

/**
 * Returns whether the accepted value of a quantity is low, normal or high on its chart. Null if no
 * value was accepted, if it has no centile, or if its interval spans several of these ranks.
 */
export const rankOf = (measurements: readonly Measurement[], key: ObstetricConcept) => {
  const one = acceptedValue(measurements, key);
  return one ? rankWithin(one).category : null;
};

/**
 * Ranks a value as low, normal or high on its chart. If its 95 % interval spans several ranks,
 * `between` contains the ranks of both ends and there is no category. Without a centile, both are
 * null.
 */
export function rankWithin(one: Measurement): CategoryWithin<'L' | 'N' | 'H' | null> {
  const { reference } = one;
  if (!reference || reference.centile === null) return { category: null, between: null };
  // Without an uncertainty, the value is ranked by its exact centile.
  if (one.uncertainty === null) return { category: rank(reference), between: null };
  const { low, high } = reference;
  return categoryWithin(one, (value) =>
    low !== null && value < low ? 'L' : high !== null && value > high ? 'H' : 'N',
  );
}

function classification(
  id: FindingConceptKey,
  name: string,
  value: string,
  scheme: string,
  criteria: CriterionDraft[],
): ClassificationDraft {
  return {
    id,
    concept: findingConcept(id),
    name,
    value,
    scheme,
    criteria,
  };
}

/** Values of the machine that are compared with ours. */
const COMPARED = {
  'umbilical-artery-pi': 'pi',
  'middle-cerebral-artery-pi': 'pi',
  'middle-cerebral-artery-psv': 'psv',
  'uterine-artery-pi': 'pi',
} as const satisfies Partial<Record<ObstetricConcept, 'pi' | 'psv'>>;

/**
 * Returns a finding for each value of the machine that differs from ours of the same vessel by more
 * than the uncertainty of a trace. As for lengths, ours is used, and the finding asks for a check
 * (obstetric 2.6).
 */
export function machineFindings(measurements: readonly Measurement[]): FindingDraft[] {
  return Object.entries(COMPARED).flatMap(([key, property]) => {
    const values = measurements.filter(
      ({ concept, quality }) => concept.key === key && quality === 'accepted',
    );
    return values.filter(isOfMachine).flatMap((machine) => {
      const own = values.find(
        (one) =>
          !isOfMachine(one) && one.standing !== 'repeat' && one.laterality === machine.laterality,
      );
      if (!own) return [];
      if (Math.abs(machine.value - own.value) <= uncertaintyOf(property, own.value)) return [];
      const said = say.value('doppler.machine-differs', {}, [own, machine]);
      return finding(machine.id, 'repeatability', said, 'abnormal');
    });
  });
}

/** Returns findings for values outside the normal range of their chart. */
export function rankFindings(
  measurements: readonly Measurement[],
  state: DopplerState,
): FindingDraft[] {
  const abnormal = (
    id: FindingConceptKey,
    code:
      | 'doppler.low-cpr'
      | 'doppler.low-cerebral-pi'
      | 'doppler.high-umbilical-pi'
      | 'doppler.high-uterine-pi',
    key: ObstetricConcept,
  ): FindingDraft[] => {
    const one = acceptedValue(measurements, key);
    const said = one && say.conclusion(code, {}, [one]);
    return said ? [finding(id, id, said, 'abnormal')] : [];
  };
  const cerebral =
    state.cpr === 'L'
      ? abnormal('cerebral-redistribution', 'doppler.low-cpr', 'cerebroplacental-ratio')
      : state.cerebralPi === 'L'
        ? abnormal(
            'cerebral-redistribution',
            'doppler.low-cerebral-pi',
            'middle-cerebral-artery-pi',
          )
        : [];
  return [
    ...(state.umbilicalPi === 'H'
      ? abnormal('umbilical-artery-doppler', 'doppler.high-umbilical-pi', 'umbilical-artery-pi')
      : []),
    ...cerebral,
    ...anaemiaFindings(acceptedValue(measurements, 'middle-cerebral-artery-psv-mom')),
    ...(rankOf(measurements, 'uterine-artery-mean-pi') === 'H'
      ? abnormal('uterine-artery-doppler', 'doppler.high-uterine-pi', 'uterine-artery-mean-pi')
      : []),
  ];
}

/**
 * Returns the anaemia band if the whole interval of the multiple of the median is in one band.
 * Otherwise `between` contains the bands of both ends.
 */
export const anaemiaWithin = (mom: Measurement) => categoryWithin(mom, anaemiaBand);

/**
 * Returns the anaemia band. If the interval contains several bands that all mean a flag of anaemia,
 * returns the lowest of them. Null if the interval leaves open whether there is a flag.
 */
export function certainAnaemia(mom: Measurement) {
  const { category, between } = anaemiaWithin(mom);
  return category ?? (between?.every(isAnaemiaFlag) ? between[0] : null);
}

function anaemiaFindings(mom: Measurement | null): FindingDraft[] {
  const band = mom && anaemiaWithin(mom);
  // If the lower end of the interval is in an abnormal band, the velocity is high in any case.
  const least = band?.between?.[0] ?? band?.category;
  if (!mom || !least || least === 'no-signal') return [];
  const unknown = mom.remarks.some(({ code }) => code === ANGLE_NOT_GIVEN.code);
  const params = { angleLimit: unknown ? MCA_ANGLE : null };
  const id = 'fetal-anaemia-signal';
  return least === 'mild'
    ? [finding(id, id, say.conclusion('doppler.mild-anaemia', params, [mom]), 'info')]
    : [finding(id, id, say.conclusion('doppler.anaemia', params, [mom]), 'abnormal')];
}

/**
 * Remark that the angle is unknown. The chart of medians applies only to velocities measured along
 * the vessel (obstetric 13.4).
 */
export const ANGLE_NOT_GIVEN = remarkOfDoppler('doppler.angle-not-given', { limit: MCA_ANGLE });

/** Returns a classification, with its criteria, for every category that could be determined. */
export function classify(
  measurements: readonly Measurement[],
  state: DopplerState,
  category: DopplerSummary,
): ClassificationDraft[] {
  const ratio = acceptedValue(measurements, 'cerebroplacental-ratio');
  const mom = acceptedValue(measurements, 'middle-cerebral-artery-psv-mom');
  const uterine = rankOf(measurements, 'uterine-artery-mean-pi');
  const printed = ({ concept, value }: Measurement) => ({
    of: concept.key,
    value,
    unit: false,
  });
  const rankName = { L: 'low', N: 'normal', H: 'high' } as const;
  return [
    ...(state.flow
      ? [
          classification('end-diastolic-flow', 'Umbilical end-diastolic flow', state.flow, ISUOG, [
            criterion('flow in end diastole of most beats', FLOW_TEXT[state.flow], true),
          ]),
        ]
      : []),
    ...(ratio && rankWithin(ratio).between === null
      ? [
          classification(
            'cerebral-redistribution',
            'Cerebroplacental ratio',
            state.cpr ? rankName[state.cpr] : 'without a centile',
            'FMF 2019, 5th centile',
            [
              rankCriterion('centile below 5', measurements, 'cerebroplacental-ratio', 'L'),
              criterion(`ratio below ${LOW_CPR}`, printed(ratio), ratio.value < LOW_CPR),
            ],
          ),
        ]
      : []),
    ...(mom && state.anaemia
      ? [
          classification('fetal-anaemia-signal', 'MCA peak velocity', state.anaemia, 'Mari 2000', [
            ...[ANAEMIA_MOM.mild, ANAEMIA_MOM.moderate].map((limit) =>
              criterion(`at least ${limit} MoM`, printed(mom), mom.value >= limit),
            ),
          ]),
        ]
      : []),
    ...(uterine
      ? [
          classification(
            'uterine-artery-doppler',
            'Uterine artery mean PI',
            rankName[uterine],
            'Gomez 2008, 95th centile',
            [rankCriterion('centile above 95', measurements, 'uterine-artery-mean-pi', 'H')],
          ),
        ]
      : []),
    summaryClassification(measurements, state, category),
  ];
}

/** Returns the criterion that the centile of a quantity is low or high. */
function rankCriterion(
  name: string,
  measurements: readonly Measurement[],
  key: ObstetricConcept,
  wanted: 'L' | 'H',
): CriterionDraft {
  const one = acceptedValue(measurements, key);
  const centile = one?.reference?.centile ?? null;
  if (!one || centile === null) return criterion(name, null, null);
  const { category, between } = rankWithin(one);
  return {
    name,
    value: { of: 'centile', value: centile },
    outcome: between?.includes(wanted) ? 'at_cut_off' : outcomeOf(category === wanted),
  };
}

function summaryClassification(
  measurements: readonly Measurement[],
  { flow }: DopplerState,
  category: DopplerSummary,
): ClassificationDraft {
  return classification('fetal-doppler', 'Doppler summary', category, 'gravest of the above', [
    criterion(
      'end-diastolic flow absent or reversed',
      flow && FLOW_TEXT[flow],
      flow && (flow === 'absent' || flow === 'reversed'),
    ),
    rankCriterion(
      'umbilical artery PI above the 95th centile',
      measurements,
      'umbilical-artery-pi',
      'H',
    ),
    rankCriterion('MCA PI below the 5th centile', measurements, 'middle-cerebral-artery-pi', 'L'),
  ]);
}

/** Flow in the umbilical artery according to the traces and the stated values. */
interface UmbilicalFlow {
  flow: EndDiastolicFlow | null;
  /** True if the flow is missing at an age at which this is usual. It is then not a finding. */
  usual: boolean;
  traces: FlowOfTraces<EndDiastolicFlow>;
  stated: StatedFlow | null;
  /** True if there are several fetuses and it is unknown whose artery this is. */
  unnamed: boolean;
}

/**
 * Combines the flow on the traces with that in the stated values; the more severe one counts.
 * Absent or reversed flow is reported even if only one of the two shows it.
 */
export function flowOfArtery(
  traces: FlowOfTraces<EndDiastolicFlow>,
  stated: StatedFlow | null,
  { gaDays, unnamed }: { gaDays: number | null; unnamed: boolean },
): UmbilicalFlow {
  const flow = graverFlow(traces.lead, stated?.flow ?? null);
  const usual = isUsualFlow(flow, gaDays);
  const { suspected } = traces;
  const isGraver = suspected !== null && graverFlow(flow, suspected.flow) !== flow;
  const graver = isGraver && !isUsualFlow(suspected.flow, gaDays) ? suspected : null;
  return { flow, usual, traces: { ...traces, suspected: graver }, stated, unnamed };
}

const isOnlyStated = ({ flow, traces, stated }: UmbilicalFlow) =>
  flow !== null && stated?.flow === flow && traces.lead !== flow;

const flowParams = (flow: EndDiastolicFlow, { usual, traces, stated, unnamed }: UmbilicalFlow) => ({
  flow,
  ...(usual && { usualBefore: FLOW_EXPECTED_FROM / 7 }),
  loop: traces.lead,
  others: traces.others,
  stated: stated && { ...stated.shown, flow: stated.flow },
  unnamed,
});

export function flowStatements(found: UmbilicalFlow): Statement[] {
  const { flow } = found;
  return flow ? [say.conclusion('doppler.flow', flowParams(flow, found))] : [];
}

function abnormalFlow(found: UmbilicalFlow): Statement[] {
  const { flow, usual, traces } = found;
  if (flow === null || flow === 'forward' || usual) return [];
  const hidden = flow === 'absent' && traces.shownOn.some(({ waveform }) => waveform.otherVessel);
  return [say.conclusion('doppler.abnormal-flow', { ...flowParams(flow, found), hidden })];
}

function suspectedFlow({ traces: { suspected }, unnamed }: UmbilicalFlow): Statement[] {
  if (!suspected) return [];
  const { flow, problem } = suspected;
  return [say.conclusion('doppler.suspected-flow', { flow, problem, unnamed })];
}

/** Pulsatility indices listed as evidence for a finding about the flow. */
const PULSATILITY: ReadonlySet<string> = new Set([
  'umbilical-artery-pi',
  'middle-cerebral-artery-pi',
  'uterine-artery-pi',
  'unnamed-vessel-pi',
  'ductus-venosus-piv',
] satisfies ObstetricConcept[]);

function indicesOn(readings: readonly TracedReading[], measurements: readonly Measurement[]) {
  const files = new Set(readings.map(({ file }) => file));
  return measurements
    .filter(
      (one) =>
        !isOfMachine(one) &&
        !isRejected(one) &&
        one.source.file !== null &&
        files.has(one.source.file) &&
        PULSATILITY.has(one.concept.key),
    )
    .map(({ id }) => id);
}

/**
 * Returns the finding of abnormal or suspected end-diastolic flow; empty if the flow is usual at
 * this age. It is critical if the flow is absent or reversed; one trace or one stated value that
 * shows this is enough.
 */
export function flowFindings(
  found: UmbilicalFlow,
  measurements: readonly Measurement[],
): FindingDraft[] {
  const { flow, usual, traces, stated } = found;
  const said = [...abnormalFlow(found), ...suspectedFlow(found)];
  if (said.length === 0) return [];
  const shownOn = [
    ...(usual ? [] : traces.shownOn),
    ...(traces.suspected ? [traces.suspected.shownOn] : []),
  ];
  const evidence = [
    ...(isOnlyStated(found) && !usual ? (stated?.evidence ?? []) : []),
    ...indicesOn(shownOn, measurements),
  ];
  const lost = flow === 'absent' || flow === 'reversed';
  const severity = lost && !usual ? 'critical' : 'abnormal';
  const id = 'end-diastolic-flow';
  return [finding(id, id, said, severity, { evidence })];
}

/**
 * Returns the finding for the a-wave of the ductus venosus. An absent or reversed a-wave on a poor
 * trace is only suspected.
 */
export function ductusFindings(
  wave: FlowOfTraces<AWave>,
  measurements: readonly Measurement[],
  unnamed: boolean,
): FindingDraft[] {
  const { lead, others, suspected } = wave;
  const said: Statement[] = [];
  const readings: TracedReading[] = [];
  if (lead !== null && lead !== 'positive') {
    said.push(say.conclusion('doppler.a-wave', { flow: lead, others, unnamed }));
    readings.push(...wave.shownOn);
  }
  if (suspected) {
    const { flow, problem } = suspected;
    said.push(say.conclusion('doppler.suspected-a-wave', { flow, problem, unnamed }));
    readings.push(suspected.shownOn);
  }
  if (said.length === 0) return [];
  const id = 'ductus-venosus-a-wave';
  const severity = lead === 'reversed' ? 'critical' : 'abnormal';
  const evidence = indicesOn(readings, measurements);
  return [finding(id, id, said, severity, { evidence })];
}
