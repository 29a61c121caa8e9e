import type { Finding, Measurement } from '../result/envelope.ts';
import { isOfMachine } from '../result/of-machine.ts';
import type { AWave, EndDiastolicFlow } from './doppler-categories.ts';
import { finding } from './doppler-findings.ts';
import { FLOW_TEXT, type FlowOfLoops, graverFlow } from './doppler-flow.ts';
import type { MachineFlow } from './doppler-machine.ts';
import type { TracedReading } from './doppler-measurements.ts';

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
): Finding[] {
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
): Finding[] {
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
