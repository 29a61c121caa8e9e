import { type FindingConceptKey, findingConcept } from '../../concepts/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { numberText } from '../../result/render/number-text.ts';
import { centileText } from '../../result/render/unit-text.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import { FLOW_TEXT, type FlowOfLoops, graverFlow, type MachineFlow } from './flow.ts';
import {
  ANAEMIA_MOM,
  type AWave,
  type DopplerState,
  type DopplerSummary,
  type EndDiastolicFlow,
  LOW_CPR,
  MCA_ANGLE,
  rank,
} from './guideline.ts';
import { DOPPLER_SECTION, type TracedReading } from './measure.ts';

/** Technique and thresholds of obstetric Doppler. */
export const ISUOG = 'ISUOG 2021, Ultrasound Obstet Gynecol 58:331-339';

/** The accepted measurement of an id. */
export const acceptedAt = (measurements: readonly Measurement[], id: string) =>
  measurements.find((one) => one.id === id && one.quality === 'accepted') ?? null;

/** Low, normal or high by its chart; null where it has none. */
export const rankOf = (measurements: readonly Measurement[], id: string) => {
  const reference = acceptedAt(measurements, id)?.reference;
  return reference && reference.centile !== null ? rank(reference) : null;
};

function classification(
  id: FindingConceptKey,
  name: string,
  value: string,
  scheme: string,
  criteria: [name: string, value: string, met: boolean][],
): Result['classifications'][number] {
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

/** A finding of this section under the key of its concept. */
export function finding(
  id: FindingConceptKey,
  text: string,
  severity: FindingDraft['severity'],
  evidence: string[],
): FindingDraft {
  return {
    id,
    section: DOPPLER_SECTION,
    concept: findingConcept(id),
    text,
    severity,
    confidence: null,
    evidence,
  };
}

/** The median holds for velocities along the vessel (obstetric 13.4). */
export const ANGLE_UNKNOWN = `the angle was not given; the median holds for at most ${MCA_ANGLE} degrees`;

/** What lies outside its chart. */
export function rankFindings(
  measurements: readonly Measurement[],
  state: DopplerState,
): FindingDraft[] {
  const shown = (id: string) => {
    const one = acceptedAt(measurements, id);
    return one ? numberText(one) : '';
  };
  const uterine = rankOf(measurements, 'uterine-artery-mean-pi');
  const mom = acceptedAt(measurements, 'middle-cerebral-artery-psv-mom');
  const remark = mom?.note?.includes(ANGLE_UNKNOWN) ? ` Remark: ${ANGLE_UNKNOWN}.` : '';
  return [
    ...(state.umbilicalPi === 'H'
      ? [
          finding(
            'umbilical-artery-doppler',
            `Umbilical artery PI ${shown('umbilical-artery-pi')}, above the 95th centile.`,
            'abnormal',
            ['umbilical-artery-pi'],
          ),
        ]
      : []),
    ...(state.cerebralPi === 'L' || state.cpr === 'L'
      ? [
          finding(
            'cerebral-redistribution',
            state.cpr === 'L'
              ? `Cerebroplacental ratio ${shown('cerebroplacental-ratio')}, below the 5th centile.`
              : `MCA PI ${shown('middle-cerebral-artery-pi')}, below the 5th centile.`,
            'abnormal',
            state.cpr === 'L' ? ['cerebroplacental-ratio'] : ['middle-cerebral-artery-pi'],
          ),
        ]
      : []),
    ...(mom && mom.value >= ANAEMIA_MOM.moderate
      ? [
          finding(
            'fetal-anaemia-signal',
            `MCA peak systolic velocity ${numberText(mom)} multiples of the median: sign of moderate to severe fetal anaemia.${remark}`,
            'abnormal',
            [mom.id],
          ),
        ]
      : []),
    ...(mom && mom.value >= ANAEMIA_MOM.mild && mom.value < ANAEMIA_MOM.moderate
      ? [
          finding(
            'fetal-anaemia-signal',
            `MCA peak systolic velocity ${numberText(mom)} multiples of the median: in the range of mild fetal anaemia, below the limit of the flag.${remark}`,
            'info',
            [mom.id],
          ),
        ]
      : []),
    ...(uterine === 'H'
      ? [
          finding(
            'uterine-artery-doppler',
            `Mean uterine artery PI ${shown('uterine-artery-mean-pi')}, above the 95th centile.`,
            'abnormal',
            ['uterine-artery-mean-pi'],
          ),
        ]
      : []),
  ];
}

/** Every category that could be drawn, with its criteria. */
export function classify(
  measurements: readonly Measurement[],
  state: DopplerState,
  category: DopplerSummary,
): Result['classifications'] {
  const centile = (id: string) => {
    const found = acceptedAt(measurements, id)?.reference?.centile ?? null;
    return found === null ? 'not assessed' : centileText(found);
  };
  const ratio = acceptedAt(measurements, 'cerebroplacental-ratio');
  const mom = acceptedAt(measurements, 'middle-cerebral-artery-psv-mom');
  const uterine = rankOf(measurements, 'uterine-artery-mean-pi');
  const rankName = { L: 'low', N: 'normal', H: 'high' } as const;
  return [
    ...(state.flow
      ? [
          classification('end-diastolic-flow', 'Umbilical end-diastolic flow', state.flow, ISUOG, [
            ['flow in end diastole of most beats', FLOW_TEXT[state.flow], true],
          ]),
        ]
      : []),
    ...(ratio
      ? [
          classification(
            'cerebral-redistribution',
            'Cerebroplacental ratio',
            state.cpr ? rankName[state.cpr] : 'without a centile',
            'FMF 2019, 5th centile',
            [
              ['centile below 5', centile('cerebroplacental-ratio'), state.cpr === 'L'],
              [`ratio below ${LOW_CPR}`, numberText(ratio), ratio.value < LOW_CPR],
            ],
          ),
        ]
      : []),
    ...(mom && state.anaemia
      ? [
          classification('fetal-anaemia-signal', 'MCA peak velocity', state.anaemia, 'Mari 2000', [
            [`at least ${ANAEMIA_MOM.mild} MoM`, numberText(mom), mom.value >= ANAEMIA_MOM.mild],
            [
              `at least ${ANAEMIA_MOM.moderate} MoM`,
              numberText(mom),
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

/** What loops and machine together say of the umbilical artery. */
export interface UmbilicalFlow {
  flow: EndDiastolicFlow | null;
  loops: FlowOfLoops<EndDiastolicFlow>;
  machine: MachineFlow | null;
  /** Behind the name of the vessel: nothing, or that its fetus is not named. */
  whose: string;
}

/** What is said of a vessel whose fetus, of several, is not named. */
export const OF_UNNAMED_FETUS = ' of a fetus that is not named';

const OF_MACHINE = 'by the values of the ultrasound machine';

/** The gravest of loops and machine: a lost flow of either is not outvoted by the other. */
export function flowOfArtery(
  loops: FlowOfLoops<EndDiastolicFlow>,
  machine: MachineFlow | null,
  whose: string,
): UmbilicalFlow {
  const flow = graverFlow(loops.lead, machine?.flow ?? null);
  const { suspected } = loops;
  const graver = suspected && graverFlow(flow, suspected.flow) !== flow ? suspected : null;
  return { flow, loops: { ...loops, suspected: graver }, machine, whose };
}

const byMachineAlone = ({ flow, loops, machine }: UmbilicalFlow) =>
  flow !== null && machine?.flow === flow && loops.lead !== flow;

/** Who says it, and who says otherwise: `, forward in another loop`. */
function sourceText(found: UmbilicalFlow): string {
  const { flow, loops, machine, whose } = found;
  if (byMachineAlone(found)) {
    const traced = loops.lead ? `, ${FLOW_TEXT[loops.lead]} in the loop traced here` : '';
    return ` ${OF_MACHINE} (${machine?.shown})${traced}`;
  }
  // Another loop that names no fetus may be of another fetus: it contradicts nothing.
  const others = whose === '' ? loops.others : [];
  const other = others.map((one) => `, ${FLOW_TEXT[one]} in another loop`).join('');
  const machines =
    machine && machine.flow !== flow
      ? `, ${FLOW_TEXT[machine.flow]} ${OF_MACHINE} (${machine.shown})`
      : '';
  return `${other}${machines}`;
}

/** `Umbilical end-diastolic flow: reversed, forward in another loop.` */
export function flowSentences(found: UmbilicalFlow): string[] {
  const { flow, whose } = found;
  if (!flow) return [];
  return [`Umbilical end-diastolic flow${whose}: ${FLOW_TEXT[flow]}${sourceText(found)}.`];
}

const CONFIRM = 'confirm in a second loop with the lowest wall filter';

function flowText(found: UmbilicalFlow): string | null {
  const { flow, loops, whose } = found;
  const subject = `Umbilical artery${whose}`;
  const source = sourceText(found);
  if (flow === 'intermittent-absent') {
    return `${subject}: end-diastolic flow is absent in some beats${source}; ${CONFIRM}.`;
  }
  if (flow === 'not-assessable') {
    return `${subject}: no end-diastolic flow above the wall filter, which is set too high to call it absent${source}; repeat with the lowest wall filter.`;
  }
  if (flow !== 'absent' && flow !== 'reversed') return null;
  const hidden = loops.shownOn.some(({ waveform }) => waveform.otherVessel);
  const other =
    flow === 'absent' && hidden
      ? ' Flow of another vessel on the other side of the baseline may hide a reversal.'
      : '';
  return `${subject}: ${flow} end-diastolic flow${source}; ${CONFIRM}.${other}`;
}

const suspicion = (what: string, problem: string) =>
  `${what} suspected on a trace that allows no category (${problem}); repeat with the lowest wall filter.`;

function suspectedText({ loops: { suspected }, whose }: UmbilicalFlow): string | null {
  if (!suspected) return null;
  const { flow, problem } = suspected;
  return suspicion(`Umbilical artery${whose}: ${flow} end-diastolic flow is`, problem);
}

/** Ids of the indices that were read on these spectra. */
function indicesOn(readings: readonly TracedReading[], measurements: readonly Measurement[]) {
  const files = new Set(readings.map(({ file }) => file));
  return measurements
    .filter(
      (one) =>
        !isOfMachine(one) &&
        one.source.file !== null &&
        files.has(one.source.file) &&
        /-piv?$/.test(one.concept.key),
    )
    .map(({ id }) => id);
}

/** Absent or reversed end-diastolic flow must be known at once, by whichever loop or machine. */
export function flowFindings(
  found: UmbilicalFlow,
  measurements: readonly Measurement[],
): FindingDraft[] {
  const { flow, loops, machine } = found;
  const texts = [flowText(found), suspectedText(found)].filter((text) => text !== null);
  if (texts.length === 0) return [];
  const loopsShown = [...loops.shownOn, ...(loops.suspected ? [loops.suspected.shownOn] : [])];
  const evidence = [
    ...(byMachineAlone(found) ? (machine?.evidence ?? []) : []),
    ...indicesOn(loopsShown, measurements),
  ];
  const severity = flow === 'absent' || flow === 'reversed' ? 'critical' : 'abnormal';
  return [finding('end-diastolic-flow', texts.join(' '), severity, evidence)];
}

/** What the a-wave of the ductus venosus tells; a lost one on a poor trace is told as suspected. */
export function ductusFindings(
  wave: FlowOfLoops<AWave>,
  measurements: readonly Measurement[],
  whose: string,
): FindingDraft[] {
  const { lead, suspected } = wave;
  const subject = `Ductus venosus${whose}`;
  const others = whose === '' ? wave.others : [];
  const differs = others.map((one) => `, ${one} in another loop`).join('');
  const text =
    lead === 'absent' || lead === 'reversed'
      ? `${subject}: ${lead} a-wave${differs}.`
      : lead === 'not-assessable'
        ? `${subject}: no a-wave above the wall filter, which is set too high to call it absent; repeat with the lowest wall filter.`
        : null;
  const doubt = suspected
    ? suspicion(`${subject}: ${suspected.flow} a-wave is`, suspected.problem)
    : null;
  const texts = [text, doubt].filter((one) => one !== null);
  if (texts.length === 0) return [];
  const readings = [...(text ? wave.shownOn : []), ...(suspected ? [suspected.shownOn] : [])];
  const evidence = indicesOn(readings, measurements);
  const severity = lead === 'reversed' ? 'critical' : 'abnormal';
  return [finding('ductus-venosus-a-wave', texts.join(' '), severity, evidence)];
}
