import { OUTFLOW_ANGLE } from './chambers.ts';
import type { HeartSizes } from './sizes.ts';
import { across, degrees, type ImagePlane, type Place, sum } from './space.ts';

const AXIS: Place = { x: 0, y: 0, z: 1 };

/**
 * Apical planes. The number is the angle in degrees of the wall on the right of the screen:
 * anterolateral, anterior and anteroseptal (ASE 2015, figure 4).
 */
export const APICAL_RIGHT = { A4C: 30, A2C: 90, A3C: 150, A5C: 30 } as const;
export type ApicalView = keyof typeof APICAL_RIGHT;

/** Position of the probe for an apical plane. Angles are in degrees. */
interface ApicalHold {
  /** Depth of the endocardial apex below the probe at end diastole, mm. */
  apexDepthMm: number;
  /** Distance of the apex to the right of the probe's middle, mm. */
  apexRightMm: number;
  /** Tilt of the base towards the right of the screen. */
  lean: number;
  /** Rotation about the long axis away from the standard plane. */
  turn: number;
  /**
   * Tilt of the beam out of the plane. If the probe is above the true apex, the view is
   * foreshortened.
   */
  sweep: number;
}

/** Tilt towards the anterior wall that brings the outflow tract into a four-chamber plane. */
const FIVE_CHAMBER_SWEEP = 11;

export function apicalPlane(
  view: ApicalView,
  { ventricle }: HeartSizes,
  hold: ApicalHold,
): ImagePlane {
  const angle = APICAL_RIGHT[view] + hold.turn;
  const side = across(angle);
  const lean = degrees(hold.lean);
  const right = sum([Math.cos(lean), side], [-Math.sin(lean), AXIS]);
  const inPlane = sum([-Math.cos(lean), AXIS], [-Math.sin(lean), side]);
  const sweep = degrees(hold.sweep + (view === 'A5C' ? FIVE_CHAMBER_SWEEP : 0));
  const down = sum([Math.cos(sweep), inPlane], [Math.sin(sweep), across(angle + 90)]);
  const face = sum(
    [ventricle.lengthMm, AXIS],
    [-hold.apexRightMm, right],
    [-hold.apexDepthMm, down],
  );
  return { face, right, down };
}

/** Position of the probe for a parasternal plane. */
interface ParasternalHold {
  /** Depth of the long axis below the probe, mm. */
  axisDepthMm: number;
  /**
   * Position of the probe's middle along the axis, mm: 0 at the mitral plane, positive towards the
   * apex.
   */
  aboveZ: number;
  /** Tilt of the apex on the screen: positive upwards, negative downwards. */
  lean: number;
  turn: number;
  /** Distance of the plane from the long axis, mm. */
  asideMm: number;
}

/**
 * Returns the parasternal long axis: the plane of the three-chamber view, seen from the front of
 * the chest, with the apex on the left and the right ventricle at the top.
 */
export function longAxisPlane(hold: ParasternalHold): ImagePlane {
  const front = across(OUTFLOW_ANGLE + hold.turn);
  const lean = degrees(hold.lean);
  const right = sum([-Math.cos(lean), AXIS], [Math.sin(lean), front]);
  const down = sum([-Math.cos(lean), front], [-Math.sin(lean), AXIS]);
  const middle = sum([hold.aboveZ, AXIS], [hold.asideMm, across(OUTFLOW_ANGLE + hold.turn + 90)]);
  return { face: sum([1, middle], [-hold.axisDepthMm, down]), right, down };
}

/**
 * Bull's-eye angle at the top of a short-axis image, in degrees from the lateral wall. The anterior
 * wall is at 90, so the top is between the anterior wall and the septum.
 */
const SHORT_AXIS_FRONT = 118;

/**
 * Returns a parasternal short axis across the long axis at `z`, seen from the apex, with the septum
 * on the left.
 */
export function shortAxisPlane(
  z: number,
  { axisDepthMm, lean, turn, asideMm }: Omit<ParasternalHold, 'aboveZ'>,
): ImagePlane {
  const front = across(SHORT_AXIS_FRONT + turn);
  const side = across(SHORT_AXIS_FRONT + turn - 90);
  const tilt = degrees(lean);
  const down = sum([-Math.cos(tilt), front], [Math.sin(tilt), AXIS]);
  const face = sum([z, AXIS], [-axisDepthMm, down], [-asideMm, side]);
  return { face, right: side, down };
}

/**
 * Returns the subcostal four-chamber plane: liver and right ventricle at the top, the apex at the
 * upper right.
 */
export function subcostalPlane(
  { ventricle }: HeartSizes,
  { depthMm, lean, turn }: { depthMm: number; lean: number; turn: number },
): ImagePlane {
  const side = across(APICAL_RIGHT.A4C + turn);
  const tilt = degrees(lean);
  const right = sum([Math.cos(tilt), AXIS], [Math.sin(tilt), side]);
  const down = sum([Math.cos(tilt), side], [-Math.sin(tilt), AXIS]);
  const middle = sum([0.22 * ventricle.lengthMm, AXIS]);
  return { face: sum([1, middle], [-depthMm, down]), right, down };
}
