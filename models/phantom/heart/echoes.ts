import { blurAxially, blurLaterally, gaussianTaps } from '../beam.ts';
import {
  amplitude,
  type EchoMap,
  overPlaces,
  type Places,
  type PolarGrid,
  placesOf,
} from '../echo-map.ts';
import { emptySample, type HeartMoment, type HeartSample, MATTER, type Matter } from './heart.ts';
import type { Look } from './look.ts';
import { fromImage, type ImagePlane } from './space.ts';

/** Relative acoustic impedance of each kind of matter: 0 for blood, 1 for muscle. */
const IMPEDANCE: Readonly<Record<Matter, number>> = {
  [MATTER.outside]: 0.75,
  [MATTER.blood]: 0,
  [MATTER.atrialBlood]: 0,
  [MATTER.rightBlood]: 0,
  [MATTER.myocardium]: 1,
  [MATTER.thinWall]: 1,
  [MATTER.pericardium]: 1.5,
  [MATTER.leaflet]: 1.2,
  [MATTER.papillary]: 0.9,
  [MATTER.fluid]: 0,
};

/**
 * Number of samples and lines of the grid at which the interface strengths in `Look` were measured.
 */
const RECIPE_GRID = { samples: 224, lines: 112 } as const;

const clamp = (value: number) => Math.max(0, Math.min(1, value));

/** Returns the mean level of the left ventricular wall at a place. */
function wallLevel(look: Look, sample: HeartSample, lateral: number, waver: number): number {
  const { endocardium, epicardium, along } = sample;
  const inwards = clamp(endocardium / Math.max(0.5, endocardium - epicardium));
  let level = look.myocardium + look.septum * clamp(-lateral) + look.lateral * clamp(lateral);
  const apical = clamp(1 - along / look.apexDark.reach);
  level += look.apex * apical;
  const core = 1 - Math.abs(2 * inwards - 1);
  level += look.septalCore * clamp(-lateral) * core * core;
  if (look.trabeculae.dB > 0) {
    const near = Math.exp(-Math.max(0, endocardium) / look.trabeculae.depthMm);
    level += look.trabeculae.dB * near * clamp(0.5 + waver);
  }
  if (look.innerWall.strength > 0 && inwards < look.innerWall.share) {
    level += look.innerWall.strength * (look.blood - level);
  }
  level += look.lateralFade * clamp(1.4 * lateral - 0.2) * (look.blood - level) * 0.85;
  // In the near field, the wall at the apex may have the same grey level as blood. A person then
  // recognises the apex by its shape.
  const dark = look.apexDark.strength * clamp(1.6 * apical);
  return level + dark * (look.blood + 1 - level);
}

function matterLevel(look: Look, matter: Matter): number {
  switch (matter) {
    case MATTER.blood:
      return look.blood;
    case MATTER.atrialBlood:
      return look.atrialBlood;
    case MATTER.rightBlood:
      return look.rightBlood;
    case MATTER.thinWall:
      return look.thinWall;
    case MATTER.pericardium:
      return look.pericardium;
    case MATTER.leaflet:
      return look.leaflet;
    case MATTER.papillary:
      return look.papillary;
    case MATTER.fluid:
      return look.fluid;
    case MATTER.myocardium:
      return look.myocardium;
    default:
      return look.outside;
  }
}

/** Returns the loss in dB along a line caused by shadows and by the ends of the aperture. */
function lineLoss(look: Look, across: number, depth: number): number {
  let loss = look.edges[0] * clamp(1 - across / 0.18) ** 2;
  loss += look.edges[1] * clamp(1 - (1 - across) / 0.18) ** 2;
  for (const { at, width, dB, from } of look.shadows) {
    loss += dB * Math.exp(-(((across - at) / width) ** 2)) * clamp((depth - from) / 0.08);
  }
  return loss;
}

/**
 * Returns the power of the haze that does not move with the heart: near field, reverberation and
 * clutter.
 */
function clutterPower(look: Look, depth: number, slow: number): number {
  let power = amplitude(look.nearField.dB - (20 * depth) / look.nearField.share) ** 2;
  for (const { at, dB, width } of look.bands) {
    power += amplitude(dB) ** 2 * Math.exp(-(((depth - at) / width) ** 2));
  }
  return power + amplitude(look.haze + 4 * slow) ** 2;
}

/** What the frames of a shot have in common, for each sample of the grid. */
interface StillLook {
  places: Places;
  /** Slow and medium variation over the image. */
  slow: Float64Array;
  middle: Float64Array;
  /** Loss in dB along the line. */
  lost: Float64Array;
  /** Power of the haze. */
  clutter: Float32Array;
  /** Unevenness of surfaces. */
  patchy: Float32Array;
}

function drawStillLook(grid: PolarGrid, look: Look): StillLook {
  const { samples, lines } = grid;
  const places = placesOf(grid);
  const slow = overPlaces(places, look.noise.slow);
  const middle = overPlaces(places, look.noise.middle);
  const lost = new Float64Array(slow.length);
  const clutter = new Float32Array(slow.length);
  for (let row = 0; row < samples; row++) {
    const depth = row / (samples - 1);
    for (let line = 0; line < lines; line++) {
      const index = row * lines + line;
      lost[index] = lineLoss(look, line / (lines - 1), depth);
      clutter[index] = clutterPower(look, depth, slow[index] as number);
    }
  }
  const patchy = Float32Array.from(slow, (wide, i) => (middle[i] as number) + 0.5 * wide);
  return { places, slow, middle, lost, clutter, patchy };
}

