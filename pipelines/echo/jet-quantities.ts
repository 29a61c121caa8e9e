import type { Ejection } from '../measure/ejection.ts';
import { fillingsOf } from '../measure/filling.ts';
import { decayOf } from '../measure/jet-decay.ts';
import type { SpectralDisplay, SpectralTrace } from '../measure/spectral-trace.ts';
import type { VeinBeat } from '../measure/vein-waves.ts';
import {
  CENTIMETRES,
  type FlowQuantity,
  MILLISECONDS,
  peakCaliper,
  peaksOf,
  signed,
  type TracePoint,
} from './flow-quantity.ts';
import type { Flow } from './flows.ts';
import { halfTimeOfSlope } from './formulas/doppler.ts';

/** Pressure half-time and peak of a diastolic jet; for PR also the velocity at its end. */
export function decayQuantities(
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
  const peaks = { note: null, beats: peaksOf(trace, ejections) };
  if (flow === 'aortic-regurgitation') {
    const beats = decays.map((one) => ({
      value: halfTimeOfSlope(one.decay.initial / CENTIMETRES, one.decay.slope / CENTIMETRES),
      points: line(one),
    }));
    return [
      { key: 'ar-vmax', ...peaks },
      { key: 'ar-half-time', beats, note: null },
    ] as const;
  }
  const ends = decays.map((one) => ({
    value: Math.max(0, one.decay.end) / CENTIMETRES,
    points: line(one),
  }));
  return [
    { key: 'pr-vmax', ...peaks },
    { key: 'pr-end-velocity', beats: ends, note: null },
  ] as const;
}

/** S and D of a pulmonary vein. */
export function veinQuantities(beats: readonly VeinBeat[], above: SpectralTrace): FlowQuantity[] {
  const of = (part: 's' | 'd') =>
    beats.map((beat) => ({
      value: beat[part].height,
      points: peakCaliper(above, beat[part].peak, beat[part].height),
    }));
  return [
    { key: 'pulmonary-vein-s', beats: of('s'), note: null },
    { key: 'pulmonary-vein-d', beats: of('d'), note: null },
  ];
}

/** From the end of an ejection to the beginning of the filling that follows it, seconds. */
const RELAXATION = { shortest: 0.02, longest: 0.2 } as const;

/** IVRT of a display that shows both the outflow and the inflow. */
export function relaxationQuantities(display: SpectralDisplay, ejections: readonly Ejection[]) {
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
  return [{ key: 'ivrt', beats, note: null }] as const;
}
