import type { GrayImage } from '../../contract/image.ts';
import { type CalibratedRegion, scaleFor } from '../../contract/study.ts';
import { type ViewNamed, viewWords } from '../../contract/view-words.ts';
import { toSource } from '../../inference/letterbox.ts';
import { deepestPocket } from '../../measure/pocket-depth.ts';
import { median } from '../../measure/statistics.ts';
import type { Reader } from '../shared/reader.ts';
import {
  type MappedFrame,
  readUterineFrames,
  type UterineMaps,
  type UterineModels,
} from '../shared/uterine-maps.ts';
import type { FluidPocket, FluidReading, FluidReadings } from './evidence.ts';
import { NARROWEST_POCKET_MM } from './evidence.ts';

/**
 * A pocket is rejected if its depth changes by more than `mm` between the levels `low` and `high`
 * of the probability map. Such a change means that a structure within the pocket, or one of its
 * ends, is only faintly visible. The limits were chosen on phantoms
 * (models/uterine-structures/card.md).
 */
const STEADY = { low: 0.2, high: 0.7, mm: 8 } as const;

/** Maximum brightness of fluid, as a share of the brightness of its walls. */
const DARKER_THAN_WALL = 0.6;
/** Grey level below which no echo was received, for example outside the ultrasound sector. */
const NO_ECHO = 3;
/**
 * Strip in which the brightness of the wall is measured, in pixels: distances `from` and `to`
 * beyond the end of the pocket, and the half width `aside`.
 */
const BEYOND = { from: 2, to: 14, aside: 6 } as const;
/**
 * An end of a pocket is at the edge of the picture if at most `share` of the next `to` pixels
 * beyond it show an echo. An echo-free vessel or shadow is shorter than `to` and is therefore not
 * mistaken for the edge.
 */
const PICTURE = { to: 60, share: 0.2 } as const;

function levelsAround({ width, height, data }: GrayImage, x: number, rows: [number, number]) {
  const levels: number[] = [];
  for (let y = Math.round(rows[0]); y <= Math.round(rows[1]); y++) {
    for (let dx = -BEYOND.aside; dx <= BEYOND.aside; dx++) {
      const column = Math.round(x) + dx;
      if (column < 0 || column >= width || y < 0 || y >= height) continue;
      levels.push(data[y * width + column] ?? 0);
    }
  }
  return levels;
}

const typical = (levels: readonly number[]) => (levels.length > 0 ? median(levels) : 0);

const isPicture = (levels: readonly number[]) =>
  levels.filter((level) => level >= NO_ECHO).length > PICTURE.share * levels.length;

/** Returns the mean probability of fluid along the caliper, 0 to 1. */
function certainty({ maps }: UterineMaps, x: number, top: number, bottom: number): number {
  const { fluid } = maps;
  let sum = 0;
  let cells = 0;
  for (let y = Math.ceil(top); y <= bottom; y++) {
    sum += fluid.values[y * fluid.width + x] ?? 0;
    cells += 1;
  }
  return cells > 0 ? sum / cells : 0;
}

/** Returns the deepest pocket of a calibrated frame; null if no pocket is wide enough. */
export function pocketOf(
  { image, drawn }: Pick<MappedFrame, 'image' | 'drawn'>,
  region: CalibratedRegion,
): FluidPocket | null {
  const { placement, maps, gate } = drawn;
  const cell = { x: region.scale.x / placement.scaleX, y: region.scale.y / placement.scaleY };
  const pocket = deepestPocket(maps.fluid, cell, NARROWEST_POCKET_MM);
  if (!pocket) return null;
  const top = toSource(placement, pocket.top);
  const bottom = toSource(placement, pocket.bottom);
  const around = (from: number, to: number) => levelsAround(image, top.x, [from, to]);
  const inside = typical(around(top.y + BEYOND.from, bottom.y - BEYOND.from));
  const above = typical(around(top.y - BEYOND.to, top.y - BEYOND.from));
  const below = typical(around(bottom.y + BEYOND.from, bottom.y + BEYOND.to));
  const ends = [
    around(top.y - PICTURE.to, top.y - BEYOND.from),
    around(bottom.y + BEYOND.from, bottom.y + PICTURE.to),
  ];
  const depthAt = (level: number) =>
    deepestPocket(maps.fluid, cell, NARROWEST_POCKET_MM, level)?.depthMm ?? 0;
  const steady = depthAt(STEADY.low) - depthAt(STEADY.high) <= STEADY.mm;
  const confidence = certainty(drawn, pocket.top.x, pocket.top.y, pocket.bottom.y);
  const anechoic = inside <= DARKER_THAN_WALL * Math.max(above, below);
  return {
    top,
    bottom,
    cut: !ends.every(isPicture),
    confidence,
    accepted: anechoic && steady && confidence >= gate,
  };
}

/**
 * Returns the calibrated region that contains the main image. It is the largest region; smaller
 * ones are insets.
 */
function mainRegion(regions: readonly CalibratedRegion[]): CalibratedRegion | null {
  const size = ({ area }: CalibratedRegion) => (area.maxX - area.minX) * (area.maxY - area.minY);
  return regions.toSorted((a, b) => size(b) - size(a))[0] ?? null;
}

/** Words that ultrasound machines use for each quadrant, in the order of the quadrant's index. */
const QUADRANTS = [
  /\b(q1|ruq|right upper|quad(rant)? ?1)\b/,
  /\b(q2|rlq|right lower|quad(rant)? ?2)\b/,
  /\b(q3|luq|left upper|quad(rant)? ?3)\b/,
  /\b(q4|llq|left lower|quad(rant)? ?4)\b/,
] as const;

/**
 * Returns the index of the quadrant in the machine's label; null if the label states no quadrant,
 * or several.
 */
export function quadrantOf(clip: ViewNamed): number | null {
  const words = viewWords(clip);
  const named = QUADRANTS.flatMap((pattern, index) => (pattern.test(words) ? [index] : []));
  return named.length === 1 ? (named[0] ?? null) : null;
}

function read({ at, image, drawn }: MappedFrame): FluidReading {
  const region = mainRegion(at.clip.regions);
  const pocket = region && pocketOf({ image, drawn }, region);
  const held = pocket && scaleFor(at.clip, [pocket.top, pocket.bottom]) === region;
  return {
    ...at,
    quadrant: quadrantOf(at.clip),
    calibrated: region !== null,
    pocket: held ? pocket : null,
  };
}

/** Finds pockets of amniotic fluid on the frames that show fluid or the placenta. */
export const amnioticFluidReader: Reader<FluidReadings, UterineModels> = {
  stage: 'amniotic-fluid',
  label: 'Looking for amniotic fluid',
  read: async (input) => ({
    frames: await readUterineFrames(input, ['amniotic-fluid', 'placenta'], read),
    uncertainty: input.locator.uncertainty.uterus?.pocket ?? null,
  }),
};
