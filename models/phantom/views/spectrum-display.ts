import type { NaturalDataset } from 'dcmjs';
import { blurAxially, blurLaterally, gaussianTaps } from '../beam.ts';
import type { PhantomFrame } from '../frame.ts';
import { drawText, GLYPH } from '../overlay.ts';
import type { Random } from '../random.ts';
import { type DisplayMap, mapLevel } from './display-marks.ts';

export const VESSELS = [
  'umbilical-artery',
  'middle-cerebral-artery',
  'uterine-artery',
  'ductus-venosus',
] as const;
export type Vessel = (typeof VESSELS)[number];

/** Velocity of the fastest blood in cm/s, as a function of the phase of the beat, 0 to 1. */
export interface Waveform {
  vessel: Vessel;
  beatsPerMinute: number;
  velocity(phase: number): number;
}

type Anatomy = Readonly<Record<string, number>>;

/**
 * Returns an arterial waveform: a fast rise to 1 at the peak, then an exponential fall to 0 at the
 * end.
 */
function arterial(rise: number, decay: number): (phase: number) => number {
  const floor = Math.exp(-decay);
  return (phase) => {
    if (phase < rise) return 0.5 - 0.5 * Math.cos((Math.PI * phase) / rise);
    const since = (phase - rise) / (1 - rise);
    return (Math.exp(-decay * since) - floor) / (1 - floor);
  };
}

const bump = (phase: number, at: number, width: number) => {
  const distance = Math.abs(phase - at);
  const nearest = Math.min(distance, 1 - distance);
  return Math.exp(-((nearest / width) ** 2) / 2);
};

interface Ranges {
  psv: readonly [number, number];
  /** Ratio of end-diastolic to peak systolic velocity. */
  edvShare: readonly [number, number];
  rise: readonly [number, number];
  decay: readonly [number, number];
  rate: readonly [number, number];
}

const ARTERIES: Readonly<Record<Exclude<Vessel, 'ductus-venosus'>, Ranges>> = {
  'umbilical-artery': {
    psv: [28, 65],
    edvShare: [0.2, 0.5],
    rise: [0.16, 0.24],
    decay: [1, 2.2],
    rate: [115, 165],
  },
  'middle-cerebral-artery': {
    psv: [25, 75],
    edvShare: [0.12, 0.3],
    rise: [0.13, 0.2],
    decay: [2, 3.5],
    rate: [115, 165],
  },
  'uterine-artery': {
    psv: [60, 110],
    edvShare: [0.2, 0.6],
    rise: [0.12, 0.18],
    decay: [1.6, 3],
    rate: [62, 100],
  },
};

function drawArtery(
  vessel: Exclude<Vessel, 'ductus-venosus'>,
  anatomy: Anatomy,
  random: Random,
): Waveform {
  const ranges = ARTERIES[vessel];
  const psv = anatomy.psv ?? random.range(...ranges.psv);
  const edv = psv * (anatomy.edvShare ?? random.range(...ranges.edvShare));
  const shape = arterial(random.range(...ranges.rise), random.range(...ranges.decay));
  const notched = vessel === 'uterine-artery' && (anatomy.notch ?? random.integer(0, 1)) > 0;
  const depth = notched ? random.range(0.1, 0.18) * psv : 0;
  // With absent end-diastolic flow, the curve reaches zero well before the next beat. With reversed
  // flow, it crosses zero.
  const trough = edv <= 0 ? Math.min(edv, -0.02 * psv) : edv;
  return {
    vessel,
    beatsPerMinute: anatomy.beatsPerMinute ?? random.range(...ranges.rate),
    velocity: (phase) => {
      const forward = trough + (psv - trough) * shape(phase) - depth * bump(phase, 0.42, 0.04);
      return edv === 0 ? Math.max(0, 1.25 * forward - 0.25 * psv) : forward;
    },
  };
}

/**
 * Samples a ductus venosus waveform: S in ventricular systole, D in early diastole, the trough `a`
 * during atrial contraction.
 */
