import sharp from 'sharp';
import { freeMemory } from '../../../src/platform/free-memory.ts';
import type { Point } from '../../contract/image.ts';
import type { RgbImage } from '../../contract/study.ts';
import type { Caliper, Measurement } from '../../result/envelope.ts';
import { DRAFT_NOTICE, isShown, SIGNED_NOTICE } from '../../result/render/statement.ts';
import { asHeading } from '../../result/render/unit-text.ts';
import { shortText, typeset } from '../../result/render/value-text.ts';
import { toSvg } from '../drawing/draw.ts';
import { disc, ellipsePoints, label, line, type Mark, rectangle } from '../drawing/drawing.ts';
import { drawOver, enlarged } from './raster.ts';

/**
 * Minimum width of a preview. Smaller frames are enlarged to this width to keep the labels sharp.
 */
const LEAST_WIDTH = 1024;

/**
 * Colours of the calipers. Red-green blind readers can distinguish them, and none of them resembles
 * the yellow that most carts use.
 */
const COLOURS = ['#39d0ff', '#ffb000', '#7dff8a', '#ff7ac8', '#ffffff', '#b79cff'];
const NOT_ACCEPTED = '#9a9a9a';
const HALO = '#000000';
const GROUND = '#1b1b1b';

/**
 * zlib compression level. Level 3 compresses speckle nearly as much as level 6, in two thirds of
 * the time.
 */
const COMPRESSION = 3;

/** Text size relative to the width, chosen to be legible when the preview is shown small. */
const TEXT_PER_WIDTH = 1 / 46;
const STROKE_PER_WIDTH = 1 / 450;

/** Draws a cross with a dark edge, so that it is visible on both bright and dark tissue. */
function cross({ x, y }: Point, colour: string, stroke: number): Mark[] {
  const arm = 5 * stroke;
  const arms = (of: string, width: number) => [
    line({ x: x - arm, y }, { x: x + arm, y }, of, width),
    line({ x, y: y - arm }, { x, y: y + arm }, of, width),
  ];
  return [...arms(HALO, 2 * stroke), ...arms(colour, stroke)];
}

interface CaliperLook {
  scale: number;
  colour: string;
  stroke: number;
  /** False for the dashed outline of a value that was not accepted. */
  solid: boolean;
}

function caliperMarks(caliper: Caliper, { scale, colour, stroke, solid }: CaliperLook): Mark[] {
  const points = caliper.points.map(([x, y]) => ({ x: (x + 0.5) * scale, y: (y + 0.5) * scale }));
  if (caliper.type === 'polyline' || caliper.type === 'polygon') {
    const closed = caliper.type === 'polygon';
    const dash = solid ? {} : { dash: [4 * stroke, 3 * stroke] as const };
    return [{ kind: 'path', points, closed, colour, width: stroke, ...dash }];
  }
  const [a, b, c, d] = points;
  const ends = points.flatMap((point) => cross(point, colour, stroke));
  if (caliper.type === 'line' || !a || !b || !c || !d) {
    const track: Mark = { kind: 'path', points, colour, width: stroke, dash: [stroke, 3 * stroke] };
    return [track, ...ends];
  }
  const centre = { x: (a.x + b.x + c.x + d.x) / 4, y: (a.y + b.y + c.y + d.y) / 4 };
  const u = { x: (b.x - a.x) / 2, y: (b.y - a.y) / 2 };
  const v = { x: (d.x - c.x) / 2, y: (d.y - c.y) / 2 };
  const outline: Mark = {
    kind: 'path',
    points: ellipsePoints(centre, u, v),
    closed: true,
    colour,
    width: stroke,
    dash: [stroke, 3 * stroke],
  };
  return [outline, ...ends];
}

function stripOf(width: number, rows: number) {
  const text = Math.round(width * TEXT_PER_WIDTH);
  const row = Math.round(text * 1.5);
  const margin = Math.round(text * 0.7);
  return { text, row, margin, height: 2 * margin + row * Math.max(1, rows) };
}

const stripHeight = (width: number, measurements: readonly Measurement[]): number =>
  stripOf(width, measurements.length).height;

interface LegendPlace {
  top: number;
  width: number;
  /**
   * The measurements in the order in which their calipers were drawn; the legend uses the same
   * colours.
   */
  drawn?: readonly Measurement[];
  /** States whether the result is a draft or signed. */
  notice: string;
}

