import type { GrayImage } from '../contract/image.ts';
import type { Rectangle, RgbImage } from '../contract/study.ts';
import { boundsOfRegion, regionsOf } from './regions.ts';

/**
 * This file finds text burned into a frame: names, identifiers, dates and cart settings. Text is
 * recognised by its shape and is not read. A letter is a small connected stroke that is brighter
 * (or darker) than its surroundings on all sides, by much more than the surroundings vary. Speckle
 * and tissue are not like that. Text is several such strokes of similar height side by side.
 */

/**
 * Half width of the surroundings with which a pixel is compared, as a share of the image height.
 */
const SURROUNDINGS = 0.025;
const LEAST_SURROUNDINGS = 8;
/** Minimum difference in grey levels between an ink pixel and the mean of its surroundings. */
const LEAST_DIFFERENCE = 22;
/**
 * Minimum difference between ink and the mean of its surroundings, in standard deviations of the
 * surroundings, in ascending order. The lower value finds small, soft letters on a bar. The higher
 * value finds letters on tissue without joining them to speckle.
 */
const DEVIATIONS = [0.5, 1.5] as const;
/** Minimum height of a letter in pixels, and maximum height as a share of the image height. */
const LEAST_LETTER = 5;
const TALLEST_LETTER = 0.06;
/**
 * Minimum and maximum share of ink in the letter's bounds. The maximum does not apply to a narrow
 * letter such as `l`.
 */
const LEAST_FILL = 0.12;
const MOST_FILL = 0.9;
/**
 * Maximum width of a connected part, as a multiple of its height. Touching letters are one part, so
 * a part can be as wide as a word.
 */
const WIDEST = 30;
/**
 * Minimum difference in grey levels between a letter and the ring around it, and the maximum
 * variation of the ring as a share of this difference.
 */
const LEAST_CONTRAST = 34;
const MOST_RING_VARIATION = 0.36;
/**
 * Width in pixels of the ring around a letter. The ring covers the soft edge of letters on a
 * compressed or scaled screen.
 */
const EDGE = 2;
/**
 * Minimum number of letters side by side that counts as text. Noise rarely looks like so many
 * letters.
 */
const LEAST_LETTERS = 3;
/** Maximum gap between two letters on a line, in letter heights. */
const WIDEST_GAP = 1.3;
/** Maximum gap between words of a text that was already found, in letter heights. */
const WIDEST_WORD_GAP = 2.8;
/** Maximum ratio of the heights of two letters in neighbouring lines of a block. */
const MOST_STACKED_RATIO = 1.5;
/**
 * Maximum ratio of the heights of two letters on one line, such as a capital letter next to a comma
 * or an `x`.
 */
const HEIGHT_RATIO = 2.4;
const SAME_INK = 45;
/**
 * A line of at least this many parts (letters or groups of touching letters) need not be even
 * (`isEven`).
 */
const LONG_LINE = 6;
/**
 * A line of one or two parts cannot be tested for evenness, and a streak of speckle looks like several
 * touching letters. Such a line is text only if the rings around its parts vary by at most this share
 * of the contrast, or if the contrast has at least this many grey levels. Chosen on real screens,
 * where 111 of the 112 lines that this rules out are tissue, and the other is part of a longer text.
 */
const QUIET_RING = 0.25;
const STRONG_CONTRAST = 110;
/**
 * Limits of an even line: minimum height relative to the tallest letter, maximum difference in
 * shade, and maximum distance from the baseline as a share of the height.
 */
const EVEN_HEIGHT = 0.5;
const EVEN_SHADE = 28;
const LEVEL = 0.12;
/**
 * Height of the strips above and below a line, in line heights, and the maximum share of ink in
 * them, relative to that in the line.
 */
const STRIP = 0.35;
const MOST_INK_BESIDE = 0.6;
/**
 * Margin added above and below a text, in letter heights. It covers accents, descenders and soft
 * edges.
 */
const PADDING = 0.4;
/**
 * Margin added at both ends of a text, in letter heights. It covers a letter that was missed
 * because it touches something.
 */
