import { freeMemory } from '../../../src/platform/free-memory.ts';
import type { Ellipse, GrayImage } from '../../contract/image.ts';
import type { ModelSession } from '../../inference/session.ts';
import { ellipseFromMoments, solve, type Vector } from '../../measure/ellipse-fit.ts';
import { levelAt } from '../../measure/line-profile.ts';
import type { Outline } from './outline.ts';

/** The strip (`borderStrip`) covers 1 - SPAN to 1 + SPAN times the radius of the ellipse. */
const SPAN = 0.25;
/** Samples of the image that are averaged for one element of the strip. */
const SAMPLES = { angle: 3, radius: 2 };
/** Minimum weight of an angle in the fit, even if the model does not trust it at all. */
const LEAST_WEIGHT = 0.02;
/** Added to the diagonal of the fit's matrix, so that the matrix can always be inverted. */
const RIDGE = 1e-4;

/** A symmetric matrix that maps the unit circle to an ellipse around the origin. */
interface Frame {
  xx: number;
  xy: number;
  yy: number;
}

/**
 * Moves the border of each head to the outer border of the skull that the model finds in the image
 * at full resolution. The outline network sees the image reduced to 256 × 192 pixels, where an
 * error of one pixel changes the circumference by more than a millimetre.
 */
export async function refineHeads(
  session: ModelSession,
  images: readonly GrayImage[],
  outlines: readonly (Outline | null)[],
): Promise<(Outline | null)[]> {
  const { width, height } = session.model.input;
  const found = outlines.flatMap((outline, index) => {
    const image = images[index];
    return outline && image ? [{ outline, image, index }] : [];
  });
  const inputs = found.flatMap(({ outline, image }) => {
    const strip = borderStrip(image, outline.ellipse, width, height);
    return [strip, mirrored(strip, width)];
  });
  const outputs = await session.run(inputs);
  const refined = [...outlines];
  for (const [n, { outline, index }] of found.entries()) {
    const straight = harmonicsOf(outputs[2 * n]);
    const [c, x, y, cos, sin] = harmonicsOf(outputs[2 * n + 1]);
    const mean = straight.map((value, i) => (value + ([c, -x, y, cos, -sin][i] ?? 0)) / 2);
    refined[index] = { ...outline, ellipse: moved(outline.ellipse, mean as Vector) };
  }
  freeMemory(outputs);
  return refined;
}

/**
 * Unrolls the ring around an ellipse: columns are angles, rows are radii from inside to outside, in
 * the coordinates in which the ellipse is the unit circle. Returns grey levels from 0 to 1, black
 * outside the image. Training does the same (models/training/head_border.py).
 */
export function borderStrip(
  image: GrayImage,
  ellipse: Ellipse,
  width: number,
  height: number,
): Float32Array {
  const { xx, xy, yy } = frameOf(ellipse);
  const strip = new Float32Array(width * height);
  const share = 1 / (255 * SAMPLES.angle * SAMPLES.radius);
  for (let column = 0; column < width * SAMPLES.angle; column++) {
    const angle = (2 * Math.PI * ((column + 0.5) / SAMPLES.angle - 0.5)) / width;
    const dx = xx * Math.cos(angle) + xy * Math.sin(angle);
    const dy = xy * Math.cos(angle) + yy * Math.sin(angle);
    const target = Math.floor(column / SAMPLES.angle);
    for (let row = 0; row < height * SAMPLES.radius; row++) {
      const radius = 1 - SPAN + (2 * SPAN * (row + 0.5)) / (height * SAMPLES.radius);
      const level = levelAt(image, ellipse.centre.x + radius * dx, ellipse.centre.y + radius * dy);
      const at = Math.floor(row / SAMPLES.radius) * width + target;
      strip[at] = (strip[at] ?? 0) + share * level;
    }
  }
  return strip;
}

/** Returns the strip of the image with left and right exchanged: angle φ becomes π - φ. */
function mirrored(strip: Float32Array, width: number): Float32Array {
  return strip.map((_, i) => {
    const column = i % width;
    return strip[i - column + ((width + width / 2 - column) % width)] ?? 0;
  });
}

/**
 * Fits the offset of the border, as a share of the radius, as a function of the angle φ by weighted
 * least squares. Returns the coefficients of `[1, cos φ, sin φ, cos 2φ, sin 2φ]`. To first order,
 * these are the size, the shift and the shape of an ellipse.
 */
function harmonicsOf(output: Float32Array = new Float32Array()): Vector {
  const angles = output.length / 2;
  const logits = output.subarray(angles);
  const largest = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - largest), 0);
  const matrix = Array.from({ length: 5 }, (_, i): Vector => {
    const row: Vector = [0, 0, 0, 0, 0];
    row[i] = RIDGE;
    return row;
  });
  const right: Vector = [0, 0, 0, 0, 0];
  for (let n = 0; n < angles; n++) {
    const angle = (2 * Math.PI * n) / angles;
    const weight = (angles * Math.exp((logits[n] ?? 0) - largest)) / sum + LEAST_WEIGHT;
    const terms = [1, Math.cos(angle), Math.sin(angle), Math.cos(2 * angle), Math.sin(2 * angle)];
    for (const [i, row] of matrix.entries()) {
      const term = weight * (terms[i] ?? 0);
      right[i] = (right[i] ?? 0) + term * (output[n] ?? 0);
      for (let j = 0; j < 5; j++) row[j] = (row[j] ?? 0) + term * (terms[j] ?? 0);
    }
  }
  return solve(matrix, right) ?? [0, 0, 0, 0, 0];
}

/** Returns the ellipse whose border is moved by these harmonics. */
export function moved(ellipse: Ellipse, [size, x, y, cos, sin]: Vector): Ellipse {
  const { xx, xy, yy } = frameOf(ellipse);
  const [wide, high] = [1 + size + cos, 1 + size - cos];
  const ux = xx * wide + xy * sin;
  const uy = xy * wide + yy * sin;
  const vx = xx * sin + xy * high;
  const vy = xy * sin + yy * high;
  return ellipseFromMoments({
    mean: {
      x: ellipse.centre.x + xx * x + xy * y,
      y: ellipse.centre.y + xy * x + yy * y,
    },
    xx: (ux * ux + vx * vx) / 4,
    xy: (ux * uy + vx * vy) / 4,
    yy: (uy * uy + vy * vy) / 4,
  });
}

function frameOf({ a, b, angle }: Ellipse): Frame {
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  return {
    xx: a * cos * cos + b * sin * sin,
    xy: (a - b) * cos * sin,
    yy: a * sin * sin + b * cos * cos,
  };
}
