import { createNoise, type Random } from '../random.ts';

/**
 * Appearance of one heart on one machine: mean levels in dB relative to white, and their variation
 * over the image. The ranges were informed by aggregate figures of real apical views
 * (models/phantom/README.md) and are deliberately wide. They include what real screens do to a
 * wall: an apex as dark as the cavity, a lateral wall that fades, an inner wall that looks like
 * blood.
 */
export interface Look {
  blood: number;
  atrialBlood: number;
  rightBlood: number;
  myocardium: number;
  thinWall: number;
  outside: number;
  pericardium: number;
  leaflet: number;
  papillary: number;
  fluid: number;
  /** Amplitude of the slow variation in each kind of tissue, dB. */
  texture: { outside: number; myocardium: number; blood: number };
  /**
   * Rise of the level of the tissue around the heart, in dB, from depth `from` to the end of the
   * image.
   */
  farField: { dB: number; from: number };
  septum: number;
  lateral: number;
  apex: number;
  /** Inner share of the wall that looks like blood, and how strongly it does. */
  innerWall: { share: number; strength: number };
  /** How far the lateral wall fades, 0 to 1. */
  lateralFade: number;
  /**
   * How strongly the apical wall looks like the cavity, and how far along the axis this reaches.
   */
  apexDark: { strength: number; reach: number };
  septalCore: number;
  trabeculae: { dB: number; depthMm: number };
  hinges: number;
  /** Echo at a change of impedance along and across the beam, in dB per unit of its gradient. */
  interfaces: { axial: number; lateral: number };
  parallelLoss: number;
  /**
   * Shadows: angle (0 to 1 over the sector), width, dB, and the depth (0 to 1) where the shadow
   * starts.
   */
  shadows: readonly { at: number; width: number; dB: number; from: number }[];
  edges: readonly [number, number];
  nearField: { dB: number; share: number };
  bands: readonly { at: number; dB: number; width: number }[];
  haze: number;
  /** Chest wall in front of the heart: its share of the depth, and the level of its layers. */
  chestWall: { share: number; dB: number };
  noise: {
    slow(x: number, y: number): number;
    middle(x: number, y: number): number;
    fine(x: number, y: number): number;
  };
}

const rarely = (random: Random, chance: number, low: number, high: number) =>
  random.chance(chance) ? random.range(low, high) : 0;

/**
 * Samples the appearance of a heart. `clarity` ranges from 0 (the wide range of the training
 * images) to 1 (a good acoustic window).
 */
export function drawLook(random: Random, clarity = 0): Look {
  const between = (low: number, high: number, good: number) =>
    random.range(low, high) * (1 - clarity) + good * clarity;
  const blood = between(-58, -36, -54);
  const contrast = random.chance(0.85 + 0.15 * clarity) ? between(5, 22, 20) : random.range(1, 6);
  const myocardium = blood + contrast;
  const outside = Math.min(
    -16,
    random.chance(0.75) ? blood + between(2, 26, 14) : blood + between(-6, 8, 8),
  );
  const bad = 1 - clarity;
  return {
    blood,
    atrialBlood: blood + bad * random.normal(0, 3),
    rightBlood: blood + bad * random.normal(0, 3),
    myocardium,
    thinWall: myocardium + random.range(-2, 10),
    outside,
    pericardium: Math.max(myocardium, outside) + rarely(random, 0.7, 0, 11),
    leaflet: myocardium + random.range(1, 15),
    papillary: blood + contrast * random.range(0.1, 0.85),
    fluid: blood + random.range(-4, 2),
    texture: {
      outside: random.range(2, 8),
      myocardium: random.range(2, 9),
      blood: random.range(0.5, 2.5),
    },
    farField: { dB: rarely(random, 0.75, 2, 20), from: random.range(0.3, 0.75) },
    septum: bad * random.normal(1.5, 4),
    lateral: bad * random.normal(-3, 4.5),
    apex: bad * random.normal(-3, 4.5),
    innerWall: { share: random.range(0, 0.5), strength: bad * rarely(random, 0.4, 0.3, 1) },
    lateralFade: bad * rarely(random, 0.5, 0.2, 1),
    apexDark: { strength: bad * rarely(random, 0.6, 0.4, 1), reach: random.range(0.12, 0.42) },
    septalCore: rarely(random, 0.6, 0, 9),
    trabeculae: { dB: rarely(random, 0.7, 2, 10), depthMm: random.range(1, 4) },
    hinges: rarely(random, 0.8, 3, 14),
    interfaces: { axial: random.range(4, 38), lateral: random.range(0, 9) },
    parallelLoss: rarely(random, 0.4, 0, 8),
    shadows: Array.from({ length: random.chance(0.6 * bad) ? random.integer(1, 3) : 0 }, () => ({
      at: random.unit(),
      width: random.range(0.02, 0.18),
      dB: random.range(3, 24),
      from: random.range(0, 0.5),
    })),
    edges: [bad * rarely(random, 0.5, 0, 24), bad * rarely(random, 0.5, 0, 24)],
    nearField: { dB: between(-56, -16, -40), share: random.range(0.08, 0.4) },
    bands: Array.from({ length: random.chance(bad) ? random.integer(0, 3) : 0 }, () => ({
      at: random.range(0.02, 0.42),
      dB: random.range(-52, -24),
      width: random.range(0.004, 0.02),
    })),
    haze: between(-75, -44, -72),
    chestWall: { share: random.range(0.01, 0.07), dB: random.range(2, 16) },
    noise: {
      slow: createNoise(random.fork('slow'), 22),
      middle: createNoise(random.fork('middle'), 6),
      fine: createNoise(random.fork('fine'), 2.2),
    },
  };
}