const END_PADDING = 0.8;
/**
 * Maximum gap between two texts on one line, in text heights, at which they are covered together
 * with the gap.
 */
const JOINED_GAP = 2;

interface Part extends Rectangle {
  ink: number;
  /** 1 if brighter than its surroundings, 2 if darker. */
  kind: number;
}

interface Letter extends Rectangle {
  kind: number;
  /** Grey level of the brightest pixel or, for dark ink, of the darkest pixel. */
  shade: number;
  /** Difference in grey levels from the ring around the part. */
  contrast: number;
  /** Variation of the ring as a share of the contrast. */
  variation: number;
  /** Minimum number of letters that the part contains. */
  count: number;
}

interface Channel {
  width: number;
  height: number;
  data: Uint8Array;
}

/**
 * Returns one mask for each of `DEVIATIONS`: 1 for a pixel brighter than its surroundings, 2 for a
 * darker one, otherwise 0.
 */
function inkOf({ width, height, data }: Channel): Uint8Array[] {
  const radius = Math.max(LEAST_SURROUNDINGS, Math.round(SURROUNDINGS * height));
  const masks = DEVIATIONS.map(() => new Uint8Array(width * height));
  const surroundings = {
    radius,
    sums: new Float64Array(width + 2 * radius + 1),
    squares: new Float64Array(width + 2 * radius + 1),
  };
  const row = (y: number) => data.subarray(y * width, (y + 1) * width);
  for (let y = 0; y < Math.min(radius, height); y += 1) addRow(surroundings, row(y), 1);
  for (let y = 0; y < height; y += 1) {
    if (y + radius < height) addRow(surroundings, row(y + radius), 1);
    if (y > radius) addRow(surroundings, row(y - radius - 1), -1);
    const rows = Math.min(height, y + radius + 1) - Math.max(0, y - radius);
    markInk(row(y), surroundings, rows, masks, y * width);
  }
  return masks;
}

/**
 * For each column, the sum of the values in the surrounding rows, and the sum of their squares. The
 * arrays are padded with zeros on both sides, so that pixels at the edges have surroundings too.
 */
interface Surroundings {
  radius: number;
  sums: Float64Array;
  squares: Float64Array;
}

function addRow({ radius, sums, squares }: Surroundings, row: Uint8Array, times: 1 | -1): void {
  for (let x = 0, to = radius + 1; x < row.length; x += 1, to += 1) {
    const value = row[x] ?? 0;
    sums[to] = (sums[to] ?? 0) + times * value;
    squares[to] = (squares[to] ?? 0) + times * value * value;
  }
}

/**
 * Marks the ink of one row in the masks, in which the row begins at `start`. `rows` is the number
 * of rows in the sums.
 */
function markInk(
  row: Uint8Array,
  { radius, sums, squares }: Surroundings,
  rows: number,
  masks: readonly Uint8Array[],
  start: number,
): void {
  const width = row.length;
  let sum = 0;
  let square = 0;
  for (let x = 0; x <= 2 * radius; x += 1) {
    sum += sums[x] ?? 0;
    square += squares[x] ?? 0;
  }
  for (let x = 0; x < width; x += 1) {
    sum += (sums[x + 2 * radius + 1] ?? 0) - (sums[x] ?? 0);
    square += (squares[x + 2 * radius + 1] ?? 0) - (squares[x] ?? 0);
    const count = rows * (Math.min(width, x + radius + 1) - Math.max(0, x - radius));
    const value = row[x] ?? 0;
    // Most pixels are ruled out here, in integer arithmetic without a division.
    if (Math.abs(value * count - sum) <= LEAST_DIFFERENCE * count) continue;
    const mean = sum / count;
    const difference = value - mean;
    const deviation = Math.sqrt(Math.max(0, square / count - mean * mean));
    for (let index = 0; index < masks.length; index += 1) {
      if (Math.abs(difference) <= (DEVIATIONS[index] ?? 0) * deviation) break;
      (masks[index] as Uint8Array)[start + x] = difference > 0 ? 1 : 2;
    }
  }
}

