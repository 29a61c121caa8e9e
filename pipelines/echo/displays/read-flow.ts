import type { EchoConcept } from '../../concepts/echo.ts';
import {
  annularMotion,
  decayOf,
  type Ejection,
  ejectionsOf,
  type VeinBeat,
  veinBeats,
} from '../../measure/doppler/cardiac-flow.ts';
import {
  fastestNear,
  type SpectralDisplay,
  type SpectralTrace,
} from '../../measure/doppler/envelope.ts';
import { FILLING, type Filling, fillingsOf } from '../../measure/doppler/filling.ts';
import { isRegular, median } from '../../measure/statistics.ts';
import type { Wave } from '../../measure/waves.ts';
import type { DisplayDoubt, DisplayRemark } from '../../result/render/echo/shared.ts';
import {
  halfTimeOfDeceleration,
  halfTimeOfSlope,
  meanGradient,
  pressureGradient,
  velocityTimeIntegral,
} from '../formulas.ts';
import { EJECTION_FORM } from './flow-form.ts';
import { type Flow, TISSUE } from './flows.ts';

/** A point on a display. The velocity is in cm/s, positive above the baseline. */
export interface TracePoint {
  column: number;
  velocity: number;
}

interface BeatValue {
  value: number;
  /** Two points are drawn as a caliper, more than two as a trace. */
  points: readonly TracePoint[];
  /**
   * Trace and column of the peak. Present if the peak velocity is to be measured a second time as a
   * check.
   */
  peak?: { trace: SpectralTrace; column: number };
}

/** Values of one quantity, one per beat, in the unit of its concept. */
export interface FlowQuantity {
  key: EchoConcept;
  beats: readonly BeatValue[];
  remark?: DisplayRemark | null;
  doubt?: DisplayDoubt | null;
}

const CENTIMETRES = 100;
const MILLISECONDS = 1000;

/** Seconds before and after a peak within which to search for the tip of the leading edge. */
const TIP = 0.02;

/** Returns a trace's velocity with its sign, in cm/s: positive above the baseline. */
const signed = (trace: SpectralTrace, velocity: number) =>
  trace.side === 'above' ? velocity : -velocity;

function peakCaliper(trace: SpectralTrace, column: number, velocity: number): TracePoint[] {
  return [
    { column, velocity: 0 },
    { column, velocity: signed(trace, velocity) },
  ];
}

const peakValue = (
  trace: SpectralTrace,
  column: number,
  velocity: number,
  perUnit = 1,
): BeatValue => ({
  value: velocity / perUnit,
  points: peakCaliper(trace, column, velocity),
  peak: { trace, column },
});

const peaksOf = (trace: SpectralTrace, ejections: readonly Ejection[]) =>
  ejections.map(({ peak, peakColumn }) => peakValue(trace, peakColumn, peak, CENTIMETRES));

const outlinePoints = (trace: SpectralTrace, from: number, values: readonly number[]) =>
  values.map((velocity, i) => ({
    column: Math.ceil(from) + i,
    velocity: signed(trace, velocity),
  }));

const metres = (values: readonly number[]) => values.map((value) => value / CENTIMETRES);

function fallOf(trace: SpectralTrace, { early, decelerationTime }: Filling, seconds: number) {
  return [
    { column: early.peak, velocity: signed(trace, early.height) },
    { column: early.peak + (decelerationTime ?? 0) / seconds, velocity: 0 },
  ];
}

function stenosisQuantities(
  falls: readonly { milliseconds: number; points: readonly TracePoint[] }[],
  traced: (value: (flow: readonly number[]) => number) => BeatValue[],
  seconds: number,
): FlowQuantity[] {
  const halfTimes = falls.map(({ milliseconds, points }) => ({
    value: halfTimeOfDeceleration(milliseconds),
    points,
  }));
  const gradients = traced((flow) => meanGradient(flow, seconds));
  return [
    { key: 'mv-mean-gradient', beats: gradients },
    { key: 'mv-half-time', beats: halfTimes },
  ];
}

/**
 * Returns the quantities of ventricular filling. For PW, these are E, A, their times and the VTI.
 * For CW, they are the mean gradient and the pressure half-time of the valve.
 *
 * @param seconds the seconds per column of the display.
 */
