import type { Point } from '../contract/image.ts';
import type { RgbImage } from '../contract/study.ts';
import { spanOfRow } from '../measure/polygon.ts';

/**
 * Minimum chroma (out of 255) of a coloured pixel. Tinted grey maps and compression produce lower
 * chroma.
 */
const LEAST_CHROMA = 48;
/**
 * Minimum saturation (chroma divided by brightness) of a coloured pixel. The sepia and blue grey
 * maps of carts are less saturated.
 */
const LEAST_SATURATION = 0.4;
const LIT = 24;
/** If more than this share of the lit pixels are coloured, the grey map itself is tinted. */
const TINTED_SHARE = 0.6;
/** Degrees of hue on either side of a tint that still belong to the tinted map. */
const TINT_WIDTH = 40;
/** Minimum number of coloured pixels in the 3 × 3 block around a flow pixel. Flow fills an area. */
const LEAST_NEIGHBOURS = 7;
/** Minimum coloured share of a picture with colour flow. An ECG line covers less. */
const FLOW_SHARE = 0.004;

function chromaOf(red: number, green: number, blue: number) {
  const most = Math.max(red, green, blue);
  return { most, chroma: most - Math.min(red, green, blue) };
}

/** Returns the hue in degrees, where 0 is red (HSV). */
function hueOf(red: number, green: number, blue: number): number {
  const { most, chroma } = chromaOf(red, green, blue);
  if (chroma === 0) return 0;
  if (most === red) return (60 * ((green - blue) / chroma) + 360) % 360;
  if (most === green) return 60 * ((blue - red) / chroma) + 120;
  return 60 * ((red - green) / chroma) + 240;
}

function hueDistance(a: number, b: number): number {
  const turn = Math.abs(a - b) % 360;
  return Math.min(turn, 360 - turn);
}

/** Returns the hue of a tinted grey map, in steps of ten degrees. Null if the map is grey. */
function tintOf(data: Uint8Array, coloured: Uint8Array): number | null {
  const hues = new Uint32Array(36);
  let [lit, total] = [0, 0];
  for (let i = 0, p = 0; i < coloured.length; i += 1, p += 3) {
    const red = data[p] ?? 0;
    const green = data[p + 1] ?? 0;
    const blue = data[p + 2] ?? 0;
    if (Math.max(red, green, blue) >= LIT) lit += 1;
    if (!coloured[i]) continue;
    total += 1;
    const step = Math.floor(hueOf(red, green, blue) / 10) % 36;
    hues[step] = (hues[step] ?? 0) + 1;
  }
  if (total < TINTED_SHARE * lit) return null;
  return hues.indexOf(Math.max(...hues)) * 10 + 5;
}

/**
 * Returns a mask of the pixels that show colour Doppler: 1 for flow, 0 for everything else. Flow is
 * recognised by its saturation. A tinted grey map is excluded by its single hue.
 */
export function colourMask({ data, width, height }: RgbImage): Uint8Array {
  const coloured = new Uint8Array(width * height);
  for (let i = 0, p = 0; i < coloured.length; i += 1, p += 3) {
    const { most, chroma } = chromaOf(data[p] ?? 0, data[p + 1] ?? 0, data[p + 2] ?? 0);
    if (chroma >= LEAST_CHROMA && chroma >= LEAST_SATURATION * most) coloured[i] = 1;
  }
  const tint = tintOf(data, coloured);
  if (tint === null) return coloured;
  for (let i = 0, p = 0; i < coloured.length; i += 1, p += 3) {
    const hue = hueOf(data[p] ?? 0, data[p + 1] ?? 0, data[p + 2] ?? 0);
    if (hueDistance(hue, tint) <= TINT_WIDTH) coloured[i] = 0;
  }
  return coloured;
}

function neighbours(mask: Uint8Array, width: number, x: number, y: number): number {
  let sum = 0;
  for (let row = y - 1; row <= y + 1; row += 1) {
    for (let column = x - 1; column <= x + 1; column += 1) sum += mask[row * width + column] ?? 0;
  }
  return sum;
}

/**
 * Returns true if one of the areas (convex polygons in pixel coordinates) shows colour flow.
 * Coloured text and lines are ignored.
 */
export function showsColourFlow(image: RgbImage, areas: readonly (readonly Point[])[]): boolean {
  const { width, height } = image;
  const mask = colourMask(image);
  return areas.some((area) => {
    let [flow, pixels] = [0, 0];
    for (let y = 1; y < height - 1; y += 1) {
      const span = spanOfRow(area, y, width);
      if (!span) continue;
      pixels += span[1] - span[0] + 1;
      for (let x = Math.max(1, span[0]); x <= Math.min(span[1], width - 2); x += 1) {
        if (mask[y * width + x] && neighbours(mask, width, x, y) >= LEAST_NEIGHBOURS) flow += 1;
      }
    }
    return pixels > 0 && flow >= FLOW_SHARE * pixels;
  });
}
