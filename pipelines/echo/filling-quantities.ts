import { FILLING, type Filling } from '../measure/filling.ts';
import { isRegular } from '../measure/regularity.ts';
import type { SpectralTrace } from '../measure/spectral-trace.ts';
import type { Wave } from '../measure/waves.ts';
import {
  type BeatValue,
  type FlowQuantity,
  MILLISECONDS,
  metres,
  outlinePoints,
  peakCaliper,
  signed,
} from './flow-quantity.ts';
import { halfTimeOfDeceleration, meanGradient, velocityTimeIntegral } from './formulas/doppler.ts';

function fallOf(trace: SpectralTrace, { early, decelerationTime }: Filling, seconds: number) {
  return [
    { column: early.peak, velocity: signed(trace, early.height) },
    { column: early.peak + (decelerationTime ?? 0) / seconds, velocity: 0 },
  ];
}

/**
 * E, A and their times by PW; mean gradient and pressure half-time of a valve by CW.
 * @param seconds per column of the display.
 */
export function fillingQuantities(
  beats: readonly Filling[],
  trace: SpectralTrace,
  seconds: number,
  cw: boolean,
): FlowQuantity[] {
  // E and A are measured at the leading edge (D16), other flows where the signal is dense.
  const outer = ({ height }: Wave) => height + trace.skirt;
  const fused = beats.some(({ atAtrialOnset }) => (atAtrialOnset ?? 0) > FILLING.fused);
  const single = beats.length > 0 && beats.every(({ atrial }) => atrial === null);
  const even = isRegular(beats.map(({ early }) => early.peak)) !== false;
  const doubt = fused
    ? `E and A are fused: A begins above ${FILLING.fused} cm/s`
    : single && even
      ? 'one wave per beat in an even rhythm: E and A may be one'
      : null;
  const falling = beats.filter(({ decelerationTime }) => decelerationTime !== null);
  const outlines = beats.filter(({ outlines: found }) => found.length > 0);
  const flows = outlines.map((beat) => beat.outlines.flatMap(({ values }) => values));
  const traced = (value: (flow: readonly number[]) => number): BeatValue[] =>
    outlines.map((beat, i) => ({
      value: value(metres(flows[i] ?? [])),
      points: beat.outlines.flatMap(({ from, values }) => outlinePoints(trace, from, values)),
    }));
  if (cw) {
    return [
      { key: 'mv-mean-gradient', beats: traced((flow) => meanGradient(flow, seconds)), note: null },
      {
        key: 'mv-half-time',
        beats: falling.map((beat) => ({
          value: halfTimeOfDeceleration(MILLISECONDS * (beat.decelerationTime ?? 0)),
          points: fallOf(trace, beat, seconds),
        })),
        note: null,
      },
    ];
  }
  return [
    {
      key: 'mitral-e',
      beats: beats.map(({ early }) => ({
        value: outer(early),
        points: peakCaliper(trace, early.peak, outer(early)),
      })),
      note: single ? 'one wave per beat: no A is seen beside E' : null,
      doubt: single ? doubt : null,
    },
    {
      key: 'mitral-a',
      beats: beats.flatMap(({ atrial }) =>
        atrial
          ? [{ value: outer(atrial), points: peakCaliper(trace, atrial.peak, outer(atrial)) }]
          : [],
      ),
      note: null,
      doubt,
    },
    {
      key: 'deceleration-time',
      beats: falling.map((beat) => ({
        value: MILLISECONDS * (beat.decelerationTime ?? 0),
        points: fallOf(trace, beat, seconds),
      })),
      note: null,
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
      note: null,
      doubt,
    },
    { key: 'mv-vti', beats: traced((flow) => velocityTimeIntegral(flow, seconds)), note: null },
  ];
}