function fillingQuantities(
  { beats, doubtful }: ReturnType<typeof fillingsOf>,
  trace: SpectralTrace,
  seconds: number,
  cw: boolean,
): FlowQuantity[] {
  // E and A are measured at the leading edge (D16), and all other values on the curve.
  const outer = ({ peak }: Wave) => fastestNear(trace.leading, peak, TIP / seconds);
  const peakOf = (wave: Wave) => peakValue(trace, wave.peak, outer(wave));
  const fused = beats.some(({ atAtrialOnset }) => (atAtrialOnset ?? 0) > FILLING.fused);
  const single = beats.length > 0 && beats.every(({ atrial }) => atrial === null);
  const even = isRegular(beats.map(({ early }) => early.peak)) !== false;
  const unclear = doubtful ? 'phase' : null;
  const doubt: DisplayDoubt | null =
    unclear ?? (fused ? 'fused' : single && even ? 'one-wave' : null);
  const falling = beats.filter(({ decelerationTime }) => decelerationTime !== null);
  const outlines = beats.filter(({ outlines: found }) => found.length > 0);
  const flows = outlines.map((beat) => beat.outlines.flatMap(({ values }) => values));
  const traced = (value: (flow: readonly number[]) => number): BeatValue[] =>
    outlines.map((beat, i) => ({
      value: value(metres(flows[i] ?? [])),
      points: beat.outlines.flatMap(({ from, values }) => outlinePoints(trace, from, values)),
    }));
  const fall = (beat: Filling) => ({
    milliseconds: MILLISECONDS * (beat.decelerationTime ?? 0),
    points: fallOf(trace, beat, seconds),
  });
  if (cw) return stenosisQuantities(falling.map(fall), traced, seconds);
  return [
    {
      key: 'mitral-e',
      beats: beats.map(({ early }) => peakOf(early)),
      remark: single ? 'no-a-wave' : null,
      doubt: single ? doubt : unclear,
    },
    {
      key: 'mitral-a',
      beats: beats.flatMap(({ atrial }) => (atrial ? [peakOf(atrial)] : [])),
      doubt,
    },
    {
      key: 'deceleration-time',
      beats: falling.map(fall).map(({ milliseconds: value, points }) => ({ value, points })),
      doubt,
    },
    {
      key: 'mitral-a-duration',
      beats: beats.flatMap(({ atrial, atrialDuration }) =>
        atrial && atrialDuration !== null
          ? [
              {
                value: MILLISECONDS * atrialDuration,
                points: [
                  { column: atrial.peak - atrialDuration / seconds / 2, velocity: 0 },
                  { column: atrial.peak + atrialDuration / seconds / 2, velocity: 0 },
                ],
              },
            ]
          : [],
      ),
      doubt,
    },
    {
      key: 'mv-vti',
      beats: traced((flow) => velocityTimeIntegral(flow, seconds)),
      doubt: unclear,
    },
  ];
}

/**
 * Returns the peak of a diastolic jet, and the pressure half-time of AR or the end-diastolic
 * velocity of PR.
 */
function decayQuantities(
  flow: Flow,
  trace: SpectralTrace,
  ejections: readonly Ejection[],
  seconds: number,
) {
  const decays = ejections.flatMap(({ peakColumn }) => {
    const wave = trace.waves.find(({ peak }) => peak === peakColumn);
    const decay = wave && decayOf(trace.curve, wave, seconds);
    return wave && decay ? [{ wave, decay }] : [];
  });
  const line = ({ wave, decay }: (typeof decays)[number]): TracePoint[] => [
    { column: wave.peak, velocity: signed(trace, decay.initial) },
    { column: wave.to, velocity: signed(trace, Math.max(0, decay.end)) },
  ];
  const peaks = { beats: peaksOf(trace, ejections) };
  if (flow === 'aortic-regurgitation') {
    const beats = decays.map((one) => ({
      value: halfTimeOfSlope(one.decay.initial / CENTIMETRES, one.decay.slope / CENTIMETRES),
      points: line(one),
    }));
    return [
      { key: 'ar-vmax', ...peaks },
      { key: 'ar-half-time', beats },
    ] as const;
  }
  const ends = decays.map((one) => ({
    value: Math.max(0, one.decay.end) / CENTIMETRES,
    points: line(one),
  }));
  return [
    { key: 'pr-vmax', ...peaks },
    { key: 'pr-end-velocity', beats: ends },
  ] as const;
}

function veinQuantities(beats: readonly VeinBeat[], above: SpectralTrace): FlowQuantity[] {
  const of = (part: 's' | 'd') =>
    beats.map((beat) => peakValue(above, beat[part].peak, beat[part].height));
  return [
    { key: 'pulmonary-vein-s', beats: of('s') },
    { key: 'pulmonary-vein-d', beats: of('d') },
  ];
}

/**
 * Limits, in seconds, for the time from the end of an ejection to the start of the next filling.
 */
const RELAXATION = { shortest: 0.02, longest: 0.2 } as const;