/**
 * Returns the bounds of each connected part of one kind of ink. Diagonal neighbours are connected.
 */
function partsOfInk(ink: Uint8Array, width: number): Part[] {
  return regionsOf(ink, width, 8).map((region) => ({
    ...boundsOfRegion(region, width),
    ink: region.size,
    kind: region.value,
  }));
}

const heightOf = ({ minY, maxY }: Rectangle) => maxY - minY + 1;
const widthOf = ({ minX, maxX }: Rectangle) => maxX - minX + 1;

function hasLetterShape(part: Part, imageHeight: number): boolean {
  const [width, height] = [widthOf(part), heightOf(part)];
  if (height < LEAST_LETTER || height > TALLEST_LETTER * imageHeight) return false;
  if (width > WIDEST * height) return false;
  const fill = part.ink / (width * height);
  // The letters `l`, `I` and `1` are solid strokes.
  return fill >= LEAST_FILL && (fill <= MOST_FILL || 2 * width <= height);
}

/**
 * Compares a part with the ring around it. Returns the contrast, the variation of the ring, the
 * shade of the ink, and the number of strokes per row.
 */
function measure({ width, height, data }: Channel, ink: Uint8Array, part: Part) {
  const { kind } = part;
  let [inside, count, strokes] = [0, 0, 0];
  let [outside, square, ring] = [0, 0, 0];
  let shade = kind === 1 ? 0 : 255;
  for (let y = Math.max(0, part.minY - EDGE); y <= part.maxY + EDGE && y < height; y += 1) {
    let before = 0;
    for (let x = Math.max(0, part.minX - EDGE); x <= part.maxX + EDGE && x < width; x += 1) {
      const at = y * width + x;
      const value = data[at] ?? 0;
      const own = ink[at] ?? 0;
      if (own === kind) {
        inside += value;
        count += 1;
        shade = kind === 1 ? Math.max(shade, value) : Math.min(shade, value);
        if (before !== kind) strokes += 1;
      } else {
        // The background between bright letters counts as ring, because it is darker than the mean
        // of the letters.
        outside += value;
        square += value * value;
        ring += 1;
      }
      before = own;
    }
  }
  const mean = outside / ring;
  return {
    contrast: count > 0 && ring > 0 ? Math.abs(inside / count - mean) : 0,
    variation: Math.sqrt(Math.max(0, square / ring - mean * mean)),
    shade,
    strokesPerRow: strokes / heightOf(part),
  };
}

/**
 * Returns a part as a letter, or as several touching letters. Null if its contrast with the ring is
 * not much larger than the variation of the ring, or if it is wide but has too few strokes for
 * several letters.
 */
function letterOf(channel: Channel, ink: Uint8Array, part: Part): Letter | null {
  if (!hasLetterShape(part, channel.height)) return null;
  const { contrast, variation, shade, strokesPerRow } = measure(channel, ink, part);
  if (contrast < LEAST_CONTRAST || variation > MOST_RING_VARIATION * contrast) return null;
  const count = Math.max(1, Math.round(widthOf(part) / (0.9 * heightOf(part))));
  // Text has at least one upright stroke per letter. A bright reflector or an ECG, however wide,
  // has only one.
  if (count > 2 && strokesPerRow < 0.75 * count) return null;
  const { minX, minY, maxX, maxY, kind } = part;
  return { minX, minY, maxX, maxY, kind, shade, contrast, variation: variation / contrast, count };
}

function sameLine(a: Letter, b: Letter, widestGap = WIDEST_GAP): boolean {
  if (a.kind !== b.kind || Math.abs(a.shade - b.shade) > SAME_INK) return false;
  const low = Math.min(heightOf(a), heightOf(b));
  const high = Math.max(heightOf(a), heightOf(b));
  if (high > HEIGHT_RATIO * low) return false;
  const shared = Math.min(a.maxY, b.maxY) - Math.max(a.minY, b.minY) + 1;
  const gap = Math.max(a.minX, b.minX) - Math.min(a.maxX, b.maxX) - 1;
  return shared >= 0.6 * low && gap <= widestGap * high;
}

