import { annularMotion } from '../measure/annular-velocity.ts';
import { type Ejection, ejectionsOf } from '../measure/ejection.ts';
import { fillingsOf } from '../measure/filling.ts';
import type { SpectralDisplay, SpectralTrace } from '../measure/spectral-trace.ts';
import { median } from '../measure/statistics.ts';
import { veinBeats } from '../measure/vein-waves.ts';
import type { ConceptKey } from '../result/concepts.ts';
import { fillingQuantities } from './filling-quantities.ts';
import { EJECTION_FORM } from './flow-form.ts';
import {
  type BeatValue,
  type FlowQuantity,
  MILLISECONDS,
  metres,
  outlinePoints,
  peakCaliper,
  peaksOf,
  signed,
} from './flow-quantity.ts';
import { type Flow, TISSUE } from './flows.ts';
import { meanGradient, pressureGradient, velocityTimeIntegral } from './formulas/doppler.ts';
import { decayQuantities, relaxationQuantities, veinQuantities } from './jet-quantities.ts';

/** What a display gives as a certain flow. */
export interface FlowReading {
  side: SpectralTrace['side'];
  trace: SpectralTrace;
  /** Columns of the peaks that mark the beats. */
  peaks: readonly number[];
  quantities: readonly FlowQuantity[];
}

/** From the apex, or for the right ventricle from the left sternal edge, unless turned. */
const USUAL_SIDE: Readonly<Partial<Record<Flow, 'above' | 'below'>>> = {
  'mitral-inflow': 'above',
  'aortic-regurgitation': 'above',
  'pulmonary-regurgitation': 'above',
  'pulmonary-vein': 'above',
};

/** A usual side this much slower than the other one holds its mirror image. */
const MIRROR = 0.3;

const tallest = ({ waves, clear }: SpectralTrace) =>
  clear * Math.max(0, ...waves.map(({ height }) => height));

/** Whether the waves of a side last as long as an ejection, which a diastolic jet does not. */
function isSystolic({ curve, waves }: SpectralTrace, secondsPerColumn: number): boolean {
  const whole = ejectionsOf(curve, waves, secondsPerColumn).filter((one) => one.whole);
  const [shortest, longest] = EJECTION_FORM.seconds;
  const lasts = whole.length > 0 ? median(whole.map(({ flowTime }) => flowTime)) : null;
  return lasts !== null && lasts >= shortest && lasts <= longest;
}

/**
 * The side on which a flow is looked for: the usual one, unless the machine turned the display. A jet
 * of AR is the faster side of a display that was not turned: it is no stenosis.
 */
function sideOf(flow: Flow, display: SpectralDisplay): SpectralTrace {
  const usual = display[USUAL_SIDE[flow] ?? 'below'];
  const other = usual.side === 'above' ? display.below : display.above;
  if (tallest(usual) >= MIRROR * tallest(other)) return usual;
  const turned = flow !== 'aortic-valve' || isSystolic(other, display.spectrum.secondsPerColumn);
  return turned ? other : usual;
}

type EjectionPart = 'peak' | 'peakGradient' | 'vti' | 'meanGradient' | 'accelerationTime';

const EJECTIONS: Readonly<Partial<Record<Flow, Partial<Record<EjectionPart, ConceptKey>>>>> = {
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
  parts: Partial<Record<EjectionPart, ConceptKey>>,
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
    note: null,
  }));
}

const WALLS = {
  'septal-annulus': ['s-prime-septal', 'e-prime-septal', 'a-prime-septal'],
  'lateral-annulus': ['s-prime-lateral', 'e-prime-lateral', 'a-prime-lateral'],
  'tricuspid-annulus': ['rv-s-prime', 'rv-e-prime', 'rv-a-prime'],
  unnamed: ['s-prime-unnamed', 'e-prime-unnamed', 'a-prime-unnamed'],
} as const satisfies Record<string, readonly [ConceptKey, ConceptKey, ConceptKey]>;

/** S', e' and a' of a wall; `unnamed` where the header does not say which. */
export function readAnnulus(wall: keyof typeof WALLS, display: SpectralDisplay): FlowReading {
  const { systolic, diastolic, beats } = annularMotion(display);
  const [s, e, a] = WALLS[wall];
  const of = (key: ConceptKey, part: 'systolic' | 'early' | 'atrial'): FlowQuantity => {
    const trace = part === 'systolic' ? systolic : diastolic;
    return {
      key,
      beats: beats.flatMap((beat) => {
        const wave = beat[part];
        return wave
          ? [{ value: wave.height, points: peakCaliper(trace, wave.peak, wave.height) }]
          : [];
      }),
      note: null,
    };
  };
  return {
    side: systolic.side,
    trace: systolic,
    peaks: beats.map(({ systolic: { peak } }) => peak),
    quantities: [of(s, 'systolic'), of(e, 'early'), of(a, 'atrial')],
  };
}

/** Whatever flow it is: the peaks of its faster side. */
export function readUnnamed(display: SpectralDisplay): FlowReading {
  const { above, below, spectrum } = display;
  const strength = (trace: SpectralTrace) => trace.brightness * tallest(trace);
  const trace = strength(above) > strength(below) ? above : below;
  const ejections = ejectionsOf(trace.curve, trace.waves, spectrum.secondsPerColumn);
  return {
    side: trace.side,
    trace,
    peaks: ejections.map(({ peakColumn }) => peakColumn),
    quantities: [{ key: 'flow-peak-unnamed', beats: peaksOf(trace, ejections), note: null }],
  };
}

/** What a display gives as the flow that it is known to show. */
export function readFlow(flow: Flow, display: SpectralDisplay, cw: boolean): FlowReading {
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
      const { beats } = fillingsOf(trace.curve, trace.waves, seconds);
      return of(
        fillingQuantities(beats, trace, seconds, cw),
        beats.map(({ early }) => early.peak),
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
