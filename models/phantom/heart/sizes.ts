import type { Random } from '../random.ts';

/** Shape of the left ventricle at end diastole. */
export interface VentricleShape {
  /** Length from the mitral plane to the endocardium of the apex, mm. */
  lengthMm: number;
  /** Half the width of the cavity at its widest level, mm. */
  radiusMm: number;
  /** Level at which the cavity is widest, from the apex (0) to the mitral plane (1). */
  widest: number;
  /**
   * Exponent of the superellipse between the widest level and the apex. 2 is an ellipse; a larger
   * value makes the apex blunter.
   */
  bluntness: number;
  /** Width at the mitral plane as a share of the largest width. */
  baseShare: number;
  /** Share by which the side at `asymmetryAngle` degrees is wider than the opposite side. */
  asymmetry: number;
  asymmetryAngle: number;
  /**
   * Unevenness of the outline: amplitude as a share of the radius, number of waves from apex to
   * base, phase, and number of waves around the axis.
   */
  waves: readonly { size: number; along: number; phase: number; around: number }[];
  /** Bulge of the basal septum into the outflow tract, as a share of the radius. */
  septalBulge: number;
  /** Bow of the long axis, mm, towards `bowAngle` degrees. */
  bowMm: number;
  bowAngle: number;
  /** Slope of the mitral plane: rise per mm towards the lateral wall. */
  mitralTilt: number;
  septalWallMm: number;
  lateralWallMm: number;
  /** Ratio of the wall thickness at the apex to that at the sides. */
  apexShare: number;
}

/** How the left ventricle contracts. */
export interface Contraction {
  /** Ejection fraction of the true volume, 0 to 1. */
  ejectionFraction: number;
  /** Shortening of the long axis, as a share of its length at end diastole. */
  longitudinal: number;
  /**
   * Inward motion of each of the seventeen segments: 1 for full motion, 0 for none, negative for
   * outward motion.
   */
  segments: readonly number[];
}

/** A heart with known dimensions, at end diastole unless stated otherwise. */
export interface HeartSizes {
  ventricle: VentricleShape;
  contraction: Contraction;
  beatsPerMinute: number;
  /** Maximum volume (at end systole), and the share of it lost by end diastole. */
  leftAtrium: { volumeMl: number; emptying: number; slenderness: number };
  rightAtrium: { radiusMm: number; slenderness: number };
  /**
   * Inner width at the base, the share by which it narrows in systole, and the excursion of the
   * annulus.
   */
  rightVentricle: {
    basalMm: number;
    narrowing: number;
    tapseMm: number;
    lengthShare: number;
    wallMm: number;
  };
  aorta: { annulusMm: number; sinusMm: number; ascendingMm: number };
  /** Opening of the aortic cusps; 1 is fully open. */
  aorticOpening: number;
  /** Width of pericardial fluid behind the ventricles, mm. */
  effusionMm: number;
  cava: { diameterMm: number; collapse: number };
}

/** Motion of seventeen segments that all move equally. */
const EVEN_MOTION: readonly number[] = Array.from({ length: 17 }, () => 1);

/**
 * Values that a caller may request. All others are sampled at random. Lengths in mm, volumes in ml,
 * shares from 0 to 1.
 */
export interface HeartRequest {
  lengthMm?: number;
  /** Inner width of the ventricle (twice its radius). */
  widthMm?: number;
  septalWallMm?: number;
  lateralWallMm?: number;
  ejectionFraction?: number;
  longitudinal?: number;
  segments?: readonly number[];
  beatsPerMinute?: number;
  leftAtriumMl?: number;
  rightAtriumRadiusMm?: number;
  rightBasalMm?: number;
  rightNarrowing?: number;
  tapseMm?: number;
  rightWallMm?: number;
  sinusMm?: number;
  aorticOpening?: number;
  effusionMm?: number;
  cavaMm?: number;
  cavaCollapse?: number;
  /** Unevenness of the wall: 1 as in the training images, 0 for a smooth wall. */
  unevenness?: number;
}

const clamp = (value: number, low: number, high: number) => Math.max(low, Math.min(high, value));

/** Area of the cavity in an apical view divided by length times width, for the average shape. */
const AREA_SHARE = 0.79;