/**
 * Number of letters at the end of a line that a further letter is compared with before it joins the
 * line.
 */
const RECENT = 6;

function linesOf(letters: readonly Letter[]): Letter[][] {
  const lines: Letter[][] = [];
  for (const letter of letters.toSorted((a, b) => a.minX - b.minX)) {
    const line = lines.find((one) => one.slice(-RECENT).some((known) => sameLine(known, letter)));
    if (line) line.push(letter);
    else lines.push([letter]);
  }
  return lines;
}

function boundsOf(letters: readonly Rectangle[]): Rectangle {
  return {
    minX: Math.min(...letters.map(({ minX }) => minX)),
    minY: Math.min(...letters.map(({ minY }) => minY)),
    maxX: Math.max(...letters.map(({ maxX }) => maxX)),
    maxY: Math.max(...letters.map(({ maxY }) => maxY)),
  };
}

function padded(area: Rectangle, { width, height }: Pick<GrayImage, 'width' | 'height'>) {
  const [dx, dy] = [END_PADDING, PADDING].map((share) => Math.ceil(share * heightOf(area)) + 1);
  return {
    minX: Math.max(0, area.minX - (dx ?? 0)),
    minY: Math.max(0, area.minY - (dy ?? 0)),
    maxX: Math.min(width - 1, area.maxX + (dx ?? 0)),
    maxY: Math.min(height - 1, area.maxY + (dy ?? 0)),
  };
}

/** Returns the share of ink of one kind in an area. Areas outside the image contain no ink. */
function inkShare(ink: Uint8Array, { width, height }: Channel, area: Rectangle, kind: number) {
  let count = 0;
  for (let y = Math.max(0, area.minY); y <= area.maxY && y < height; y += 1) {
    for (let x = Math.max(0, area.minX); x <= area.maxX && x < width; x += 1) {
      if (ink[y * width + x] === kind) count += 1;
    }
  }
  return count / (widthOf(area) * heightOf(area));
}

/**
 * Returns true if the strips above and below a line contain much less ink than the line itself.
 * Noise would extend into the strips.
 */
function isApart(channel: Channel, ink: Uint8Array, line: readonly Letter[]): boolean {
  const [first] = line;
  if (!first) return false;
  const area = boundsOf(line);
  const strip = Math.max(2, Math.round(STRIP * heightOf(area)));
  const share = (minY: number, maxY: number) =>
    inkShare(ink, channel, { ...area, minY, maxY }, first.kind);
  const above = share(area.minY - 1 - strip, area.minY - 2);
  const below = share(area.maxY + 2, area.maxY + 1 + strip);
  return (above + below) / 2 <= MOST_INK_BESIDE * share(area.minY, area.maxY);
}

/**
 * Returns true if the letters of a line are as even as in a short text: similar in height and
 * shade, and on one baseline. Three echoes of tissue or flow side by side are rarely even. Long lines
 * need not be, and the parts of a line of fewer than three must be distinct instead.
 */
function isEven(line: readonly Letter[]): boolean {
  if (line.length >= LONG_LINE) return true;
  if (line.length < 3) {
    return line.every(
      ({ contrast, variation }) => variation <= QUIET_RING || contrast >= STRONG_CONTRAST,
    );
  }
  const heights = line.map(heightOf);
  const shades = line.map(({ shade }) => shade);
  const feet = line.map(({ maxY }) => maxY).toSorted((a, b) => a - b);
  const foot = feet[Math.floor(feet.length / 2)] ?? 0;
  const tallest = Math.max(...heights);
  const level = feet.filter((one) => Math.abs(one - foot) <= Math.max(1, LEVEL * tallest)).length;
  return (
    Math.min(...heights) >= EVEN_HEIGHT * tallest &&
    Math.max(...shades) - Math.min(...shades) <= EVEN_SHADE &&
    level >= (2 / 3) * line.length
  );
}