function drawDuctus(anatomy: Anatomy, random: Random): Waveform {
  const s = anatomy.psv ?? random.range(45, 80);
  const a = s * (anatomy.aWaveShare ?? random.range(0.3, 0.65));
  const d = random.range(0.8, 0.95) * s;
  const valley = random.range(0.72, 0.82) * Math.min(s, d);
  return {
    vessel: 'ductus-venosus',
    beatsPerMinute: anatomy.beatsPerMinute ?? random.range(115, 165),
    velocity: (phase) =>
      valley +
      (s - valley) * bump(phase, 0.3, 0.09) +
      (d - valley) * bump(phase, 0.62, 0.08) +
      (a - valley) * bump(phase, 0.92, 0.07),
  };
}

/** Samples one beat in a vessel. Values missing from `anatomy` are sampled from a wide range. */
export function drawWaveform(vessel: Vessel, anatomy: Anatomy, random: Random): Waveform {
  return vessel === 'ductus-venosus'
    ? drawDuctus(anatomy, random)
    : drawArtery(vessel, anatomy, random);
}

interface WaveformTruth {
  psv: number;
  /** Velocity just before the next beat. */
  edv: number;
  lowest: number;
  /** Time average of the maximum velocity over the beat. */
  tamx: number;
}

/** Returns the values that a perfect trace of the beat would yield, cm/s. */
export function truthOf({ velocity, vessel }: Waveform): WaveformTruth {
  const steps = 2000;
  const values = Array.from({ length: steps }, (_, i) => velocity(i / steps));
  return {
    psv: Math.max(...values),
    edv: vessel === 'ductus-venosus' ? Math.min(...values) : velocity(1 - 1e-6),
    lowest: Math.min(...values),
    tamx: values.reduce((sum, value) => sum + value, 0) / steps,
  };
}

/** Settings of a spectral display; levels in dB below full scale. */
interface SpectrumSettings {
  columns: number;
  rows: number;
  /** Row of the baseline within the display. */
  zeroRow: number;
  secondsPerColumn: number;
  /** cm/s per row. */
  velocityPerRow: number;
  /** Whether flow towards the probe is displayed upwards or, on an inverted display, downwards. */
  forward: 'up' | 'down';
  /** Velocity in cm/s below which the machine's wall filter removes the signal. */
  wallFilter: number;
  /** Velocity of the slowest blood in the gate as a share of the fastest. High in plug flow. */
  slowestShare: number;
  /**
   * Geometric broadening: the spread of a single velocity in the spectrum, as a share of that
   * velocity.
   */
  broadening: number;
  /** Velocity resolution of the transform, cm/s. */
  resolution: number;
  /** Level of the electronic noise. */
  noise: number;
  /** Level of the flow's mirror image across the baseline. */
  mirror: number;
  dynamicRange: number;
  gain: number;
  /** Constant velocity of a neighbouring vein, across the baseline; 0 for no vein. */
  vein: number;
  /** Blurring of the picture, pixels. */
  blur: { time: number; velocity: number };
  /** Level of the flow; 0 if absent. A faint jet is well below full scale. */
  flowLevel?: number;
  /**
   * Returns the power of other signals in the gate at a velocity (cm/s) and time (s); absent if
   * there are none.
   */
  besides?: (velocity: number, seconds: number) => number;
  /** Map from level to luminance; linear if absent. */
  map?: DisplayMap;
}

export const power = (decibel: number) => 10 ** (decibel / 10);

/** Returns a value that falls smoothly from 1 to 0 around `edge`, over about `width`. */
const below = (value: number, edge: number, width: number) =>
  1 / (1 + Math.exp((2.4 * (value - edge)) / width));

/**
 * Returns the power of blood between the slowest and the fastest velocity, after the wall filter.
 */
export function flowPower(
  velocity: number,
  fastest: number,
  settings: Pick<SpectrumSettings, 'slowestShare' | 'wallFilter' | 'broadening' | 'resolution'>,
): number {
  const { slowestShare, wallFilter } = settings;
  const sign = Math.sign(fastest) || 1;
  const v = velocity * sign;
  const peak = Math.abs(fastest);
  const broadening = settings.broadening * peak + settings.resolution;
  const slow = slowestShare * peak;
  const forward = 1 - below(v, 0, broadening);
  // Nothing flows on the other side of the baseline.
  if (forward === 0) return 0;
  const inside =
    below(v, peak, broadening) * forward * (1 - 0.95 * below(v, slow, 0.2 * peak + broadening));
  const passed = 1 - below(Math.abs(velocity), wallFilter, 0.25 * wallFilter + 0.2);
  return inside * passed * Math.min(1, peak / (3 * wallFilter));
}

