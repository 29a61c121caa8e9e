import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';
import type { SentenceContext, ValueTexts } from './shared.ts';
import { capital, inSentence, type Nothing, withSubject } from './shared.ts';

export const VESSELS = {
  'umbilical-artery': 'umbilical artery',
  'middle-cerebral-artery': 'MCA',
  'uterine-artery': 'uterine artery',
  'ductus-venosus': 'ductus venosus',
} as const;
type Vessel = keyof typeof VESSELS;

/** Text for end-diastolic flow, and for the flow in an a-wave. */
export const FLOW_TEXT = {
  forward: 'forward',
  'intermittent-absent': 'absent in some beats',
  absent: 'absent',
  reversed: 'reversed',
  'not-assessable': 'not assessable',
  positive: 'positive',
} as const;
type Flow = keyof typeof FLOW_TEXT;

/** Reasons why a trace is too poor for a category. */
const TRACE_PROBLEM = {
  contradictory: 'the velocities of its beats contradict each other',
  irregular: 'its beats differ in length by more than 10 %',
  'few-beats': 'fewer than 3 similar beats',
  noise: 'the flow does not stand out clearly from the noise',
} as const;
export type TraceProblem = keyof typeof TRACE_PROBLEM;

const REFUSAL = {
  'no-scale': 'no time and velocity scale with its baseline was available',
  'no-flow': 'no flow stands out from the noise',
  aliased: 'the flow is aliased (it wraps around the end of the scale)',
  'cut-off': 'the flow is cut off by the end of the scale',
  'no-beats': 'no regular beats were seen',
  'beats-differ':
    'fewer than half of its beats are similar, so the rhythm is irregular or the trace unreliable',
} as const;

const ANGLE_UNKNOWN = (limit: number) =>
  `the angle was not given; the median applies up to ${limit}°`;

const CONFIRM = 'confirm in a second free loop of the cord with the lowest wall filter';

/** A value of the machine or of a person that determined the flow, such as "RI 1.10". */
export type StatedValue = {
  by: 'machine' | 'person';
  index: 'RI' | 'EDV' | 'S/D';
  key: string;
  value: number;
};
const STATED_BY = {
  machine: 'by the values of the ultrasound machine',
  person: 'by the value of the reader',
} as const satisfies Record<StatedValue['by'], string>;
const statedValue = ({ by, index, key, value }: StatedValue, text: ValueTexts) =>
  `${STATED_BY[by]} (${index} ${text.quantity(key, value)})`;

/**
 * Flow in an umbilical artery according to its loops and the stated values. A loop is one traced
 * spectrum of the artery.
 */
type UmbilicalFlow = {
  flow: Flow;
  /** Week before which absent flow is usual; set only if flow is absent before that week. */
  usualBefore?: number;
  /** The most severe flow on any good trace; null if no loop has a category. */
  loop: Flow | null;
  /** Flows on the other good traces. */
  others: readonly Flow[];
  /** The flow by a value of the machine or of a person; null without such a value. */
  stated: (StatedValue & { flow: Flow }) | null;
  /** True if there are several fetuses and the vessel's label does not identify the fetus. */
  unnamed: boolean;
};

const subjectOf = (vessel: string, unnamed: boolean) =>
  unnamed ? `${vessel} of an unnamed fetus` : vessel;

/**
 * Renders what contradicts the flow, such as ", forward in another spectrum". If only a stated
 * value shows the flow, that value comes first.
 */
function sourceText(of: UmbilicalFlow, text: ValueTexts): string {
  const { flow, loop, others, stated, unnamed } = of;
  if (stated?.flow === flow && loop !== flow) {
    const traced = loop ? `, ${FLOW_TEXT[loop]} in the spectrum traced here` : '';
    return ` ${statedValue(stated, text)}${traced}`;
  }
  // If the vessel is not assigned to a fetus, its loops may come from different fetuses, so they do
  // not contradict each other.
  const loops = unnamed ? [] : others.map((one) => `, ${FLOW_TEXT[one]} in another spectrum`);
  const values =
    stated && stated.flow !== flow
      ? `, ${FLOW_TEXT[stated.flow]} ${statedValue(stated, text)}`
      : '';
  return `${loops.join('')}${values}`;
}