/** Draws one row for each measurement below the picture, so that nothing covers the anatomy. */
function legend(
  measurements: readonly Measurement[],
  { top, width, drawn = measurements, notice }: LegendPlace,
): Mark[] {
  const { text: size, row, margin } = stripOf(width, measurements.length);
  const radius = size / 3;
  const colours = coloursOf(drawn);
  const rows = measurements.flatMap((measurement, index): Mark[] => {
    const baseline = top + margin + row * index + size;
    const at = { x: margin + 3.5 * radius, y: baseline };
    const spot = { x: margin + radius, y: baseline - radius };
    const colour = colours.get(drawn[index] ?? measurement) ?? NOT_ACCEPTED;
    return [disc(spot, radius, colour), label(legendText(measurement), at, size, '#f2f2f2')];
  });
  const corner = { x: width - margin, y: top + margin + size };
  return [
    rectangle({ x: 0, y: top }, width, stripHeight(width, measurements), GROUND),
    ...rows,
    label(notice, corner, size, '#ffb000', { bold: true, anchor: 'end' }),
  ];
}

/** Returns the name and the value of a measurement as they begin a line below a picture. */
export const legendText = (measurement: Measurement): string =>
  typeset(asHeading(shortText(measurement)));

/**
 * Returns the colour of each measurement's calipers. A value that is not shown is grey, because
 * nobody has to find it on the picture. Measurements with the same calipers, such as the mean
 * gradient and the VTI of one traced flow, have the same colour, because only one of them can be
 * seen.
 */
export function coloursOf(measurements: readonly Measurement[]): ReadonlyMap<Measurement, string> {
  const places = new Map<string, number>();
  const colours = new Map<Measurement, string>();
  for (const one of measurements) {
    const { calipers } = one.source;
    const place = JSON.stringify(calipers.length > 0 ? calipers : one.id);
    const index = places.get(place) ?? places.size;
    places.set(place, index);
    const colour = COLOURS[index % COLOURS.length] ?? HALO;
    colours.set(one, isShown(one) ? colour : NOT_ACCEPTED);
  }
  return colours;
}

/**
 * Returns everything that `renderPreview` draws on a frame, as a string for comparison. Previews of
 * one frame with the same content are the same picture.
 */
export const contentOf = (measurements: readonly Measurement[]): string =>
  JSON.stringify(
    measurements.map((measurement) => [
      shortText(measurement),
      measurement.quality,
      measurement.source.calipers,
    ]),
  );

/**
 * Renders a measured frame with its calipers and, below the frame, its values. Returns a PNG that
 * is at least 1024 pixels wide.
 * @param frame a frame from `ShownFrames`, in which parts that may show a name are black.
 */
export async function renderPreview(
  frame: RgbImage,
  measurements: readonly Measurement[],
): Promise<Buffer> {
  const scale = Math.max(1, LEAST_WIDTH / frame.width);
  const [width, height] = [Math.round(frame.width * scale), Math.round(frame.height * scale)];
  const strip = stripHeight(width, measurements);
  const colours = coloursOf(measurements);
  // The first measurement is drawn last, so that a later one that shares a line does not hide it.
  const calipers = measurements.toReversed().flatMap((measurement) =>
    measurement.source.calipers.flatMap((caliper) => {
      const colour = colours.get(measurement) ?? NOT_ACCEPTED;
      const solid = measurement.quality === 'accepted';
      return caliperMarks(caliper, { scale, colour, stroke: width * STROKE_PER_WIDTH, solid });
    }),
  );
  const overlay = toSvg({
    width,
    height: height + strip,
    marks: [...calipers, ...legend(measurements, { top: height, width, notice: DRAFT_NOTICE })],
  });
  const shown = await enlarged(frame, { width, height }, strip);
  const drawn = await sharp(Buffer.from(overlay)).ensureAlpha().raw().toBuffer();
  drawOver(shown.data, drawn);
  const { width: columns, height: rows } = shown;
  const png = await sharp(shown.data, { raw: { width: columns, height: rows, channels: 3 } })
    .png({ compressionLevel: COMPRESSION })
    .toBuffer();
  freeMemory([drawn, shown.data]);
  return png;
}

/** Returns the picture of a preview without the strip below it. */
export async function pictureOf(
  png: Buffer,
  measurements: readonly Measurement[],
): Promise<ReturnType<typeof sharp>> {
  const { width, height } = await sharp(png).metadata();
  const picture = { left: 0, top: 0, width, height: height - stripHeight(width, measurements) };
  return sharp(png).extract(picture);
}

/**
 * Converts the preview of a draft into the preview of the signed result. The frame and its calipers
 * are kept. The strip below them is redrawn with the signed values and without the draft notice.
 * @param drawn the measurements of the draft, in the same order.
 */
export async function signedPreview(
  png: Buffer,
  drawn: readonly Measurement[],
  signed: readonly Measurement[],
): Promise<Buffer> {
  const { width, height } = await sharp(png).metadata();
  const strip = stripHeight(width, drawn);
  const marks = legend(signed, { top: 0, width, drawn, notice: SIGNED_NOTICE });
  const below = Buffer.from(toSvg({ width, height: strip, marks }));
  return sharp(png)
    .composite([{ input: below, left: 0, top: height - strip }])
    .png({ compressionLevel: COMPRESSION })
    .toBuffer();
}