/**
 * Returns the grey levels (0 to 255) of a spectral display, `rows` x `columns`. `fastest` returns
 * the signed maximum velocity at a time. Velocities beyond the Nyquist limit reappear at the other
 * edge.
 */
export function drawSpectrum(
  fastest: (seconds: number) => number,
  settings: SpectrumSettings,
  random: Random,
): Uint8Array {
  const { columns, rows, zeroRow, velocityPerRow, forward, vein, besides } = settings;
  const flow = power(settings.flowLevel ?? 0);
  const span = rows * velocityPerRow;
  const up = forward === 'up' ? 1 : -1;
  const noise = power(settings.noise);
  const mirror = power(settings.mirror);
  const field = new Float32Array(rows * columns);
  for (let column = 0; column < columns; column++) {
    const seconds = column * settings.secondsPerColumn;
    const peak = fastest(seconds);
    for (let row = 0; row < rows; row++) {
      const shown = (zeroRow - row) * velocityPerRow * up;
      let level = noise;
      for (const velocity of [shown - span, shown, shown + span]) {
        level += flow * flowPower(velocity, peak, settings);
        level += flow * mirror * flowPower(-velocity, peak, settings);
        if (besides) level += besides(velocity, seconds);
        if (vein > 0) level += 0.5 * flowPower(-velocity, vein, settings);
      }
      // The power in one cell of a periodogram is exponentially distributed.
      field[row * columns + column] = -level * Math.log(1 - random.unit());
    }
  }
  const smooth = blurLaterally(
    blurAxially(field, rows, columns, gaussianTaps(settings.blur.velocity)),
    rows,
    columns,
    () => gaussianTaps(settings.blur.time),
  );
  return Uint8Array.from(smooth, (value) => {
    const decibel = 10 * Math.log10(value + 1e-12) + settings.gain;
    const level = Math.max(0, Math.min(255, 255 * (1 + decibel / settings.dynamicRange)));
    return settings.map ? mapLevel(settings.map, level) : level;
  });
}

/** Position of the display on the screen, and its settings. */
export interface Display {
  columns: number;
  rows: number;
  left: number;
  top: number;
  settings: SpectrumSettings;
}

interface ShownBeat {
  /**
   * Time of the beat's R wave on the display in seconds; negative if the beat began before the
   * display.
   */
  from: number;
  length: number;
  /** Velocity in this beat relative to a usual beat. */
  size: number;
}

/**
 * Returns random beats that fill the display. Each differs a little from the usual beat; the first
 * begins before the display does.
 */
export function drawBeats(
  beatsPerMinute: number,
  seconds: number,
  irregularity: number,
  random: Random,
  unevenness = 0.02,
): ShownBeat[] {
  const mean = 60 / beatsPerMinute;
  const beats: ShownBeat[] = [];
  for (let from = -random.unit() * mean; from < seconds; ) {
    const length = mean * (1 + irregularity * random.range(-1.7, 1.7));
    beats.push({ from, length, size: 1 + unevenness * random.normal(0, 1) });
    from += length;
  }
  return beats;
}

/**
 * Returns the phase of the beat at a time and the relative size of the beat; null before the first
 * beat.
 */
export function beatAtTime(beats: readonly ShownBeat[], time: number) {
  const beat = beats.findLast(({ from }) => from <= time);
  return beat ? { phase: (time - beat.from) / beat.length, size: beat.size } : null;
}

/**
 * Returns the fastest velocity over time, beat by beat. Each beat differs a little from the
 * previous one.
 */
export function beatsOverTime(
  waveform: Pick<Waveform, 'beatsPerMinute' | 'velocity'>,
  seconds: number,
  irregularity: number,
  random: Random,
): (time: number) => number {
  const beats = drawBeats(waveform.beatsPerMinute, seconds, irregularity, random);
  return (time) => {
    const at = beatAtTime(beats, time);
    return at ? at.size * waveform.velocity(at.phase) : 0;
  };
}

/**
 * Draws the baseline, ticks on both axes, the numbers of the scale and the settings. None of these
 * is part of the flow.
 */
