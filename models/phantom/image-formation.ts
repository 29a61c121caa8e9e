import { type Beam, blurAxially, blurLaterally, createBeamformer, gaussianTaps } from './beam.ts';
import {
  amplitude,
  createEchoMapper,
  type EchoMap,
  type PolarGrid,
  sampleRange,
} from './echo-map.ts';
import { type ImageWindow, type Sector, toPolar } from './geometry.ts';
import { createNoise, type Random } from './random.ts';
import type { Scene } from './tissue.ts';

/**
 * Returns a function that converts polar brightness (0..1) to screen pixels (0..255) by bilinear
 * interpolation. The position of each pixel among the scan lines is calculated once.
 */
function scanConverter(
  { sector, samples, lines }: PolarGrid,
  { columns, rows, mmPerPixel, origin }: ImageWindow,
): (brightness: Float32Array) => Uint8Array {
  const samplesPerMm = (samples - 1) / sector.depthMm;
  const linesPerRadian = (lines - 1) / (2 * sector.halfAngle);
  // For each pixel in the field of view: its index, the index of the echo above it and to its left,
  // and its distance from that echo as shares of a sample and of a line.
  const pixel = new Uint32Array(columns * rows);
  const echo = new Uint32Array(columns * rows);
  const below = new Float64Array(columns * rows);
  const beside = new Float64Array(columns * rows);
  let seen = 0;
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
      pixel[seen] = row * columns + column;
      echo[seen] = s0 * lines + l0;
      below[seen] = s - s0;
      beside[seen] = l - l0;
      seen++;
    }
  }
  return (brightness) => {
    const pixels = new Uint8Array(columns * rows);
    for (let k = 0; k < seen; k++) {
      const i = echo[k] as number;
      const fs = below[k] as number;
      const fl = beside[k] as number;
      const upper = (brightness[i] as number) * (1 - fl) + (brightness[i + 1] as number) * fl;
      const lower =
        (brightness[i + lines] as number) * (1 - fl) + (brightness[i + lines + 1] as number) * fl;
      pixels[pixel[k] as number] = Math.round(255 * (upper * (1 - fs) + lower * fs));
    }
    return pixels;
  };
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
 * Returns a function that adds to echoes, in place, side lobes (which smear bright echoes
 * sideways), then reverberation (which extends them downwards), then haze and noise.
 */
function clutterer(
  grid: PolarGrid,
  acquisition: Acquisition,
  random: Random,
): (echoes: EchoMap) => void {
  const { samples, lines, sector } = grid;
  const wide = gaussianTaps(random.range(5, 10));
  const long = gaussianTaps(random.range(2, 5));
  const level = amplitude(acquisition.clutter);
  const near = amplitude(acquisition.nearField);
  const floor = amplitude(acquisition.noiseFloor);
  const stepMm = sector.depthMm / (samples - 1);
  const tailGain = (amplitude(acquisition.reverberation) * stepMm) / REVERBERATION_MM;
  const tailDecay = Math.exp(-stepMm / REVERBERATION_MM);
  const nearDepth = random.range(6, 18);
  const patch = createNoise(random.fork('haze'), 0.15);
  const hazePower = new Float64Array(samples * lines);
  const noisePower = new Float64Array(samples);
  for (let sample = 0; sample < samples; sample++) {
    const range = sampleRange(grid, sample);
    const haze = near * Math.exp(-range / nearDepth);
    const noise = floor * 10 ** ((range / sector.depthMm - 1) * 0.6);
    noisePower[sample] = noise * noise;
    for (let line = 0; line < lines; line++) {
      const cloud = haze * (1 + 0.5 * patch(line / lines, range / sector.depthMm));
      hazePower[sample * lines + line] = cloud * cloud;
    }
  }
  return ({ diffuse, specular }) => {
    const total = diffuse.map((strength, i) => strength + (specular[i] as number));
    const smeared = blurLaterally(
      blurAxially(total, samples, lines, long),
      samples,
      lines,
      () => wide,
    );
    const tail = new Float32Array(lines);
    for (let sample = 0; sample < samples; sample++) {
      const noise = noisePower[sample] as number;
      for (let line = 0; line < lines; line++) {
        const i = sample * lines + line;
        const echo = diffuse[i] as number;
        const lobes = level * (smeared[i] as number);
        const trailing = tail[line] as number;
        diffuse[i] = Math.sqrt(
          echo * echo + lobes * lobes + trailing * trailing + (hazePower[i] as number) + noise,
        );
        tail[line] = trailing * tailDecay + tailGain * (total[i] as number);
      }
    }
  };
}

