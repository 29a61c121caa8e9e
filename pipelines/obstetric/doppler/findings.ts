import {
  type FindingConceptKey,
  findingConcept,
  type ObstetricConcept,
} from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { FLOW_TEXT, remarkOfDoppler, say } from '../../result/render/obstetric/doppler.ts';
import {
  type CategoryWithin,
  type ClassificationDraft,
  type CriterionValue,
  categoryWithin,
  type FindingDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { isOfMachine } from '../shared/measurement.ts';
import { type FlowOfLoops, graverFlow, type MachineFlow } from './flow.ts';
import {
  ANAEMIA_MOM,
  type AWave,
  anaemiaBand,
  type DopplerState,
  type DopplerSummary,
  type EndDiastolicFlow,
  LOW_CPR,
  MCA_ANGLE,
  rank,
} from './guideline.ts';
import { DOPPLER_SECTION, type TracedReading } from './measure.ts';

/** Source for the technique and the thresholds of obstetric Doppler. */
export const ISUOG = 'ISUOG 2021, Ultrasound Obstet Gynecol 58:331-339';

/** The accepted measurement with this id; null if it was not measured or not accepted. */
export const acceptedAt = (measurements: readonly Measurement[], id: string) =>
  measurements.find((one) => one.id === id && one.quality === 'accepted') ?? null;

/**
 * Whether the value with this id is low, normal or high on its chart; null where it has no chart.
 */
export const rankOf = (measurements: readonly Measurement[], id: string) => {
  const one = acceptedAt(measurements, id);
  return one ? rankWithin(one).category : null;
};

/**
 * Whether the whole interval of a value is low, normal or high on its chart, or what it is at both
 * ends; null without a centile.
 */
export function rankWithin(one: Measurement): CategoryWithin<'L' | 'N' | 'H' | null> {
  const { reference } = one;
  if (!reference || reference.centile === null) return { category: null, between: null };
  // The value itself is ranked by its centile, which is exact at the cut-off.
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
  criteria: [name: string, value: string | CriterionValue, met: boolean][],
): ClassificationDraft {
  return {
    id,
    section: DOPPLER_SECTION,
    concept: findingConcept(id),
    name,
    value,
    scheme,
    criteria: criteria.map(([criterion, shown, met]) => ({ name: criterion, value: shown, met })),
  };
}

/** A finding of this section, with the key of its concept as id. */
export function finding(
  id: FindingConceptKey,
  statement: Statement,
  severity: FindingDraft['severity'],
  evidence: string[],
): FindingDraft {
  return {
    id,
    section: DOPPLER_SECTION,
    concept: findingConcept(id),
    statement,
    severity,
    confidence: null,
    evidence,
  };
}

/** The findings for values that lie outside their chart's normal range. */
export function rankFindings(
  measurements: readonly Measurement[],
  state: DopplerState,
): FindingDraft[] {
  const abnormal = (
    concept: FindingConceptKey,
    id: string,
    conclude: (about: Measurement[]) => Statement,
  ): FindingDraft[] => {
    const one = acceptedAt(measurements, id);
    return one ? [finding(concept, conclude([one]), 'abnormal', [id])] : [];
  };
  const [pi, cpr, mca, uta] = [
    'umbilical-artery-pi',
    'cerebroplacental-ratio',
    'middle-cerebral-artery-pi',
    'uterine-artery-mean-pi',
  ] as const;
  const cerebral =
    state.cpr === 'L'
      ? abnormal('cerebral-redistribution', cpr, (about) =>
          say.conclusion('doppler.low-cpr', {}, about),
        )
      : state.cerebralPi === 'L'
        ? abnormal('cerebral-redistribution', mca, (about) =>
            say.conclusion('doppler.low-cerebral-pi', {}, about),
          )
        : [];
  return [
    ...(state.umbilicalPi === 'H'
      ? abnormal('umbilical-artery-doppler', pi, (about) =>
          say.conclusion('doppler.high-umbilical-pi', {}, about),
        )
      : []),
    ...cerebral,
    ...anaemiaFindings(acceptedAt(measurements, 'middle-cerebral-artery-psv-mom')),
    ...(rankOf(measurements, uta) === 'H'
      ? abnormal('uterine-artery-doppler', uta, (about) =>
          say.conclusion('doppler.high-uterine-pi', {}, about),
        )
      : []),
  ];
}

/** The band of anaemia that holds for the whole interval of a multiple of the median. */
export const anaemiaWithin = (mom: Measurement) => categoryWithin(mom, anaemiaBand);

/** The finding of an MCA peak velocity at or above the limit for mild anaemia; empty below it. */
function anaemiaFindings(mom: Measurement | null): FindingDraft[] {
  const band = mom && anaemiaWithin(mom);
  // From the lower end of the interval on the velocity is certain to be at least mildly high.
  const least = band?.between?.[0] ?? band?.category;
  if (!mom || !least || least === 'no-signal') return [];
  const unknown = mom.remarks.some(({ code }) => code === ANGLE_NOT_GIVEN.code);
  const params = { angleLimit: unknown ? MCA_ANGLE : null };
  return least !== 'mild'
    ? [
        finding(
          'fetal-anaemia-signal',
          say.conclusion('doppler.anaemia', params, [mom]),
          'abnormal',
          [mom.id],
        ),
      ]
    : [
        finding(
          'fetal-anaemia-signal',
          say.conclusion('doppler.mild-anaemia', params, [mom]),
          'info',
          [mom.id],
        ),
      ];
}

/**
 * Remark that the angle is not known: the median applies to velocities measured along the vessel
 * (obstetric 13.4).
 */
export const ANGLE_NOT_GIVEN = remarkOfDoppler('doppler.angle-not-given', { limit: MCA_ANGLE });

/** A classification for every category that could be determined, with its criteria. */
export function classify(
  measurements: readonly Measurement[],
  state: DopplerState,
  category: DopplerSummary,
): ClassificationDraft[] {
  const centile = (id: string) => {
    const found = acceptedAt(measurements, id)?.reference?.centile ?? null;
    return found === null ? 'not assessed' : { of: 'centile', value: found };
  };
  const ratio = acceptedAt(measurements, 'cerebroplacental-ratio');
  const mom = acceptedAt(measurements, 'middle-cerebral-artery-psv-mom');
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
            ['flow in end diastole of most beats', FLOW_TEXT[state.flow], true],
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
              ['centile below 5', centile('cerebroplacental-ratio'), state.cpr === 'L'],
              [`ratio below ${LOW_CPR}`, printed(ratio), ratio.value < LOW_CPR],
            ],
          ),
        ]
      : []),
    ...(mom && state.anaemia
      ? [
          classification('fetal-anaemia-signal', 'MCA peak velocity', state.anaemia, 'Mari 2000', [
            [`at least ${ANAEMIA_MOM.mild} MoM`, printed(mom), mom.value >= ANAEMIA_MOM.mild],
            [
              `at least ${ANAEMIA_MOM.moderate} MoM`,
              printed(mom),
              mom.value >= ANAEMIA_MOM.moderate,
            ],
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
            [['centile above 95', centile('uterine-artery-mean-pi'), uterine === 'H']],
          ),
        ]
      : []),
    classification('fetal-doppler', 'Doppler summary', category, 'gravest of the above', [
      [
        'end-diastolic flow absent or reversed',
        state.flow ? FLOW_TEXT[state.flow] : 'not assessed',
        state.flow === 'absent' || state.flow === 'reversed',
      ],
      [
        'umbilical artery PI above the 95th centile',
        centile('umbilical-artery-pi'),
        state.umbilicalPi === 'H',
      ],
      [
        'MCA PI below the 5th centile',
        centile('middle-cerebral-artery-pi'),
        state.cerebralPi === 'L',
      ],
    ]),
  ];
}