export function drawMarks(
  gray: Uint8Array,
  display: Display,
  random: Random,
  tickCmPerSecond = 20,
): void {
  const { columns, rows, left, top, settings } = display;
  const plot = (column: number, row: number, level: number) => {
    if (column < 0 || row < 0 || column >= columns || row >= rows) return;
    gray[row * columns + column] = level;
  };
  const level = random.integer(110, 255);
  const thick = random.integer(1, 2);
  for (let column = left; column < left + settings.columns; column++) {
    for (let i = 0; i < thick; i++) plot(column, top + settings.zeroRow + i, level);
  }
  const step = tickCmPerSecond / settings.velocityPerRow;
  const right = left + settings.columns + 4;
  for (let tick = -12; tick <= 12; tick++) {
    const row = Math.round(top + settings.zeroRow - tick * step);
    if (row < top || row >= top + settings.rows) continue;
    for (let i = 0; i < 5; i++) plot(right + i, row, 220);
    drawText(String(tickCmPerSecond * tick), (x, y) => plot(right + 8 + x, row - 3 + y, 220));
  }
  const second = 1 / settings.secondsPerColumn;
  for (let column = left; column < left + settings.columns; column += second / 5) {
    for (let i = 0; i < 4; i++) plot(Math.round(column), top + settings.rows + 2 + i, 220);
  }
  if (random.chance(0.5)) {
    // The dots of the grid are drawn over the flow.
    for (let column = left; column < left + settings.columns; column += second) {
      for (let tick = -12; tick <= 12; tick++) {
        const row = Math.round(top + settings.zeroRow - tick * step);
        if (row >= top && row < top + settings.rows) plot(Math.round(column), row, 150);
      }
    }
  }
  const lines = ['PHANTOM', `PRF ${random.range(2, 9).toFixed(1)}`, `GN ${random.integer(0, 60)}`];
  for (const [line, text] of lines.entries()) {
    drawText(text, (x, y) => plot(14 + x, 10 + line * GLYPH.lineHeight + y, level));
  }
}

/** Copies the spectrum onto the screen. */
export function placeSpectrum(gray: Uint8Array, display: Display, spectrum: Uint8Array): void {
  const { columns, left, top, settings } = display;
  for (let row = 0; row < settings.rows; row++) {
    const from = row * settings.columns;
    gray.set(spectrum.subarray(from, from + settings.columns), (top + row) * columns + left);
  }
}

/**
 * Returns the corners and scales of a display for the ground truth. The header contains the same
 * values.
 */
export function displayValues({ left, top, settings }: Display): Record<string, number> {
  return {
    leftPixel: left,
    topPixel: top,
    rightPixel: left + settings.columns - 1,
    bottomPixel: top + settings.rows - 1,
    zeroRowPixel: settings.zeroRow,
    secondsPerColumn: settings.secondsPerColumn,
    cmPerSecondPerRow: settings.velocityPerRow,
  };
}

/** Region Data Type of a spectrum (PS3.3 C.8.5.5.1.2). */
export const SPECTRUM_TYPE = { pulsed: 3, continuous: 4 } as const;

/**
 * Describes one spectral region: seconds along x, cm/s along y. The reference pixel is on the
 * baseline (C.8.5.5.1).
 */
export function spectralRegion(
  { truth }: PhantomFrame,
  type: (typeof SPECTRUM_TYPE)[keyof typeof SPECTRUM_TYPE] = SPECTRUM_TYPE.pulsed,
): NaturalDataset {
  const at = (name: string) => truth.values?.[name] ?? 0;
  return {
    RegionSpatialFormat: 3,
    RegionDataType: type,
    RegionFlags: 0,
    RegionLocationMinX0: at('leftPixel'),
    RegionLocationMinY0: at('topPixel'),
    RegionLocationMaxX1: at('rightPixel'),
    RegionLocationMaxY1: at('bottomPixel'),
    ReferencePixelX0: 0,
    ReferencePixelY0: at('zeroRowPixel'),
    PhysicalUnitsXDirection: 4,
    PhysicalUnitsYDirection: 7,
    ReferencePixelPhysicalValueX: 0,
    ReferencePixelPhysicalValueY: 0,
    PhysicalDeltaX: at('secondsPerColumn'),
    PhysicalDeltaY: -at('cmPerSecondPerRow'),
  };
}