const usualText = ({ usualBefore }: UmbilicalFlow) =>
  usualBefore === undefined ? '' : `; absent flow is usual before ${usualBefore} weeks`;

/** A flow that is suspected on a trace too poor for a category. */
type SuspectedFlow = { flow: Flow; problem: TraceProblem; unnamed: boolean };

const suspicion = (what: string, problem: TraceProblem) =>
  `${what} suspected on a trace too poor to categorise (${TRACE_PROBLEM[problem]}); repeat with the lowest wall filter.`;

const VESSEL_GAP = {
  'poor-trace': (name: string, problem: TraceProblem | null) =>
    `The ${name} trace is too poor to categorise: ${problem ? TRACE_PROBLEM[problem] : ''}`,
  'trace-implausible': (name: string) =>
    `The values of the ${name} trace are implausible and were not used`,
  'machine-implausible': (name: string) =>
    `The ${name} values from the ultrasound machine are implausible and were not used`,
  rejected: (name: string) => `The reader rejected the ${name} values`,
  'needs-review': (name: string) => `The ${name} spectrum needs review`,
  'not-of-this-fetus': (name: string) => `No ${name} spectrum could be assigned to this fetus`,
  'not-supplied': (name: string) => `${capital(name)} Doppler was not supplied`,
} as const;
export type VesselGap = keyof typeof VESSEL_GAP;

const GUIDANCE = {
  redf: 'Reversed end-diastolic flow: consider immediate review by fetal medicine per local protocol.',
  aedf: 'Absent end-diastolic flow: consider prompt review by fetal medicine per local protocol.',
  'anaemia-flag':
    'MCA peak velocity at or above 1.5 MoM: consider review for fetal anaemia per local protocol.',
} as const;
type DopplerAdvice = keyof typeof GUIDANCE;

const number = ({ about: [one], text }: SentenceContext) => (one ? text.number(one) : '');
const angleRemark = (limit: number | null) =>
  limit === null ? '' : ` Remark: ${ANGLE_UNKNOWN(limit)}.`;

