import { describe, expect, it } from 'vitest';
import { buildAbdomen } from '../../../models/phantom/abdomen.ts';
import { buildFemur } from '../../../models/phantom/femur.ts';
import { type Ellipse, type Pose, place } from '../../../models/phantom/geometry.ts';
import { buildHead } from '../../../models/phantom/head.ts';
import { createRandom } from '../../../models/phantom/random.ts';
import { sizesAt } from '../../../models/phantom/sizes.ts';
import { layerAt, type Scene, TISSUE, type Tissue } from '../../../models/phantom/tissue.ts';

const pose: Pose = { centre: { x: 3, y: 60 }, angle: 0.4, mirror: true };
const sizes = sizesAt(210);
const STEP_MM = 0.05;

/**
 * Returns the distance in mm, along a ray, from the centre to the outermost point in one of these
 * tissues.
 */
function outermost(scene: Scene, tissues: Tissue[], direction: number, reachMm: number) {
  for (let r = reachMm; r > 0; r -= STEP_MM) {
    const x = pose.centre.x + r * Math.cos(direction);
    const y = pose.centre.y + r * Math.sin(direction);
    const layer = layerAt(scene, x, y, x, y);
    if (layer !== undefined && tissues.includes(layer.tissue)) return r;
  }
  return undefined;
}

/** Returns the distance along a ray from the centre to the ellipse. */
function radius(ellipse: Ellipse, direction: number): number {
  const t = direction - ellipse.angle;
  return 1 / Math.hypot(Math.cos(t) / ellipse.a, Math.sin(t) / ellipse.b);
}

const RAYS = Array.from({ length: 36 }, (_, i) => (i * Math.PI) / 18);

describe('the recorded truth is what is drawn', () => {
  it.each(['transthalamic', 'transventricular', 'transcerebellar'] as const)(
    'the %s outline is the outer border of the skull, not of the scalp',
    (plane) => {
      const head = buildHead(plane, sizes, pose, createRandom(5));
      const bone = RAYS.map((ray) => ({
        drawn: outermost(head.layers, [TISSUE.skull], ray, 80),
        scalp: outermost(head.layers, [TISSUE.scalp], ray, 80) ?? 0,
        truth: radius(head.outline, ray),
      }));
      const onBone = bone.filter(({ drawn, truth }) => Math.abs((drawn ?? 0) - truth) < 0.1);
      // Sutures may leave a few rays without bone.
      expect(onBone.length).toBeGreaterThanOrEqual(RAYS.length - 6);
      for (const { drawn, truth, scalp } of bone) {
        expect(drawn ?? 0).toBeLessThan(truth + STEP_MM);
        expect(scalp).toBeGreaterThan(truth + 1);
      }
      expect(2 * head.outline.a).toBeCloseTo(sizes.ofdMm, 9);
      expect(2 * head.outline.b).toBeCloseTo(sizes.bpdMm, 9);
    },
  );

  it.each([
    { name: 'deeper than wide', tad: 80, apad: 90 },
    { name: 'wider than deep', tad: 90, apad: 80 },
  ])('the outline of an abdomen $name is the outer border of the skin', ({ tad, apad }) => {
    const abdomen = buildAbdomen({ ...sizes, tadMm: tad, apadMm: apad }, pose, createRandom(5));
    for (const ray of RAYS) {
      const drawn = outermost(abdomen.layers, [TISSUE.skin, TISSUE.rib], ray, 60) ?? 0;
      expect(Math.abs(drawn - radius(abdomen.outline, ray))).toBeLessThan(0.1);
    }
    expect(abdomen.outline.a).toBe(45);
    expect(abdomen.outline.b).toBe(40);
  });

  it('the femur is bone from end to end, and there is no bone beyond', () => {
    const femur = buildFemur(sizes, pose, createRandom(5));
    const half = sizes.flMm / 2;
    const tissueAt = (u: number) => {
      const { x, y } = place(pose, u, 0);
      return layerAt(femur.layers, x, y, x, y)?.tissue;
    };
    expect(tissueAt(half - 0.05)).toBe(TISSUE.diaphysis);
    expect(tissueAt(0.05 - half)).toBe(TISSUE.diaphysis);
    expect(tissueAt(half + 0.05)).not.toBe(TISSUE.diaphysis);
    expect(tissueAt(-half - 0.05)).not.toBe(TISSUE.diaphysis);
    const [from, to] = femur.ends;
    expect(Math.hypot(to.x - from.x, to.y - from.y)).toBeCloseTo(sizes.flMm, 9);
  });

  it('the cavum interrupts the falx in front, and the vermis is only in the posterior fossa', () => {
    const tissues = (plane: 'transthalamic' | 'transcerebellar') =>
      new Set(buildHead(plane, sizes, pose, createRandom(5)).layers.map((layer) => layer.tissue));
    expect(tissues('transcerebellar')).toContain(TISSUE.vermis);
    expect(tissues('transthalamic')).not.toContain(TISSUE.vermis);
    expect(tissues('transthalamic')).toContain(TISSUE.thalamus);
  });
});