/** What the traced loops and the machine's values together show in the umbilical artery. */
export interface UmbilicalFlow {
  flow: EndDiastolicFlow | null;
  loops: FlowOfLoops<EndDiastolicFlow>;
  machine: MachineFlow | null;
  /** Whether there are several fetuses and the artery does not name its own. */
  unnamed: boolean;
}

/**
 * The graver flow of the loops and of the machine's values: lost flow in one of them is not
 * outvoted by the other.
 */
export function flowOfArtery(
  loops: FlowOfLoops<EndDiastolicFlow>,
  machine: MachineFlow | null,
  unnamed: boolean,
): UmbilicalFlow {
  const flow = graverFlow(loops.lead, machine?.flow ?? null);
  const { suspected } = loops;
  const graver = suspected && graverFlow(flow, suspected.flow) !== flow ? suspected : null;
  return { flow, loops: { ...loops, suspected: graver }, machine, unnamed };
}

const byMachineAlone = ({ flow, loops, machine }: UmbilicalFlow) =>
  flow !== null && machine?.flow === flow && loops.lead !== flow;

const flowParams = (flow: EndDiastolicFlow, { loops, machine, unnamed }: UmbilicalFlow) => ({
  flow,
  loop: loops.lead,
  others: loops.others,
  machine: machine && { ...machine.shown, flow: machine.flow },
  unnamed,
});

