import { type Beam, blurAxially, blurLaterally, formEnvelope, gaussianTaps } from './beam.ts';
import { amplitude, type EchoMap, mapEchoes, type PolarGrid, sampleRange } from './echo-map.ts';
import { type ImageWindow, type Sector, toPolar } from './geometry.ts';
import { createNoise, type Random } from './random.ts';
import type { Scene } from './tissue.ts';

/** Converts polar brightness (0..1) to screen pixels (0..255) by bilinear interpolation. */
function scanConvert(brightness: Float32Array, grid: PolarGrid, window: ImageWindow): Uint8Array {
  const { sector, samples, lines } = grid;
  const { columns, rows, mmPerPixel, origin } = window;
  const pixels = new Uint8Array(columns * rows);
  const samplesPerMm = (samples - 1) / sector.depthMm;
  const linesPerRadian = (lines - 1) / (2 * sector.halfAngle);
  for (let row = 0; row < rows; row++) {
    const y = (row - origin.y) * mmPerPixel;
    for (let column = 0; column < columns; column++) {
      const x = (column - origin.x) * mmPerPixel;
      const { range, angle } = toPolar(sector, x, y);
      const s = range * samplesPerMm;
      const l = (angle + sector.halfAngle) * linesPerRadian;
      if (s < 0 || l < 0 || s > samples - 1 || l > lines - 1) continue;
      const s0 = Math.min(samples - 2, Math.floor(s));
      const l0 = Math.min(lines - 2, Math.floor(l));
      const fs = s - s0;
      const fl = l - l0;
      const i = s0 * lines + l0;
      const upper = (brightness[i] as number) * (1 - fl) + (brightness[i + 1] as number) * fl;
      const lower =
        (brightness[i + lines] as number) * (1 - fl) + (brightness[i + lines + 1] as number) * fl;
      pixels[row * columns + column] = Math.round(255 * (upper * (1 - fs) + lower * fs));
    }
  }
  return pixels;
}

/** Settings chosen by the sonographer and the machine; levels in dB. */
export interface Acquisition {
  sector: Sector;
  window: ImageWindow;
  beam: Beam;
  gain: number;
  dynamicRange: number;
  /** Error of the time gain compensation, accumulated over the whole depth. */
  gainSlope: number;
  /** Level of the side lobes relative to the echoes causing them. */
  clutter: number;
  /** Level of the tail below strong echoes (reverberation between layers). */
  reverberation: number;
  /** Level of the haze below the probe face. */
  nearField: number;
  /** Electronic noise at full depth. */
  noiseFloor: number;
  /** Smoothing of the logarithmic image (compounding, persistence), mm. */
  compounding: number;
  /** Exponent of the display's grey map. */
  gamma: number;
}

/** Returns a grid finer than the screen, so that the screen limits the detail. */
function gridFor({ sector, window }: Acquisition): PolarGrid {
  const pixels = sector.depthMm / window.mmPerPixel;
  return { sector, samples: Math.round(Math.min(560, Math.max(320, pixels))), lines: 240 };
}

/** Distance in mm over which the tail below a strong echo decays by a factor of e. */
const REVERBERATION_MM = 9;

/**
 * Adds side lobes (which smear bright echoes sideways), then reverberation (which extends them
 * downwards), then noise.
 */