function relaxationQuantities(display: SpectralDisplay, ejections: readonly Ejection[]) {
  const { above, spectrum } = display;
  const seconds = spectrum.secondsPerColumn;
  const starts = fillingsOf(above.curve, above.waves, seconds).beats.flatMap(
    ({ outlines }) => outlines[0]?.from ?? [],
  );
  const beats = ejections.flatMap(({ to }) => {
    const start = starts.find((from) => {
      const gap = (from - to) * seconds;
      return gap >= RELAXATION.shortest && gap <= RELAXATION.longest;
    });
    if (start === undefined) return [];
    const points = [to, start].map((column) => ({ column, velocity: 0 }));
    return [{ value: MILLISECONDS * (start - to) * seconds, points }];
  });
  return [{ key: 'ivrt', beats }] as const;
}

/** Quantities measured on a display under the assumption that it shows a certain flow. */
export interface FlowReading {
  side: SpectralTrace['side'];
  trace: SpectralTrace;
  peaks: readonly number[];
  quantities: readonly FlowQuantity[];
}

/**
 * Side of the baseline on which each flow is displayed if recorded from the apex or, for right
 * ventricular flows, from the left sternal edge. A flow without an entry is displayed below. The
 * operator may have inverted the display.
 */
const USUAL_SIDE: Readonly<Partial<Record<Flow, 'above' | 'below'>>> = {
  'mitral-inflow': 'above',
  'aortic-regurgitation': 'above',
  'pulmonary-regurgitation': 'above',
  'pulmonary-vein': 'above',
};

/**
 * If the velocity on the usual side is below this share of the velocity on the other side, the
 * signal on the usual side is only a mirror image.
 */
const MIRROR = 0.3;

const tallest = ({ waves, clear }: SpectralTrace) =>
  clear * Math.max(0, ...waves.map(({ height }) => height));

/**
 * Returns true if the waves on one side of the baseline last as long as an ejection. Waves of a
 * diastolic jet do not.
 */
function isSystolic({ curve, waves }: SpectralTrace, secondsPerColumn: number): boolean {
  const whole = ejectionsOf(curve, waves, secondsPerColumn).filter((one) => one.whole);
  const [shortest, longest] = EJECTION_FORM.seconds;
  const lasts = whole.length > 0 ? median(whole.map(({ flowTime }) => flowTime)) : null;
  return lasts !== null && lasts >= shortest && lasts <= longest;
}

/**
 * Returns the side of the baseline on which a flow is measured: the usual side, or the other side
 * if the display is inverted. The aortic valve needs a further check, because an AR jet on the
 * other side can be faster than the ejection and must not be measured as a stenosis.
 */
function sideOf(flow: Flow, display: SpectralDisplay): SpectralTrace {
  const usual = display[USUAL_SIDE[flow] ?? 'below'];
  const other = usual.side === 'above' ? display.below : display.above;
  if (tallest(usual) >= MIRROR * tallest(other)) return usual;
  const turned = flow !== 'aortic-valve' || isSystolic(other, display.spectrum.secondsPerColumn);
  return turned ? other : usual;
}

type EjectionPart = 'peak' | 'peakGradient' | 'vti' | 'meanGradient' | 'accelerationTime';

const EJECTIONS: Readonly<Partial<Record<Flow, Partial<Record<EjectionPart, EchoConcept>>>>> = {
  lvot: { peak: 'lvot-vmax', vti: 'lvot-vti' },
  'lvot-rest': { peakGradient: 'lvot-gradient-rest' },
  'lvot-provoked': { peakGradient: 'lvot-gradient-provoked' },
  'aortic-valve': { peak: 'av-vmax', vti: 'av-vti', meanGradient: 'av-mean-gradient' },
  rvot: { vti: 'rvot-vti', accelerationTime: 'rvot-acceleration' },
  'pulmonary-valve': { peak: 'pv-vmax' },
  'tricuspid-regurgitation': { peak: 'tr-vmax' },
  'mitral-regurgitation': { peak: 'mr-vmax' },
};

function ejectionQuantities(
  parts: Partial<Record<EjectionPart, EchoConcept>>,
  trace: SpectralTrace,
  ejections: readonly Ejection[],
  seconds: number,
): FlowQuantity[] {
  const whole = ejections.filter((one) => one.whole);
  const over = (value: (one: Ejection) => number): BeatValue[] =>
    whole.map((one) => ({
      value: value(one),
      points: outlinePoints(trace, one.from, one.velocities),
    }));
  const beats: Record<EjectionPart, () => BeatValue[]> = {
    peak: () => peaksOf(trace, ejections),
    peakGradient: () =>
      peaksOf(trace, ejections).map(({ value, points }) => ({
        value: pressureGradient(value),
        points,
      })),
    vti: () => over(({ velocities }) => velocityTimeIntegral(metres(velocities), seconds)),
    meanGradient: () => over(({ velocities }) => meanGradient(metres(velocities), seconds)),
    accelerationTime: () =>
      whole.map(({ from, peakColumn, peak, accelerationTime }) => ({
        value: MILLISECONDS * accelerationTime,
        points: [
          { column: from, velocity: 0 },
          { column: peakColumn, velocity: signed(trace, peak) },
        ],
      })),
  };
  return Object.entries(parts).map(([part, key]) => ({
    key,
    beats: beats[part as EjectionPart](),
  }));
}