export function flowStatements(found: UmbilicalFlow): Statement[] {
  const { flow } = found;
  return flow ? [say.conclusion('doppler.flow', flowParams(flow, found))] : [];
}

function abnormalFlow(found: UmbilicalFlow): Statement[] {
  const { flow, loops } = found;
  if (flow === null || flow === 'forward') return [];
  const hidden = flow === 'absent' && loops.shownOn.some(({ waveform }) => waveform.otherVessel);
  return [say.conclusion('doppler.abnormal-flow', { ...flowParams(flow, found), hidden })];
}

function suspectedFlow({ loops: { suspected }, unnamed }: UmbilicalFlow): Statement[] {
  if (!suspected) return [];
  const { flow, problem } = suspected;
  return [say.conclusion('doppler.suspected-flow', { flow, problem, unnamed })];
}

/** Pulsatility indices that serve as evidence for a finding about flow. */
const PULSATILITY: ReadonlySet<string> = new Set([
  'umbilical-artery-pi',
  'middle-cerebral-artery-pi',
  'uterine-artery-pi',
  'unnamed-vessel-pi',
  'ductus-venosus-piv',
] satisfies ObstetricConcept[]);

/** Ids of our pulsatility indices that were measured on these spectra. */
function indicesOn(readings: readonly TracedReading[], measurements: readonly Measurement[]) {
  const files = new Set(readings.map(({ file }) => file));
  return measurements
    .filter(
      (one) =>
        !isOfMachine(one) &&
        one.source.file !== null &&
        files.has(one.source.file) &&
        PULSATILITY.has(one.concept.key),
    )
    .map(({ id }) => id);
}

function findingWith(
  concept: FindingConceptKey,
  statements: readonly Statement[],
  severity: FindingDraft['severity'],
  evidence: string[],
): FindingDraft[] {
  const [first] = statements;
  if (!first) return [];
  const { statement: _, ...draft } = finding(concept, first, severity, evidence);
  return [{ ...draft, statements }];
}

/**
 * The finding of absent or reversed end-diastolic flow, which must be known at once, whichever loop
 * or machine value shows it.
 */
export function flowFindings(
  found: UmbilicalFlow,
  measurements: readonly Measurement[],
): FindingDraft[] {
  const { flow, loops, machine } = found;
  const statements = [...abnormalFlow(found), ...suspectedFlow(found)];
  const shownOn = [...loops.shownOn, ...(loops.suspected ? [loops.suspected.shownOn] : [])];
  const evidence = [
    ...(byMachineAlone(found) ? (machine?.evidence ?? []) : []),
    ...indicesOn(shownOn, measurements),
  ];
  const severity = flow === 'absent' || flow === 'reversed' ? 'critical' : 'abnormal';
  return findingWith('end-diastolic-flow', statements, severity, evidence);
}

/**
 * The finding for the a-wave of the ductus venosus; one that is lost on a poor trace is reported as
 * suspected.
 */
export function ductusFindings(
  wave: FlowOfLoops<AWave>,
  measurements: readonly Measurement[],
  unnamed: boolean,
): FindingDraft[] {
  const { lead, others, suspected } = wave;
  const shown =
    lead === null || lead === 'positive'
      ? []
      : [say.conclusion('doppler.a-wave', { flow: lead, others, unnamed })];
  const doubt = suspected
    ? [
        say.conclusion('doppler.suspected-a-wave', {
          flow: suspected.flow,
          problem: suspected.problem,
          unnamed,
        }),
      ]
    : [];
  const readings = [
    ...(shown.length > 0 ? wave.shownOn : []),
    ...(suspected ? [suspected.shownOn] : []),
  ];
  const severity = lead === 'reversed' ? 'critical' : 'abnormal';
  const evidence = indicesOn(readings, measurements);
  return findingWith('ductus-venosus-a-wave', [...shown, ...doubt], severity, evidence);
}