/**
 * Returns a function that calculates the echoes of a heart in an imaging plane. The lung, liver and
 * chest wall around the heart follow `look`. What does not move with the heart is calculated once.
 */
export function createHeartMapper(
  plane: ImagePlane,
  grid: PolarGrid,
  look: Look,
): (heart: HeartMoment) => EchoMap {
  const still = drawStillLook(grid, look);
  return (heart) => addInterfaces(mapLevels(heart, plane, grid, look, still), still, grid, look);
}

/** Values for each sample of the grid: level in dB, and impedance. */
interface Levels {
  level: Float32Array;
  impedance: Float32Array;
}

function mapLevels(
  heart: HeartMoment,
  plane: ImagePlane,
  { samples, lines }: PolarGrid,
  look: Look,
  still: StillLook,
): Levels {
  const level = new Float32Array(samples * lines);
  const impedance = new Float32Array(samples * lines);
  const sample = emptySample();
  const { fine } = look.noise;
  const { ventricle } = heart;
  for (let row = 0; row < samples; row++) {
    const depth = row / (samples - 1);
    for (let line = 0; line < lines; line++) {
      const index = row * lines + line;
      const x = still.places.x[index] as number;
      const y = still.places.y[index] as number;
      const at = fromImage(plane, x, y);
      heart.probe(at.x, at.y, at.z, sample);
      const wide = still.slow[index] as number;
      const waver = still.middle[index] as number;
      let dB: number;
      if (sample.matter === MATTER.myocardium) {
        const out = Math.hypot(at.x, at.y);
        dB = wallLevel(look, sample, out > 0 ? at.x / out : 0, waver);
        dB += look.texture.myocardium * (wide + waver + 0.7 * fine(x, y));
        const hinge = Math.abs(at.z - ventricle.baseZ) + Math.abs(sample.endocardium);
        if (look.hinges > 0 && hinge < 6) dB += look.hinges * (1 - hinge / 6);
      } else if (sample.matter === MATTER.outside) {
        dB = look.outside + look.texture.outside * (wide + 0.5 * waver);
        dB += look.farField.dB * clamp((depth - look.farField.from) / (1 - look.farField.from));
        const skin = depth / look.chestWall.share;
        if (skin < 2) dB += look.chestWall.dB * (1 - skin / 2) * (0.5 + Math.cos(9 * skin) / 2);
      } else if (sample.matter === MATTER.pericardium) {
        dB = look.pericardium + 7 * (wide + 0.6 * waver) - 3;
        if (depth > look.farField.from) dB += 0.4 * look.farField.dB;
      } else {
        dB = matterLevel(look, sample.matter);
        const groove = sample.matter === MATTER.thinWall ? Math.abs(at.z - ventricle.baseZ) : 9;
        if (groove < 8) dB += look.hinges * (1 - groove / 8) * clamp(0.7 + waver);
        const blood = sample.matter <= MATTER.rightBlood || sample.matter === MATTER.fluid;
        dB += (blood ? look.texture.blood : look.texture.myocardium) * (0.7 * wide + 0.5 * waver);
      }
      level[index] = dB - (still.lost[index] as number);
      impedance[index] = IMPEDANCE[sample.matter];
    }
  }
  return { level, impedance };
}

/**
 * Adds the reflections at borders, which are strongest where the border is perpendicular to the
 * beam.
 */
function addInterfaces(
  { level, impedance }: Levels,
  { clutter, patchy }: StillLook,
  grid: PolarGrid,
  look: Look,
): EchoMap {
  const { samples, lines } = grid;
  const perSample = samples / RECIPE_GRID.samples;
  const perLine = lines / RECIPE_GRID.lines;
  const lateralTaps = gaussianTaps(0.9 * perLine);
  const smooth = blurLaterally(
    blurAxially(impedance, samples, lines, gaussianTaps(0.9 * perSample)),
    samples,
    lines,
    () => lateralTaps,
  );
  const diffuse = new Float32Array(level.length);
  const specular = new Float32Array(level.length);
  for (let row = 0; row < samples; row++) {
    const above = Math.max(0, row - 1) * lines;
    const below = Math.min(samples - 1, row + 1) * lines;
    for (let line = 0; line < lines; line++) {
      const index = row * lines + line;
      const before = row * lines + Math.max(0, line - 1);
      const after = row * lines + Math.min(lines - 1, line + 1);
      const axial =
        0.5 *
        perSample *
        Math.abs((smooth[below + line] as number) - (smooth[above + line] as number));
      const lateral =
        0.5 * perLine * Math.abs((smooth[after] as number) - (smooth[before] as number));
      const parallel = lateral > 2 * axial ? look.parallelLoss * clamp(4 * lateral) : 0;
      const dB =
        (level[index] as number) +
        clamp(0.65 + 0.7 * (patchy[index] as number)) *
          (look.interfaces.axial * axial + look.interfaces.lateral * lateral) -
        parallel;
      const echo = amplitude(dB);
      diffuse[index] = Math.sqrt(echo * echo + (clutter[index] as number));
      specular[index] = echo * clamp(2 * axial - 0.2);
    }
  }
  return { grid, diffuse, specular };
}
