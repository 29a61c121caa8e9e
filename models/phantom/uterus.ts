import { type Point, type Sector, toPolar } from './geometry.ts';
import { createNoise, type Random } from './random.ts';
import { ellipse, everywhere, grown, rim, type Shape } from './shapes.ts';
import { type Layer, TISSUE } from './tissue.ts';

/** Builds the maternal abdominal wall: wavy bands below the probe face. */
export function abdominalWall(sector: Sector, random: Random, wallMm: number): Layer[] {
  const waver = createNoise(random.fork('waver'), 22);
  const grain = createNoise(random.fork('grain'), 1);
  const below = (x: number, y: number) => toPolar(sector, x, y).range;
  const unevenness = 0.22;
  const down = (fraction: number): Shape => {
    const deepest = wallMm * fraction * (1 + unevenness);
    return {
      centre: { x: 0, y: -sector.radiusMm },
      reach: sector.radiusMm + deepest,
      distance: (x, y) =>
        // The range of a point is never less than its y. Below the deepest point of the band, y is
        // therefore enough, and the range need not be calculated.
        y > deepest
          ? y - deepest
          : below(x, y) - wallMm * fraction * (1 + unevenness * waver(x, fraction * 300)),
    };
  };
  const fatShare = random.range(0.35, 0.6);
  // The stripes of muscle and fat run parallel to the probe face: thin in depth and long sideways.
  const stripes = (x: number, y: number) => 10 * grain(x / 9, below(x, y) / 1.1);
  const fascia = (fraction: number): Layer => ({
    shape: rim(down(fraction), random.range(0.5, 1)),
    tissue: TISSUE.fascia,
    modulation: (x) => 6 * waver(x * 2, 7),
  });
  return [
    { shape: down(1), tissue: TISSUE.uterineWall, modulation: stripes },
    { shape: down(0.8), tissue: TISSUE.maternalMuscle, modulation: stripes },
    { shape: down(fatShare), tissue: TISSUE.maternalFat, modulation: stripes },
    fascia(1),
    fascia(0.8),
    fascia(fatShare),
    { shape: down(0.07), tissue: TISSUE.skin },
  ];
}

/**
 * Builds round sections next to the structure of interest, such as limbs, the cord and the other
 * thigh.
 */
function bystanders(random: Random, fetus: Shape): Layer[] {
  return Array.from({ length: random.integer(0, 3) }, () => {
    const radius = random.range(4, 13);
    const angle = random.range(0, 2 * Math.PI);
    const away = fetus.reach + radius * random.range(0.4, 2);
    const centre: Point = {
      x: fetus.centre.x + away * Math.cos(angle),
      y: fetus.centre.y + away * Math.sin(angle),
    };
    const pose = { centre, angle: random.range(0, Math.PI), mirror: false };
    const limb = ellipse(pose, { u: 0, v: 0, a: radius, b: radius * random.range(0.6, 1) });
    const bone = ellipse(pose, {
      u: 0,
      v: 0,
      a: radius * random.range(0.12, 0.45),
      b: random.range(0.8, 1.8),
    });
    const layers: Layer[] = [
      { shape: limb, tissue: TISSUE.muscle },
      { shape: rim(limb, random.range(0.8, 1.6)), tissue: TISSUE.skin },
    ];
    return random.chance(0.6) ? [...layers, { shape: bone, tissue: TISSUE.rib }] : layers;
  }).flat();
}

/**
 * Builds everything around the fetus: amniotic fluid in pockets between placenta and uterine wall,
 * the maternal abdominal wall above (`wallMm` thick) and tissue below. The fetus is placed on top.
 */
export function buildUterus(sector: Sector, fetus: Shape, wallMm: number, random: Random): Layer[] {
  const pockets = createNoise(random.fork('pockets'), random.range(18, 40));
  const grain = createNoise(random.fork('grain'), 1);
  const lobes = createNoise(random.fork('lobes'), random.range(6, 12));
  const wetness = random.range(-0.7, 0.9);
  const floor = fetus.centre.y + fetus.reach * random.range(0.7, 1.5);
  const tilt = random.normal(0, 0.2);
  const solid: Shape = {
    ...everywhere,
    distance: (x, y) => pockets(x, y) + 0.35 * lobes(x, y) + wetness,
  };
  const farAt = (x: number) => floor + tilt * (x - fetus.centre.x);
  const farSide: Shape = {
    ...everywhere,
    // Its surface is uneven by up to 8 mm. Farther from the surface, the noise need not be
    // calculated.
    distance: (x, y) =>
      Math.abs(farAt(x) - y) > 8.1 ? farAt(x) - y : farAt(x) + 8 * pockets(x, 500) - y,
  };
  const filling = random.pick([TISSUE.placenta, TISSUE.uterineWall, TISSUE.muscle]);
  const stripes = (x: number, y: number) => 9 * grain(x / 8, y / 1.6);
  const gap = random.chance(0.6) ? random.range(0, 4) : 0;
  const uneven = createNoise(random.fork('gap'), 14);
  const around = grown(fetus, 2 * gap);
  const film: Shape = {
    ...around,
    distance: (x, y) => around.distance(x, y) + gap * (1 - 1.6 * uneven(x, y)),
  };
  return [
    { shape: everywhere, tissue: TISSUE.amnioticFluid },
    { shape: solid, tissue: filling },
    { shape: farSide, tissue: TISSUE.farTissue, modulation: stripes },
    ...(gap > 0.5 ? [{ shape: film, tissue: TISSUE.amnioticFluid }] : []),
    ...abdominalWall(sector, random.fork('wall'), wallMm),
    ...bystanders(random.fork('bystanders'), fetus),
  ];
}