function addClutter(echoes: EchoMap, acquisition: Acquisition, random: Random): void {
  const { grid, diffuse, specular } = echoes;
  const { samples, lines } = grid;
  const total = diffuse.map((level, i) => level + (specular[i] as number));
  const wide = gaussianTaps(random.range(5, 10));
  const long = gaussianTaps(random.range(2, 5));
  const smeared = blurLaterally(
    blurAxially(total, samples, lines, long),
    samples,
    lines,
    () => wide,
  );
  const level = amplitude(acquisition.clutter);
  const near = amplitude(acquisition.nearField);
  const floor = amplitude(acquisition.noiseFloor);
  const stepMm = grid.sector.depthMm / (samples - 1);
  const tailGain = (amplitude(acquisition.reverberation) * stepMm) / REVERBERATION_MM;
  const tailDecay = Math.exp(-stepMm / REVERBERATION_MM);
  const tail = new Float32Array(lines);
  const nearDepth = random.range(6, 18);
  const patch = createNoise(random.fork('haze'), 0.15);
  for (let sample = 0; sample < samples; sample++) {
    const range = sampleRange(grid, sample);
    const haze = near * Math.exp(-range / nearDepth);
    const noise = floor * 10 ** ((range / grid.sector.depthMm - 1) * 0.6);
    for (let line = 0; line < lines; line++) {
      const i = sample * lines + line;
      const cloud = haze * (1 + 0.5 * patch(line / lines, range / grid.sector.depthMm));
      const echo = diffuse[i] as number;
      const lobes = level * (smeared[i] as number);
      const trailing = tail[line] as number;
      diffuse[i] = Math.sqrt(
        echo * echo + lobes * lobes + trailing * trailing + cloud * cloud + noise * noise,
      );
      tail[line] = trailing * tailDecay + tailGain * (total[i] as number);
    }
  }
}

/**
 * Converts the envelope to brightness from 0 to 1: applies gain, slow gain errors, log compression
 * and the grey map.
 */
function compress(
  envelope: Float32Array,
  grid: PolarGrid,
  acquisition: Acquisition,
  random: Random,
): Float32Array {
  const { samples, lines, sector } = grid;
  const drift = createNoise(random.fork('gain drift'), 0.3);
  const edge = random.chance(0.5) ? random.range(0, 18) : 0;
  const decibel = new Float32Array(envelope.length);
  for (let sample = 0; sample < samples; sample++) {
    const depth = sample / samples;
    const gain = acquisition.gain + acquisition.gainSlope * (depth - 0.5);
    for (let line = 0; line < lines; line++) {
      const i = sample * lines + line;
      // The edges of the sector are darker, because fewer elements contribute at the ends of the
      // array.
      const fade = edge * Math.abs((2 * line) / (lines - 1) - 1) ** 6;
      const drifting = 3 * drift(line / lines, depth);
      decibel[i] = 20 * Math.log10((envelope[i] as number) + 1e-6) + gain - fade + drifting;
    }
  }
  const axial = gaussianTaps((acquisition.compounding / sector.depthMm) * (samples - 1));
  const midSpacingMm =
    ((sector.radiusMm + sector.depthMm / 2) * 2 * sector.halfAngle) / (lines - 1);
  const lateral = gaussianTaps(acquisition.compounding / midSpacingMm);
  const smooth = blurLaterally(
    blurAxially(decibel, samples, lines, axial),
    samples,
    lines,
    () => lateral,
  );
  return smooth.map((level) => {
    const fraction = level / acquisition.dynamicRange + 1;
    return Math.max(0, Math.min(1, fraction)) ** acquisition.gamma;
  });
}

/**
 * Forms one B-mode image of a scene, rows x columns, 0..255, black outside the field of view.
 * `texture` determines the tissue and the machine, `speckleSeed` the speckle. All frames of a cine
 * share the same `texture`.
 */
export function formImage(
  scene: Scene,
  acquisition: Acquisition,
  texture: Random,
  speckleSeed: number,
): Uint8Array {
  const echoes = mapEchoes(scene, gridFor(acquisition), texture.fork('echo'));
  return receiveEchoes(echoes, acquisition, texture, speckleSeed);
}

/**
 * Forms the image from echoes that the caller has mapped. Their levels are changed in place,
 * because clutter is added to them.
 */
export function receiveEchoes(
  echoes: EchoMap,
  acquisition: Acquisition,
  texture: Random,
  speckleSeed: number,
): Uint8Array {
  const { grid } = echoes;
  addClutter(echoes, acquisition, texture.fork('clutter'));
  const envelope = formEnvelope(echoes, acquisition.beam, speckleSeed);
  const brightness = compress(envelope, grid, acquisition, texture.fork('display'));
  return scanConvert(brightness, grid, acquisition.window);
}