/**
 * Samples a heart for training. The apical area is uniform on a logarithmic scale, so that a model
 * does not learn a usual size, and the ejection fraction is uniform from 10 to 80 %. The shapes
 * were informed by aggregate figures of real apical views (models/phantom/README.md): the width is
 * 0.32 to 0.9 of the length, and a wider cavity has thinner walls.
 */
export function drawHeart(random: Random, request: HeartRequest = {}): HeartSizes {
  const shape = random.fork('shape');
  const areaMm2 = 100 * Math.exp(shape.range(Math.log(13), Math.log(58)));
  const ratio = clamp(shape.normal(0.54, 0.1), 0.34, 0.86);
  const lengthMm = request.lengthMm ?? clamp(Math.sqrt(areaMm2 / (AREA_SHARE * ratio)), 52, 122);
  const radiusMm = (request.widthMm ?? ratio * lengthMm) / 2;
  const uneven = request.unevenness ?? 1;
  const wall = clamp(shape.range(6.5, 13) * (radiusMm / 24) ** -0.4, 5, 20);
  const ejectionFraction = request.ejectionFraction ?? random.fork('ejection').range(0.1, 0.8);
  return {
    ventricle: {
      lengthMm,
      radiusMm,
      widest: shape.range(0.45, 0.8),
      bluntness: shape.range(1.8, 2.6),
      baseShare: shape.range(0.68, 0.98),
      asymmetry: uneven * shape.range(-0.16, 0.16),
      asymmetryAngle: shape.range(0, 180),
      waves: [1, 2, 3, 4].map((along) => ({
        size: (uneven * shape.normal(0, 0.035)) / along,
        along,
        phase: shape.range(0, 2 * Math.PI),
        around: shape.integer(0, 3),
      })),
      septalBulge: shape.chance(0.4 * uneven) ? shape.range(0.05, 0.25) : 0,
      bowMm: uneven * shape.normal(0, 0.05) * lengthMm,
      bowAngle: shape.range(0, 360),
      mitralTilt: uneven * shape.normal(0, 0.07),
      septalWallMm: request.septalWallMm ?? wall * shape.range(0.85, 1.25),
      lateralWallMm: request.lateralWallMm ?? wall * shape.range(0.8, 1.2),
      apexShare: shape.range(0.7, 1.25),
    },
    contraction: {
      ejectionFraction,
      longitudinal: request.longitudinal ?? ejectionFraction * shape.range(0.17, 0.31),
      segments: request.segments ?? EVEN_MOTION,
    },
    beatsPerMinute: request.beatsPerMinute ?? shape.range(52, 98),
    ...drawRest(random.fork('rest'), request, radiusMm),
  };
}

function drawRest(
  random: Random,
  request: HeartRequest,
  radiusMm: number,
): Omit<HeartSizes, 'ventricle' | 'contraction' | 'beatsPerMinute'> {
  // An atrium is about as wide as its ventricle's base, which results in volumes from 24 to more
  // than 130 ml.
  const slenderness = random.range(0.85, 1.4);
  const atriumMm = Math.max(17, radiusMm * random.range(0.85, 1.25));
  return {
    leftAtrium: {
      volumeMl: request.leftAtriumMl ?? (4 / 3000) * Math.PI * atriumMm ** 3 * slenderness,
      emptying: random.range(0.3, 0.6),
      slenderness,
    },
    rightAtrium: {
      radiusMm: request.rightAtriumRadiusMm ?? random.range(16, 27),
      slenderness: random.range(0.95, 1.35),
    },
    rightVentricle: {
      basalMm: request.rightBasalMm ?? random.range(24, 46),
      narrowing: request.rightNarrowing ?? random.range(0.15, 0.4),
      tapseMm: request.tapseMm ?? random.range(10, 26),
      lengthShare: random.range(0.7, 0.92),
      wallMm: request.rightWallMm ?? random.range(2.5, 5),
    },
    aorta: {
      annulusMm: random.range(19, 24),
      sinusMm: request.sinusMm ?? random.range(27, 37),
      ascendingMm: random.range(25, 34),
    },
    aorticOpening: request.aorticOpening ?? 1,
    effusionMm: request.effusionMm ?? 0,
    cava: {
      diameterMm: request.cavaMm ?? random.range(12, 24),
      collapse: request.cavaCollapse ?? random.range(0.2, 0.8),
    },
  };
}
