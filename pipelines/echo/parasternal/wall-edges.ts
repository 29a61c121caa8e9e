import type { GrayImage, PixelScale } from '../../contract/image.ts';
import {
  type LineProfile,
  lineProfile,
  meanLevel,
  steepestStep,
} from '../../measure/line-profile.ts';
import type { Line, LongAxisLine } from '../locate/parasternal.ts';

/**
 * In millimetres unless stated otherwise. Chosen on phantoms that are not used for any other
 * measurement.
 */
const WALL_EDGES = {
  /** Maximum distance between a border in the picture and the same border in the outlines. */
  within: 3,
  /** Half width of the band over which grey levels are averaged. */
  beside: 1.5,
  /**
   * Minimum contrast of a step that counts as a border. Speckle within a wall has less contrast.
   */
  clear: 0.12,
  /**
   * Distance by which echoes extend beyond the border of a structure, because the display shows
   * even faint echoes.
   */
  smear: 0.4,
  /**
   * A part of the line counts as wall if its grey level is above this share of the way from the
   * level of blood to the level of muscle.
   */
  wall: 0.4,
  /**
   * Minimum and maximum depth of the fluid searched for behind the wall. Thinner fluid is normal
   * (echo 13).
   */
  fluid: { least: 3, most: 60 },
  /**
   * A space counts as echo-free if its grey level is below cavity + this fraction × (wall − cavity),
   * where `cavity` and `wall` are mean grey levels.
   */
  echoFree: 0.12,
  /**
   * Minimum grey level of the pericardium behind the fluid, as the same fraction.
   */
  echo: 0.5,
} as const;

export interface PictureLines {
  lines: Partial<Record<LongAxisLine, Line>>;
  /** Line across the echo-free space behind the posterior wall, or null. */
  gap: Line | null;
}

type Range = readonly [from: number, to: number];

/**
 * Returns the position of the step in the picture that belongs to an outlined border. If there is
 * no clear step, the outlined position is returned.
 */
function border(profile: LineProfile, kind: 'brighter' | 'darker', at: number, limits: Range) {
  const { within, clear, smear } = WALL_EDGES;
  const range = [Math.max(at - within, limits[0]), Math.min(at + within, limits[1])] as const;
  const step = steepestStep(profile, kind, range);
  if (!step || Math.abs(step.contrast) < clear) return at;
  return step.at + (kind === 'brighter' ? smear : -smear);
}

/**
 * An outlined border between blood and muscle, and the limits within which to search the picture
 * for its step.
 */
interface Outlined {
  kind: 'brighter' | 'darker';
  at: number;
  limits: Range;
}

/**
 * Returns the position of the border between blood and muscle. Moving the border to a step assigns
 * the part of the line in between to the other tissue. The border is moved only if that part has
 * the grey level of the other tissue or is shorter than `SPOT`. A bright spot within the wall is
 * therefore not taken for a border, however steep its edges are.
 */
function wallBorder(
  profile: LineProfile,
  { kind, at, limits }: Outlined,
  { blood, muscle }: { blood: number; muscle: number },
): number {
  const found = border(profile, kind, at, limits);
  if (Math.abs(found - at) < SPOT) return found;
  const level = meanLevel(profile, Math.min(at, found), Math.max(at, found));
  const becomesWall = kind === 'brighter' ? found < at : found > at;
  return level > blood + WALL_EDGES.wall * (muscle - blood) === becomesWall ? found : at;
}

/**
 * Measures septum, cavity and posterior wall on one line. Each border with blood is moved to the
 * nearby step in the picture (echo 5.1), because a network's outline is only as fine as its grid.
 * The outer border of the posterior wall is clear in the picture only if there is fluid behind it;
 * otherwise it stays where it was outlined.
 */
export function linesOnPicture(
  image: GrayImage,
  scale: PixelScale,
  lines: Partial<Record<LongAxisLine, Line>>,
): PictureLines {
  const { septum, cavity, 'posterior-wall': wall } = lines;
  if (!septum || !cavity || !wall) return { lines, gap: null };
  const { beside, within, fluid } = WALL_EDGES;
  const [thickness, behind] = [lengthOf(septum, scale), lengthOf(wall, scale)];
  const profile = lineProfile(image, scale, cavity, {
    half: beside,
    before: thickness + 2 * within,
    beyond: behind + fluid.most + 2 * within,
  });
  const { length } = profile;
  const middle = length / 2;
  const blood = meanLevel(profile, middle / 2, 1.5 * middle);
  const inside = (from: number, wide: number) => ({
    blood,
    muscle: meanLevel(profile, from + wide / 4, from + (3 * wide) / 4),
  });
  const septal = inside(-thickness, thickness);
  const half = -thickness / 2;
  const front = wallBorder(profile, { kind: 'darker', at: 0, limits: [half, middle] }, septal);
  const right = wallBorder(
    profile,
    { kind: 'brighter', at: -thickness, limits: [Number.NEGATIVE_INFINITY, half] },
    septal,
  );
  const back = wallBorder(
    profile,
    { kind: 'brighter', at: length, limits: [middle, length + behind / 2] },
    inside(length, behind),
  );
  const outlined = length + behind;
  const space = fluidBehind(profile, { back, outlined });
  const line = (from: number, to: number): Line => [profile.point(from), profile.point(to)];
  return {
    lines: {
      ...lines,
      septum: line(right, front),
      cavity: line(front, back),
      'posterior-wall': line(back, space ? space[0] : outlined),
    },
    gap: space && line(...space),
  };
}

function fluidBehind(
  profile: LineProfile,
  { back, outlined }: { back: number; outlined: number },
): Range | null {
  const { echoFree, echo, fluid, within } = WALL_EDGES;
  const blood = meanLevel(profile, profile.length / 4, (3 * profile.length) / 4);
  const muscle = meanLevel(profile, back, Math.max(back + 2, outlined - 2));
  const level = (share: number) => blood + share * (muscle - blood);
  const from = border(profile, 'darker', outlined, [back + 2, Number.POSITIVE_INFINITY]);
  let end = from + fluid.least / 2;
  while (end - from < fluid.most && profile.level(end) < level(echo)) end += EVERY;
  const far = border(profile, 'brighter', end, [end - within, end + within]);
  const free = meanLevel(profile, from + 0.5, far - 1) < level(echoFree);
  const answered = meanLevel(profile, far, far + 2) > level(echo);
  return free && answered && far - from >= fluid.least ? [from, far] : null;
}

const EVERY = 0.25;
/** A part of the line shorter than this, mm, is too short to tell blood from muscle. */
const SPOT = 1;

/** In millimetres. */
export const lengthOf = ([from, to]: Line, scale: PixelScale) =>
  Math.hypot((to.x - from.x) * scale.x, (to.y - from.y) * scale.y);
