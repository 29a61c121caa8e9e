import type { Screen } from '../acquisition.ts';
import type { Sector } from '../geometry.ts';
import type { Acquisition } from '../image-formation.ts';
import type { Random } from '../random.ts';

/** Radius of the probe face in mm. A phased array is nearly a point. */
const FACE_RADIUS_MM = 3;

/**
 * Randomly picks a sector. The half opening angle of an adult cardiac sector is 32 to 48 degrees,
 * rarely wider or narrower.
 */
export function drawSector(random: Random, depthMm: number, clarity = 0): Sector {
  const usual = random.chance(0.85 + 0.15 * clarity);
  const degrees = usual ? random.range(34 + 5 * clarity, 46) : random.range(26, 55);
  return { radiusMm: FACE_RADIUS_MM, halfAngle: (degrees * Math.PI) / 180, depthMm };
}

/**
 * Randomly picks machine settings. Beam and compounding depend on the depth, because a machine uses
 * a lower frequency for a greater depth. `clarity` is as in `drawLook`.
 */
export function drawMachine(
  sector: Sector,
  { columns, rows }: Screen,
  random: Random,
  clarity = 0,
): Acquisition {
  const { depthMm, halfAngle, radiusMm } = sector;
  const width = 2 * (radiusMm + depthMm) * Math.sin(halfAngle);
  const zoom = random.chance(0.5) ? random.range(0.9, 1.1) : 1;
  const mmPerPixel = Math.max(width / columns, depthMm / rows) / (0.97 * zoom);
  const shift = random.chance(0.5)
    ? { x: random.normal(0, 0.025), y: random.normal(0, 0.015) }
    : { x: 0, y: 0 };
  const blur = 1 - 0.6 * clarity;
  return {
    sector,
    window: {
      columns,
      rows,
      mmPerPixel,
      origin: {
        x: columns * (0.5 + shift.x),
        y: Math.max(0, 0.5 * (rows - depthMm / mmPerPixel)) + rows * shift.y,
      },
    },
    beam: {
      axialMm: (depthMm / 224) * random.range(0.45, 0.5 + 0.9 * blur),
      lateralMm: 0,
      lateralRadians: ((2 * halfAngle) / 112) * random.range(0.55, 0.7 + 1.2 * blur),
      focusMm: depthMm * random.range(0.35, 0.8),
      focalZoneMm: depthMm * random.range(0.45, 0.9),
    },
    gain: random.range(-4, 8) * (1 - 0.5 * clarity),
    dynamicRange: random.range(46, 78 - 22 * clarity),
    gainSlope: random.normal(0, 7) * (1 - clarity),
    clutter: random.range(-38, -16 - 12 * clarity),
    reverberation: random.range(-40, -24),
    nearField: -70,
    noiseFloor: random.range(-78, -60),
    compounding: random.chance(0.7) ? (depthMm / 224) * random.range(0.2, 1.4) : 0.01,
    gamma: Math.exp(random.normal(0.1, 0.25 * blur)),
  };
}