function textIn(channel: Channel, ink: Uint8Array): Rectangle[] {
  const letters = partsOfInk(ink, channel.width).flatMap((part) => {
    const letter = letterOf(channel, ink, part);
    return letter ? [letter] : [];
  });
  const lines = linesOf(letters);
  const texts = lines.filter((line) => {
    const count = line.reduce((sum, letter) => sum + letter.count, 0);
    return count >= LEAST_LETTERS && isEven(line) && isApart(channel, ink, line);
  });
  return withNeighbours(texts, lines).map((line) => padded(boundsOf(line), channel));
}

/**
 * Adds strings of one or two letters that are beside a text, or directly above or below it, as in a
 * block of settings (`Gn -2`). The neighbours of the added strings are then added in the same way.
 */
function withNeighbours(texts: readonly Letter[][], lines: readonly Letter[][]): Letter[][] {
  const found = [...texts];
  let open = lines.filter((line) => line.length < LEAST_LETTERS && !texts.includes(line));
  for (let at = 0; at < found.length; at += 1) {
    const text = found[at] ?? [];
    const isNeighbour = (line: readonly Letter[]) =>
      line.some((letter) =>
        text.some((other) => sameLine(letter, other, WIDEST_WORD_GAP) || isStacked(letter, other)),
      );
    found.push(...open.filter(isNeighbour));
    open = open.filter((line) => !found.includes(line));
  }
  return found;
}

function isStacked(a: Letter, b: Letter): boolean {
  if (a.kind !== b.kind || Math.abs(a.shade - b.shade) > EVEN_SHADE) return false;
  const low = Math.min(heightOf(a), heightOf(b));
  const high = Math.max(heightOf(a), heightOf(b));
  const apart = Math.max(a.minY, b.minY) - Math.min(a.maxY, b.maxY) - 1;
  const gap = Math.max(a.minX, b.minX) - Math.min(a.maxX, b.maxX) - 1;
  return high <= MOST_STACKED_RATIO * low && apart >= 0 && apart <= high && gap <= high;
}

function joined(texts: readonly Rectangle[]): Rectangle[] {
  const lines: Rectangle[] = [];
  for (const text of texts.toSorted((a, b) => a.minX - b.minX)) {
    const at = lines.findIndex((line) => {
      const low = Math.min(heightOf(line), heightOf(text));
      const shared = Math.min(line.maxY, text.maxY) - Math.max(line.minY, text.minY) + 1;
      const similar = Math.max(heightOf(line), heightOf(text)) <= 1.5 * low;
      return similar && shared >= 0.6 * low && text.minX - line.maxX <= JOINED_GAP * low;
    });
    const line = lines[at];
    if (line) lines[at] = boundsOf([line, text]);
    else lines.push(text);
  }
  return lines;
}

/**
 * Returns the channels in which text may differ from its surroundings: one for grey images, three
 * for colour images.
 */
function channelsOf({ width, height, data }: RgbImage): Channel[] {
  const channel = (offset: number) => {
    const values = new Uint8Array(width * height);
    for (let i = 0, p = offset; i < values.length; i += 1, p += 3) values[i] = data[p] ?? 0;
    return { width, height, data: values };
  };
  return isGrey(data) ? [channel(0)] : [channel(0), channel(1), channel(2)];
}

function isGrey(data: Uint8Array): boolean {
  for (let p = 0; p < data.length; p += 3) {
    if (data[p] !== data[p + 1] || data[p] !== data[p + 2]) return false;
  }
  return true;
}

/**
 * Returns rectangles that cover the text in a frame. Text is found by its shape and not read, so
 * the numbers of a ruler and the letters of a body mark are covered too.
 */
export function burnedInText(frame: RgbImage): Rectangle[] {
  const found = channelsOf(frame).flatMap((channel) =>
    inkOf(channel).flatMap((ink) => textIn(channel, ink)),
  );
  return joined(found);
}