export const DOPPLER_SENTENCES = {
  'doppler.values': (_: Nothing, { about, text }: SentenceContext) =>
    `${about.map((one) => `${withSubject(one.label, one)} ${text.value(one)}`).join(', ')}.`,
  'doppler.flow': (of: UmbilicalFlow, { text }: SentenceContext) =>
    `${subjectOf('Umbilical end-diastolic flow', of.unnamed)}: ${FLOW_TEXT[of.flow]}${sourceText(of, text)}${usualText(of)}.`,
  'doppler.abnormal-flow': (
    of: UmbilicalFlow & {
      /** True if another vessel on the opposite side of the baseline may hide a reversal. */
      hidden: boolean;
    },
    { text }: SentenceContext,
  ) => {
    const subject = subjectOf('Umbilical artery', of.unnamed);
    const source = sourceText(of, text);
    if (of.flow === 'intermittent-absent') {
      return `${subject}: end-diastolic flow is absent in some beats${source}; ${CONFIRM}.`;
    }
    if (of.flow === 'not-assessable') {
      return `${subject}: no end-diastolic flow above the wall filter, which is set too high to call it absent${source}; repeat with the lowest wall filter.`;
    }
    const other = of.hidden
      ? ' Flow of another vessel on the other side of the baseline may hide a reversal.'
      : '';
    return `${subject}: ${FLOW_TEXT[of.flow]} end-diastolic flow${source}; ${CONFIRM}.${other}`;
  },
  'doppler.suspected-flow': ({ flow, problem, unnamed }: SuspectedFlow) =>
    suspicion(
      `${subjectOf('Umbilical artery', unnamed)}: ${FLOW_TEXT[flow]} end-diastolic flow is`,
      problem,
    ),
  'doppler.a-wave': ({
    flow,
    others,
    unnamed,
  }: {
    flow: Flow;
    others: readonly Flow[];
    unnamed: boolean;
  }) => {
    const subject = subjectOf('Ductus venosus', unnamed);
    if (flow === 'not-assessable') {
      return `${subject}: no a-wave above the wall filter, which is set too high to call it absent; repeat with the lowest wall filter.`;
    }
    const differs = unnamed ? [] : others.map((one) => `, ${FLOW_TEXT[one]} in another spectrum`);
    return `${subject}: ${FLOW_TEXT[flow]} a-wave${differs.join('')}.`;
  },
  'doppler.suspected-a-wave': ({ flow, problem, unnamed }: SuspectedFlow) =>
    suspicion(`${subjectOf('Ductus venosus', unnamed)}: ${FLOW_TEXT[flow]} a-wave is`, problem),
  'doppler.high-umbilical-pi': (_: Nothing, context: SentenceContext) =>
    `Umbilical artery PI ${number(context)}, above the 95th centile.`,
  'doppler.low-cpr': (_: Nothing, context: SentenceContext) =>
    `Cerebroplacental ratio ${number(context)}, below the 5th centile.`,
  'doppler.low-cerebral-pi': (_: Nothing, context: SentenceContext) =>
    `MCA PI ${number(context)}, below the 5th centile.`,
  'doppler.high-uterine-pi': (_: Nothing, context: SentenceContext) =>
    `Mean uterine artery PI ${number(context)}, above the 95th centile.`,
  'doppler.anaemia': ({ angleLimit }: { angleLimit: number | null }, context: SentenceContext) =>
    `MCA peak systolic velocity ${number(context)} multiples of the median: sign of moderate to severe fetal anaemia.${angleRemark(angleLimit)}`,
  'doppler.mild-anaemia': (
    { angleLimit }: { angleLimit: number | null },
    context: SentenceContext,
  ) =>
    `MCA peak systolic velocity ${number(context)} multiples of the median: in the range of mild fetal anaemia, below the flagging threshold.${angleRemark(angleLimit)}`,
  'doppler.advice': ({ category }: { category: DopplerAdvice }) => GUIDANCE[category],
  'doppler.no-age': () => 'Gestational age was not given: Doppler indices have no centile.',
  'doppler.rate-outside-chart': ({ slowest, fastest }: { slowest: number; fastest: number }) =>
    `The fetal heart rate during Doppler is outside ${slowest} to ${fastest} per minute: no fetal Doppler chart applies.`,
  'doppler.outside-chart': (_: Nothing, { about }: SentenceContext) =>
    `The gestational age is outside the chart for: ${about.map(({ label }) => inSentence(label)).join(', ')}.`,
  'doppler.no-peak-velocity': ({ held }: { held: boolean }) =>
    `MCA peak velocity in cm/s ${held ? 'needs review' : 'was not supplied'}: signs of anaemia were not assessed.`,
  'doppler.angle-unknown': ({ limit }: { limit: number }) =>
    `MCA peak velocity: ${ANGLE_UNKNOWN(limit)}.`,
  'doppler.angle-too-large': ({ limit }: { limit: number }) =>
    `MCA peak velocity was not compared with its median: the angle set on the machine is above ${limit}°.`,
  'doppler.peak-outside-chart': () =>
    'MCA peak velocity was not compared with its median: the gestational age is outside its chart.',
  'doppler.no-uterine-mean': () =>
    'The mean PI of both uterine arteries was not assessed: one side, or its label, is missing.',
  'doppler.no-flow': ({ within }: { within: boolean }) =>
    within
      ? 'Umbilical artery PI is between its 5th and 95th centiles; end-diastolic flow was not assessed.'
      : 'Only the umbilical artery PI is known; end-diastolic flow was not assessed.',
  /** `about` contains the value that is used, followed by that of the other side. */
  'doppler.both-sides': (
    { worse }: { worse: 'lower' | 'higher' },
    { about: [one, other], text }: SentenceContext,
  ) => {
    if (!one || !other) return '';
    const shown = (value: typeof one) => `${value.laterality} ${text.value(value)}`;
    return `The ultrasound machine gives the ${text.names([one.concept.key])} for both sides, ${shown(one)} and ${shown(other)}: the ${worse} was used.`;
  },
  'doppler.vessel-gap': ({
    vessel,
    reason,
    problem,
    cpr,
  }: {
    vessel: Vessel;
    /** Null if another statement already explains why the vessel has no value. */
    reason: VesselGap | null;
    problem: TraceProblem | null;
    /** True if the CPR was not assessed because this vessel has no value. */
    cpr: boolean;
  }) => {
    const why = reason ? VESSEL_GAP[reason](VESSELS[vessel], problem) : null;
    if (!cpr) return `${why}.`;
    return why ? `${why}; CPR was not assessed.` : 'CPR was not assessed.';
  },
  'doppler.no-cpr': () => 'CPR was not assessed: it needs the PI of both arteries.',
  'doppler.refused': ({
    vessel,
    of,
    reason,
  }: {
    vessel: Vessel | null;
    of: string | null;
    reason: keyof typeof REFUSAL;
  }) => {
    const fetus = vessel && of ? ` of fetus ${of}` : '';
    const name = vessel ? `The ${VESSELS[vessel]} spectrum${fetus}` : 'A spectrum';
    return `${name} was not measured: ${REFUSAL[reason]}.`;
  },
  'doppler.several-fetuses': () =>
    'Several fetuses: singleton charts were used, and the fetuses were not compared with each other: neither twin anaemia-polycythaemia sequence nor selective growth restriction was assessed.',
  'doppler.partly-named': () =>
    'Not every spectrum and value is labelled by fetus: labelled and unlabelled ones were not compared.',
  'doppler.machine-fetus-not-known': () =>
    'Values from the ultrasound machine that name no fetus were not used: whether they belong to the same fetus as the spectra is unknown.',
  /** `about` contains our value, followed by the machine's. */
  'doppler.machine-differs': (_: Nothing, { about: [ours, machine], text }: SentenceContext) =>
    ours && machine
      ? `${withSubject(machine.label, machine)} ${text.value(machine)} by the ultrasound machine, ${text.value(ours)} as measured here; check both measurements.`
      : '',
  'doppler.not-named': ({ what }: { what: 'vessel' | 'fetus' }) =>
    `A spectrum does not name its ${what}: its indices are given without a category.`,
  'doppler.no-view': () => 'No spectral Doppler image was found.',
} as const satisfies SentenceTable;

