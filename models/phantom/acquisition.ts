import {
  fromPolar,
  type ImageWindow,
  type Point,
  type Sector,
  toPixel,
  toPolar,
} from './geometry.ts';
import type { Acquisition } from './image-formation.ts';
import type { Random } from './random.ts';

const SCREENS = [
  { columns: 640, rows: 480 },
  { columns: 800, rows: 600 },
  { columns: 1024, rows: 768 },
] as const;

/** Finest and coarsest scale of obstetric screens, mm per pixel. */
const SCALE = { finest: 0.1, coarsest: 0.35 } as const;

/** Half the width and half the height of the anatomy on the screen, in mm, including margins. */
export interface Extent {
  across: number;
  down: number;
}

/**
 * A view of an anatomy: where the field of view and the centre of the anatomy are on the screen.
 */
export interface View {
  sector: Sector;
  window: ImageWindow;
  centre: Point;
  /** Thickness of the maternal abdominal wall above the anatomy. */
  wallMm: number;
}

function drawView(extent: Extent, random: Random, screen?: Screen): View {
  const { columns, rows } = screen ?? random.pick(SCREENS);
  const fill = random.range(0.5, 0.85);
  const fitting = Math.max(
    (2 * extent.across) / (fill * columns),
    (2 * extent.down) / (fill * rows),
  );
  const mmPerPixel = Math.min(SCALE.coarsest, Math.max(SCALE.finest, fitting));
  const radiusMm = random.range(38, 65);
  const halfAngle = random.range(0.5, 0.68);
  const wallMm = random.range(9, 28);
  const depth = wallMm + extent.down + random.range(-3, 16);
  const row = rows * random.range(0.45, 0.58);
  const faceRise = radiusMm * (1 - Math.cos(halfAngle));
  const topmost = rows * random.range(0.01, 0.06) + faceRise / mmPerPixel;
  const origin = {
    x: columns * random.range(0.47, 0.53),
    y: Math.min(topmost, row - depth / mmPerPixel),
  };
  const centre = {
    x: (columns * random.range(0.44, 0.56) - origin.x) * mmPerPixel,
    y: (row - origin.y) * mmPerPixel,
  };
  const depthMm = (rows - origin.y) * mmPerPixel * random.range(0.97, 1.2);
  return {
    sector: { radiusMm, halfAngle, depthMm },
    window: { columns, rows, mmPerPixel, origin },
    centre,
    wallMm,
  };
}

export interface Screen {
  columns: number;
  rows: number;
}

/**
 * Returns true if a point is inside the field of view and on the screen, at least `margin` pixels
 * from its edge.
 */
function isSeen(view: View, point: Point, margin: number): boolean {
  const { sector, window } = view;
  const { range, angle } = toPolar(sector, point.x, point.y);
  const pixel = toPixel(window, point);
  return (
    range > 0 &&
    range < sector.depthMm &&
    Math.abs(angle) < 0.97 * sector.halfAngle &&
    pixel.x > margin &&
    pixel.y > margin &&
    pixel.x < window.columns - margin &&
    pixel.y < window.rows - margin
  );
}

/**
 * Picks a random view that shows all of `border` (mm relative to the anatomy's centre). If several
 * attempts fail, the anatomy is centred on the axis and the probe is moved back, as a sonographer
 * would do.
 */
export function drawVisibleView(
  extent: Extent,
  border: readonly Point[],
  random: Random,
  screen?: Screen,
): View {
  const seesAll = (view: View) =>
    border.every((p) => isSeen(view, { x: p.x + view.centre.x, y: p.y + view.centre.y }, 6));
  let view = drawView(extent, random, screen);
  for (let attempt = 0; attempt < 60 && !seesAll(view); attempt++) {
    view = drawView(extent, random, screen);
  }
  const { mmPerPixel } = view.window;
  while (!seesAll(view) && view.window.origin.y > -view.window.rows) {
    view.window.origin.y -= 2 / mmPerPixel;
    view.centre = { x: view.centre.x * 0.8, y: view.centre.y + 2 };
    view.sector.depthMm += 2;
  }
  return view;
}

/** Randomly picks machine settings for a view. */
export function drawAcquisition(view: View, random: Random): Acquisition {
  const quality = random.unit();
  // A small field of view is usually imaged at a higher frequency, with finer resolution.
  const fineness = Math.max(0.55, Math.min(1.15, view.window.mmPerPixel / 0.2));
  return {
    sector: view.sector,
    window: view.window,
    beam: {
      axialMm: fineness * (random.range(0.2, 0.35) + 0.12 * (1 - quality)),
      lateralMm: fineness * (random.range(0.4, 0.65) + 0.35 * (1 - quality)),
      focusMm: view.centre.y * random.range(0.8, 1.2),
      focalZoneMm: random.range(35, 80),
    },
    gain: random.range(-4, 8),
    dynamicRange: random.range(46, 66),
    gainSlope: random.normal(0, 5),
    clutter: random.range(-46, -30),
    reverberation: random.range(-36, -14),
    nearField: random.range(-45, -22),
    noiseFloor: random.range(-72, -52),
    compounding: fineness * random.range(0.1, 0.45),
    gamma: random.range(0.85, 1.3),
  };
}

/**
 * Returns the corners of the field of view on the screen, clipped to the screen (region corners,
 * PS3.3 C.8.5.5).
 */
export function fieldOfView(sector: Sector, window: ImageWindow) {
  const seen = (at: Point) => toPixel(window, at);
  const left = seen(fromPolar(sector, sector.depthMm, -sector.halfAngle));
  const right = seen(fromPolar(sector, sector.depthMm, sector.halfAngle));
  const top = seen(fromPolar(sector, 0, sector.halfAngle));
  const bottom = seen(fromPolar(sector, sector.depthMm, 0));
  return {
    minX: Math.max(0, Math.floor(left.x)),
    minY: Math.max(0, Math.floor(top.y)),
    maxX: Math.min(window.columns - 1, Math.ceil(right.x)),
    maxY: Math.min(window.rows - 1, Math.ceil(bottom.y)),
  };
}
