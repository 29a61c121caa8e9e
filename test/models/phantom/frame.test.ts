import { describe, expect, it } from 'vitest';
import { buildFemur } from '../../../models/phantom/femur.ts';
import { type PhantomFrame, simulateCine, simulateFrame } from '../../../models/phantom/frame.ts';
import {
  type Ellipse,
  type Point,
  toMillimetres,
  toPolar,
} from '../../../models/phantom/geometry.ts';
import { createImager } from '../../../models/phantom/image-formation.ts';
import { PLANES } from '../../../models/phantom/labels.ts';
import { createRandom } from '../../../models/phantom/random.ts';
import { sizesAt } from '../../../models/phantom/sizes.ts';

const screen = { columns: 640, rows: 480 };
const sizes = sizesAt(196);
const frames = Object.fromEntries(
  PLANES.map((plane) => [plane, simulateFrame({ plane, sizes, seed: 21, screen })]),
) as Record<(typeof PLANES)[number], PhantomFrame>;

function borderPoints({ centre, a, b, angle }: Ellipse, scale = 1): Point[] {
  return Array.from({ length: 72 }, (_, i) => {
    const t = (i * Math.PI) / 36;
    const u = scale * a * Math.cos(t);
    const v = scale * b * Math.sin(t);
    return {
      x: centre.x + u * Math.cos(angle) - v * Math.sin(angle),
      y: centre.y + u * Math.sin(angle) + v * Math.cos(angle),
    };
  });
}

function level(frame: PhantomFrame, { x, y }: Point): number {
  return frame.gray[Math.round(y) * frame.columns + Math.round(x)] ?? 0;
}

/**
 * Returns the distances in mm outside the ellipse at which the echo of its border has fallen to
 * half its height. Measured where the border faces the beam (normal within 32 degrees of the
 * image's vertical).
 */
function visibleOffsets(frame: PhantomFrame, ellipse: Ellipse): number[] {
  const { mmPerPixel } = frame.truth;
  const { a, b, angle } = ellipse;
  return borderPoints(ellipse).flatMap((point, i) => {
    const t = (i * Math.PI) / 36;
    const [u, v] = [Math.cos(t) / a, Math.sin(t) / b];
    const normal = {
      x: u * Math.cos(angle) - v * Math.sin(angle),
      y: u * Math.sin(angle) + v * Math.cos(angle),
    };
    const length = Math.hypot(normal.x, normal.y);
    if (Math.abs(normal.y) / length < 0.85) return [];
    const offsets = Array.from({ length: 70 }, (_, step) => (step - 40) / 10);
    const profile = offsets.map((mm) => {
      const out = mm / mmPerPixel / length;
      return level(frame, { x: point.x + normal.x * out, y: point.y + normal.y * out });
    });
    const peak = profile.indexOf(Math.max(...profile));
    const half = ((profile[peak] ?? 0) + Math.min(...profile.slice(peak))) / 2;
    const fallen = profile.findIndex((value, step) => step > peak && value <= half);
    return [offsets[fallen] ?? Number.NaN];
  });
}