/**
 * Returns a function that converts an envelope to brightness from 0 to 1: it applies gain, slow
 * gain errors, log compression and the grey map.
 */
function compressor(
  { samples, lines, sector }: PolarGrid,
  acquisition: Acquisition,
  random: Random,
): (envelope: Float32Array) => Float32Array {
  const drift = createNoise(random.fork('gain drift'), 0.3);
  const edge = random.chance(0.5) ? random.range(0, 18) : 0;
  // The edges of the sector are darker, because fewer elements contribute at the ends of the array.
  const fade = Float64Array.from(
    { length: lines },
    (_, line) => edge * Math.abs((2 * line) / (lines - 1) - 1) ** 6,
  );
  const drifting = new Float64Array(samples * lines);
  for (let sample = 0; sample < samples; sample++) {
    for (let line = 0; line < lines; line++) {
      drifting[sample * lines + line] = 3 * drift(line / lines, sample / samples);
    }
  }
  const axial = gaussianTaps((acquisition.compounding / sector.depthMm) * (samples - 1));
  const midSpacingMm =
    ((sector.radiusMm + sector.depthMm / 2) * 2 * sector.halfAngle) / (lines - 1);
  const lateral = gaussianTaps(acquisition.compounding / midSpacingMm);
  return (envelope) => {
    const decibel = new Float32Array(envelope.length);
    for (let sample = 0; sample < samples; sample++) {
      const gain = acquisition.gain + acquisition.gainSlope * (sample / samples - 0.5);
      for (let line = 0; line < lines; line++) {
        const i = sample * lines + line;
        const level = 20 * Math.log10((envelope[i] as number) + 1e-6) + gain;
        decibel[i] = level - (fade[line] as number) + (drifting[i] as number);
      }
    }
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
  };
}

/**
 * Returns a function that forms B-mode images of scenes, rows x columns, 0..255, black outside the
 * field of view. `texture` determines the tissue and the machine, and the function's `speckleSeed`
 * the speckle. All frames of a cine are formed by one function, so that what they share is
 * calculated once.
 */
export function createImager(
  acquisition: Acquisition,
  texture: Random,
): (scene: Scene, speckleSeed: number) => Uint8Array {
  const grid = gridFor(acquisition);
  const echoesOf = createEchoMapper(grid, texture.fork('echo'));
  const receive = createReceiver(grid, acquisition, texture);
  return (scene, speckleSeed) => receive(echoesOf(scene), speckleSeed);
}

/**
 * Returns a function that forms images from echoes that the caller has mapped. Their levels are
 * changed in place, because clutter is added to them.
 */
export function createReceiver(
  grid: PolarGrid,
  acquisition: Acquisition,
  texture: Random,
): (echoes: EchoMap, speckleSeed: number) => Uint8Array {
  const addClutter = clutterer(grid, acquisition, texture.fork('clutter'));
  const envelopeOf = createBeamformer(grid, acquisition.beam);
  const brightnessOf = compressor(grid, acquisition, texture.fork('display'));
  const pixelsOf = scanConverter(grid, acquisition.window);
  return (echoes, speckleSeed) => {
    addClutter(echoes);
    return pixelsOf(brightnessOf(envelopeOf(echoes, speckleSeed)));
  };
}