const WALLS = {
  'septal-annulus': ['s-prime-septal', 'e-prime-septal', 'a-prime-septal'],
  'lateral-annulus': ['s-prime-lateral', 'e-prime-lateral', 'a-prime-lateral'],
  'tricuspid-annulus': ['rv-s-prime', 'rv-e-prime', 'rv-a-prime'],
  unnamed: ['s-prime-unnamed', 'e-prime-unnamed', 'a-prime-unnamed'],
} as const satisfies Record<string, readonly [EchoConcept, EchoConcept, EchoConcept]>;

/** Returns S', e' and a' of a wall. The wall is `unnamed` if the header does not identify it. */
export function readAnnulus(wall: keyof typeof WALLS, display: SpectralDisplay): FlowReading {
  const { systolic, diastolic, beats, inverted } = annularMotion(display);
  const [s, e, a] = WALLS[wall];
  const of = (key: EchoConcept, part: 'systolic' | 'early' | 'atrial'): FlowQuantity => {
    const trace = part === 'systolic' ? systolic : diastolic;
    return {
      key,
      beats: beats.flatMap((beat) => {
        const wave = beat[part];
        return wave ? [peakValue(trace, wave.peak, wave.height)] : [];
      }),
      doubt: inverted ? 'inverted' : null,
    };
  };
  return {
    side: systolic.side,
    trace: systolic,
    peaks: beats.map(({ systolic: { peak } }) => peak),
    quantities: [of(s, 'systolic'), of(e, 'early'), of(a, 'atrial')],
  };
}

/**
 * Measures the peaks of an unidentified flow, on the side of the baseline with the stronger signal.
 */
export function readUnnamed(display: SpectralDisplay): FlowReading {
  const { above, below, spectrum } = display;
  const strength = (trace: SpectralTrace) => trace.brightness * tallest(trace);
  const trace = strength(above) > strength(below) ? above : below;
  const ejections = ejectionsOf(trace.curve, trace.waves, spectrum.secondsPerColumn);
  return {
    side: trace.side,
    trace,
    peaks: ejections.map(({ peakColumn }) => peakColumn),
    quantities: [{ key: 'flow-peak-unnamed', beats: peaksOf(trace, ejections) }],
  };
}

/**
 * Returns the quantities of a display with a known flow.
 *
 * @param heartRate heart rate from the header, beats per minute.
 */
export function readFlow(
  flow: Flow,
  display: SpectralDisplay,
  cw: boolean,
  heartRate: number | null = null,
): FlowReading {
  if (TISSUE.has(flow)) return readAnnulus(flow as Exclude<keyof typeof WALLS, 'unnamed'>, display);
  const trace = sideOf(flow, display);
  const seconds = display.spectrum.secondsPerColumn;
  const ejections = ejectionsOf(trace.curve, trace.waves, seconds);
  const of = (
    quantities: readonly FlowQuantity[],
    peaks = ejections.map(({ peakColumn }) => peakColumn),
  ) => ({ side: trace.side, trace, peaks, quantities });
  switch (flow) {
    case 'mitral-inflow': {
      const other = trace.side === 'above' ? display.below : display.above;
      const found = fillingsOf(trace.curve, trace.waves, seconds, {
        opposite: other.curve,
        heartRate,
      });
      return of(
        fillingQuantities(found, trace, seconds, cw),
        found.beats.map(({ early }) => early.peak),
      );
    }
    case 'aortic-regurgitation':
    case 'pulmonary-regurgitation':
      return of(decayQuantities(flow, trace, ejections, seconds));
    case 'pulmonary-vein': {
      const beats = veinBeats(display.above.waves, display.below.waves);
      return of(
        veinQuantities(beats, display.above),
        beats.map(({ s }) => s.peak),
      );
    }
    case 'isovolumic-relaxation':
      return of(relaxationQuantities(display, ejections));
    default:
      return of(ejectionQuantities(EJECTIONS[flow] ?? {}, trace, ejections, seconds));
  }
}