const mean = (values: number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;

describe('a simulated frame', () => {
  it('is the same for the same request, and different for another seed', () => {
    const again = simulateFrame({ plane: 'femur', sizes, seed: 21, screen });
    expect(Buffer.compare(again.gray, frames.femur.gray)).toBe(0);
    expect(again.truth).toEqual(frames.femur.truth);
    const other = simulateFrame({ plane: 'femur', sizes, seed: 22, screen });
    expect(Buffer.compare(other.gray, frames.femur.gray)).not.toBe(0);
  });

  it.each(PLANES)('%s: shows the whole structure, at a scale that carts use', (plane) => {
    const { truth, columns, rows } = frames[plane];
    const outline = truth.head ?? truth.abdomen;
    const points = outline ? borderPoints(outline.ellipse) : (truth.femur?.ends ?? []);
    expect(points.length).toBeGreaterThan(1);
    for (const { x, y } of points) {
      expect(x).toBeGreaterThan(0);
      expect(y).toBeGreaterThan(0);
      expect(x).toBeLessThan(columns - 1);
      expect(y).toBeLessThan(rows - 1);
    }
    expect(truth.mmPerPixel).toBeGreaterThanOrEqual(0.1);
    expect(truth.mmPerPixel).toBeLessThanOrEqual(0.35);
  });

  it.each(PLANES)('%s: the label in pixels times mm per pixel equals the sizes', (plane) => {
    const { truth } = frames[plane];
    const length = ([p, q]: [Point, Point]) => Math.hypot(p.x - q.x, p.y - q.y) * truth.mmPerPixel;
    if (truth.femur) expect(length(truth.femur.ends)).toBeCloseTo(sizes.flMm, 6);
    if (truth.head) {
      expect(length(truth.head.bpdEnds)).toBeCloseTo(sizes.bpdMm, 6);
      expect(length(truth.head.ofdEnds)).toBeCloseTo(sizes.ofdMm, 6);
      expect(truth.head.hcMm).toBeCloseTo(sizes.hcMm, 6);
      expect(2 * truth.head.ellipse.a * truth.mmPerPixel).toBeCloseTo(sizes.ofdMm, 6);
    }
    if (truth.abdomen) {
      expect(length(truth.abdomen.tadEnds)).toBeCloseTo(sizes.tadMm, 6);
      expect(length(truth.abdomen.apadEnds)).toBeCloseTo(sizes.apadMm, 6);
      expect(truth.abdomen.acMm).toBeCloseTo(sizes.acMm, 6);
    }
  });

  it('shows the skull brighter than the brain inside it, and brightest where it faces the beam', () => {
    const frame = frames.transthalamic;
    const { ellipse } = frame.truth.head ?? { ellipse: undefined };
    if (ellipse === undefined) throw new Error('a head frame has a head');
    const ring = borderPoints(ellipse, 0.97).map((p) => level(frame, p));
    const brain = borderPoints(ellipse, 0.7).map((p) => level(frame, p));
    expect(mean(ring)).toBeGreaterThan(mean(brain) + 40);
    const facing = [...ring].sort((p, q) => q - p).slice(0, 24);
    const drop = [...ring].sort((p, q) => p - q).slice(0, 24);
    expect(mean(facing)).toBeGreaterThan(mean(drop) + 30);
  });

  it.each([
    { plane: 'transthalamic', seed: 21 },
    { plane: 'transcerebellar', seed: 33 },
    { plane: 'abdominal', seed: 54 },
  ] as const)('$plane: shows the border facing the beam within 0.6 mm of the truth', (request) => {
    const frame = simulateFrame({ ...request, sizes, screen });
    const outline = frame.truth.head ?? frame.truth.abdomen;
    if (outline === undefined) throw new Error('the frame has an outline');
    const visible = visibleOffsets(frame, outline.ellipse).sort((p, q) => p - q);
    const median = visible[Math.floor(visible.length / 2)] ?? Number.NaN;
    expect(Math.abs(median)).toBeLessThan(0.6);
  });

  it('shows the femur at least twice as bright as the tissue in its shadow', () => {
    const frame = frames.femur;
    const [p, q] = frame.truth.femur?.ends ?? [];
    if (p === undefined || q === undefined) throw new Error('a femur frame has two ends');
    const along = Array.from({ length: 20 }, (_, i) => ({
      x: p.x + ((q.x - p.x) * (i + 1)) / 21,
      y: p.y + ((q.y - p.y) * (i + 1)) / 21,
    }));
    const below = along.map(({ x, y }) => ({ x, y: y + 8 / frame.truth.mmPerPixel }));
    const bone = mean(along.map((at) => level(frame, at)));
    expect(bone).toBeGreaterThan(2 * mean(below.map((at) => level(frame, at))));
  });

  it('is black outside the field of view, except for the marks of the machine', () => {
    const { acquisition, gray, columns, rows } = frames.abdominal;
    let lit = 0;
    let outside = 0;
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const { x, y } = toMillimetres(acquisition.window, { x: column, y: row });
        const { range, angle } = toPolar(acquisition.sector, x, y);
        const seen = range > -1 && Math.abs(angle) < acquisition.sector.halfAngle + 0.02;
        if (seen && range < acquisition.sector.depthMm + 1) continue;
        outside++;
        if ((gray[row * columns + column] ?? 0) > 0) lit++;
      }
    }
    expect(lit).toBeLessThan(0.25 * Math.max(outside, 2500));
  });

  it('drifts slowly through a cine, with the truth for each frame', () => {
    const cine = simulateCine({ plane: 'transthalamic', sizes, seed: 4, screen }, 3);
    const centres = cine.map((frame) => frame.truth.head?.ellipse.centre ?? { x: 0, y: 0 });
    const [first, second, third] = centres as [Point, Point, Point];
    expect(second.x - first.x).toBeCloseTo(third.x - second.x, 6);
    expect(Math.hypot(third.x - first.x, third.y - first.y)).toBeGreaterThan(0);
    const [a, b] = cine as [PhantomFrame, PhantomFrame];
    expect(Buffer.compare(a.gray, b.gray)).not.toBe(0);
    for (const frame of cine) expect(frame.truth.head?.hcMm).toBeCloseTo(sizes.hcMm, 6);
  });
});

describe('the images of one machine', () => {
  const pose = { centre: { x: 0, y: 60 }, angle: 0.2, mirror: false };
  const soft = buildFemur(sizes, pose, createRandom(1)).layers;
  const hard = soft.map((layer) => ({ ...layer, rigid: true as const }));
  const { acquisition } = frames.femur;
  const imager = () => createImager(acquisition, createRandom(2));

  it.each([
    ['bent', soft, hard],
    ['rigid', hard, soft],
  ])('show a %s scene in the same way whatever they showed before', (_, scene, before) => {
    const image = imager();
    image(before, 3);
    expect(Buffer.compare(image(scene, 4), imager()(scene, 4))).toBe(0);
  });
});
