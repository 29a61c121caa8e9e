import { type Beam, blurAxially, blurLaterally, formEnvelope, gaussianTaps } from './beam.ts';
import { type EchoMap, mapEchoes, type PolarGrid, sampleRange } from './echo-map.ts';
import type { ImageWindow, Sector } from './geometry.ts';
import { createNoise, type Random } from './random.ts';
import { scanConvert } from './scan-conversion.ts';
import type { Scene } from './tissue.ts';

/** What the sonographer and the machine set; levels in dB. */
export interface Acquisition {
  sector: Sector;
  window: ImageWindow;
  beam: Beam;
  gain: number;
  dynamicRange: number;
  /** Error of the time gain compensation over the whole depth. */
  gainSlope: number;
  /** Level of side lobes and reverberation relative to the echoes they come from. */
  clutter: number;
  /** Level of the haze below the probe face. */
  nearField: number;
  /** Electronic noise at full depth. */
  noiseFloor: number;
  /** Smoothing of the logarithmic image (compounding, persistence), samples. */
  compounding: number;
  /** Exponent of the display's grey map. */
  gamma: number;
}

/** Enough lines and samples that the screen, not the grid, limits the detail. */
export function gridFor({ sector, window }: Acquisition): PolarGrid {
  const samples = Math.round(Math.min(900, Math.max(320, sector.depthMm / window.mmPerPixel)));
  return { sector, samples, lines: 288 };
}

/** Side lobes smear bright echoes sideways, reverberation smears them downwards. */
function addClutter(echoes: EchoMap, acquisition: Acquisition, random: Random): void {
  const { grid, diffuse, specular } = echoes;
  const { samples, lines } = grid;
  const total = new Float32Array(diffuse.length);
  for (let i = 0; i < total.length; i++) {
    total[i] = (diffuse[i] as number) + (specular[i] as number);
  }
  const wide = gaussianTaps(random.range(5, 10));
  const long = gaussianTaps(random.range(3, 6));
  const smeared = blurLaterally(
    blurAxially(total, samples, lines, long),
    samples,
    lines,
    () => wide,
  );
  const level = 10 ** (acquisition.clutter / 20);
  const near = 10 ** (acquisition.nearField / 20);
  const floor = 10 ** (acquisition.noiseFloor / 20);
  const nearDepth = random.range(6, 18);
  const patch = createNoise(random.fork('haze'), 0.15);
  for (let sample = 0; sample < samples; sample++) {
    const range = sampleRange(grid, sample);
    const haze = near * Math.exp(-range / nearDepth);
    const noise = floor * 10 ** ((range / grid.sector.depthMm - 1) * 0.6);
    for (let line = 0; line < lines; line++) {
      const i = sample * lines + line;
      const cloud = haze * (1 + 0.5 * patch(line / lines, range / grid.sector.depthMm));
      diffuse[i] = Math.hypot(diffuse[i] as number, level * (smeared[i] as number), cloud, noise);
    }
  }
}

/** Envelope to brightness 0..1: gain, slow gain errors, log compression, grey map. */
function compress(
  envelope: Float32Array,
  grid: PolarGrid,
  acquisition: Acquisition,
  random: Random,
): Float32Array {
  const { samples, lines } = grid;
  const drift = createNoise(random.fork('gain drift'), 0.3);
  const edge = random.chance(0.5) ? random.range(0, 18) : 0;
  let decibel = new Float32Array(envelope.length);
  for (let sample = 0; sample < samples; sample++) {
    const depth = sample / samples;
    const gain = acquisition.gain + acquisition.gainSlope * (depth - 0.5);
    for (let line = 0; line < lines; line++) {
      const i = sample * lines + line;
      // Fewer elements take part at the ends of the array, so the edges of the sector fade.
      const fade = edge * Math.abs((2 * line) / (lines - 1) - 1) ** 6;
      decibel[i] =
        20 * Math.log10((envelope[i] as number) + 1e-6) +
        gain -
        fade +
        3 * drift(line / lines, depth);
    }
  }
  if (acquisition.compounding > 0) {
    const taps = gaussianTaps(acquisition.compounding);
    decibel = blurLaterally(blurAxially(decibel, samples, lines, taps), samples, lines, () => taps);
  }
  const range = acquisition.dynamicRange;
  return decibel.map((level) => {
    const fraction = level / range + 1;
    return fraction <= 0 ? 0 : fraction >= 1 ? 1 : fraction ** acquisition.gamma;
  });
}

/**
 * One B-mode image of a scene, rows x columns, 0..255; black outside the field of view.
 * `texture` fixes tissue and machine, `speckleSeed` the speckle: frames of a cine share the first.
 */
export function formImage(
  scene: Scene,
  acquisition: Acquisition,
  texture: Random,
  speckleSeed: number,
): Uint8Array {
  const grid = gridFor(acquisition);
  const echoes = mapEchoes(scene, grid, texture.fork('echo'));
  addClutter(echoes, acquisition, texture.fork('clutter'));
  const envelope = formEnvelope(echoes, acquisition.beam, speckleSeed);
  const brightness = compress(envelope, grid, acquisition, texture.fork('display'));
  return scanConvert(brightness, grid, acquisition.window);
}
