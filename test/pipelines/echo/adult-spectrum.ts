import { createRandom } from '../../../models/phantom/random.ts';
import {
  drawSpectrum,
  type SpectrumSettings,
} from '../../../models/phantom/views/spectrum-picture.ts';
import type { GrayImage } from '../../../pipelines/contract/image.ts';
import type { SweepKind, SweepRegion } from '../../../pipelines/contract/study.ts';

/** Velocity of the fastest blood in cm/s, towards the probe positive, by seconds of a beat. */
export type Flow = (seconds: number) => number;

/** 0 at both ends, 1 at `peak` of `from` to `to`; straight, or a dome. */
function wave(from: number, peak: number, to: number, shape: 'triangle' | 'dome'): Flow {
  return (t) => {
    if (t <= from || t >= to) return 0;
    const share = t < peak ? (t - from) / (peak - from) : (to - t) / (to - peak);
    return shape === 'triangle' ? share : 1 - (1 - share) ** 2;
  };
}

/** The fall from `size` at `from` to `end` at `to`, with a quick rise before and fall after. */
function ramp(from: number, to: number, end: number): Flow {
  return (t) => {
    if (t < from || t > to) return 0;
    const rise = 0.04;
    if (t < from + rise) return (t - from) / rise;
    if (t > to - rise) return (end * (to - t)) / rise;
    return 1 - ((1 - end) * (t - from - rise)) / (to - from - 2 * rise);
  };
}

const sum =
  (...flows: Flow[]): Flow =>
  (t) =>
    flows.reduce((total, flow) => total + flow(t), 0);
const times =
  (size: number, flow: Flow): Flow =>
  (t) =>
    size * flow(t);

/** Systole of a beat begins at its second 0; the ejection lasts `systole` seconds. */
export const FLOWS = {
  /** Ejection through a valve or an outflow tract: away from the probe. */
  ejection: ({ peak = 100, to = 0.32, at = 0.1 }): Flow =>
    times(-peak, wave(0.06, at + 0.06, to + 0.06, 'dome')),
  /** Mitral filling; DT in seconds. */
  filling: ({
    e = 80,
    a = 60,
    deceleration = 0.19,
    beat = 0.9,
    early = 0.45,
    aDuration = 0.13,
  }): Flow =>
    sum(
      times(e, wave(early, early + 0.08, early + 0.08 + deceleration, 'triangle')),
      times(a, wave(beat - aDuration, beat - aDuration / 2, beat, 'triangle')),
    ),
  /** Annulus: S' towards, e' and a' away from the probe. */
  annulus: ({ s = 9, e = 11, a = 8, beat = 0.9, early = 0.45 }): Flow =>
    sum(
      times(s, wave(0.06, 0.16, 0.36, 'dome')),
      times(-e, wave(early, early + 0.06, early + 0.14, 'triangle')),
      times(-a, wave(beat - 0.12, beat - 0.06, beat - 0.01, 'triangle')),
    ),
  /** Aortic regurgitation, towards the probe; the velocity falls to `end` of its peak. */
  regurgitation: ({ peak = 400, end = 0.6, beat = 0.9, from = 0.42 }): Flow =>
    times(peak, ramp(from, beat, end)),
} as const;

export interface Given {
  seed: number;
  flow: Flow;
  /** Seconds. */
  beat?: number;
  beats?: number;
  kind?: SweepKind;
  /** cm/s at the end of the larger side. */
  reach: number;
  /** Share of the rows above the baseline. */
  above?: number;
  /** A wall moves as one: its trace is a line. */
  tissue?: boolean;
  noise?: number;
  /** Share by which beats differ in length. */
  irregularity?: number;
}

/** A spectral display of a repeated flow, with its baseline and speckle. */
export function adultSpectrum(given: Given): { image: GrayImage; sweep: SweepRegion } {
  const { seed, flow, beat = 0.9, beats = 3.6, reach, above = 0.5, tissue = false } = given;
  const random = createRandom(seed);
  const [columns, rows] = [800, 360];
  const zeroRow = Math.round(rows * above);
  const larger = Math.max(above, 1 - above) * rows;
  const secondsPerColumn = (beats * beat) / columns;
  const velocityPerRow = reach / larger;
  const lengths: number[] = [];
  const irregular = random.fork('beats');
  for (let i = 0; i < beats + 3; i++) {
    lengths.push(beat * (1 + (given.irregularity ?? 0.01) * irregular.range(-1.7, 1.7)));
  }
  const start = random.range(0, beat);
  const velocity = (time: number) => {
    let left = time + start;
    for (const length of lengths) {
      if (left < length) return flow((left / length) * beat);
      left -= length;
    }
    return 0;
  };
  const dynamicRange = random.range(30, 46);
  const settings: SpectrumSettings = {
    columns,
    rows,
    zeroRow,
    secondsPerColumn,
    velocityPerRow,
    forward: 'up',
    wallFilter: tissue ? 0.4 : 0.04 * reach,
    slowestShare: tissue ? 0.8 : given.kind === 'cw' ? 0.1 : random.range(0.4, 0.7),
    broadening: random.range(0.01, 0.03),
    resolution: reach / 100,
    noise: random.range(-12, 2) - dynamicRange + (given.noise ?? 0),
    mirror: random.range(-50, -30),
    dynamicRange,
    gain: random.range(-8, 2),
    vein: 0,
    blur: { time: random.range(0.7, 1.6), velocity: random.range(0.7, 1.4) },
  };
  const data = drawSpectrum(velocity, settings, random.fork('speckle'));
  for (let column = 0; column < columns; column++) data[zeroRow * columns + column] = 200;
  return {
    image: { width: columns, height: rows, data },
    sweep: {
      kind: given.kind ?? 'pw',
      area: { minX: 0, minY: 0, maxX: columns - 1, maxY: rows - 1 },
      secondsPerPixel: secondsPerColumn,
      valuePerPixel: velocityPerRow,
      unit: 'cm/s',
      zeroRow,
      yDirection: 'up',
      renewal: 'unspecified',
      correctionAngle: null,
      steeringAngle: null,
      transducerFrequency: null,
      pulseRepetitionFrequency: null,
      sampleVolume: null,
    },
  };
}