export const say = statementsOf<typeof DOPPLER_SENTENCES>();

export const DOPPLER_REMARKS = {
  'doppler.beats': ({ count }: { count: number }) => (count === 1 ? '1 beat' : `${count} beats`),
  'doppler.side': ({ side }: { side: 'left' | 'right' }) => `${side} side`,
  'doppler.trace-problem': ({ problem }: { problem: TraceProblem }) => TRACE_PROBLEM[problem],
  'doppler.angle': ({ degrees }: { degrees: number }) => `angle set on the machine ${degrees}°`,
  'doppler.branch': ({ limit }: { limit: number }) =>
    `at most ${limit} cm/s: it may be a branch of the artery`,
  'doppler.velocity-corrected': (
    { keys }: { keys: readonly string[] },
    { text }: SentenceContext,
  ) => `not used: calculated from the ${text.names(keys)} before the reader corrected it`,
  'doppler.scale-in-hz': () => 'read on a scale in Hz, which is sufficient for velocity ratios',
  'doppler.vessel-not-named': () =>
    'not used: the header does not name the vessel, or the fetus that it belongs to',
  'doppler.peak-implausible': () =>
    'not used: the peak velocity of the spectrum is implausible for this vessel',
  'doppler.no-chart': () => 'no centile chart',
  'doppler.angle-not-given': ({ limit }: { limit: number }) => ANGLE_UNKNOWN(limit),
  'doppler.late': () => 'more false positives from 35 weeks on',
} as const satisfies SentenceTable;

export const remarkOfDoppler = remarksOf<typeof DOPPLER_REMARKS>();
