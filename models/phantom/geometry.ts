/**
 * Coordinates. Millimetres: x to the image's right, y into the body, origin at the middle of the
 * probe face. Pixels: the centre of the first pixel is (0, 0). Angles: radians from x towards y.
 */
export interface Point {
  x: number;
  y: number;
}

/**
 * An ellipse: its centre, its semi-axes a >= b, and the angle of a. The unit depends on the object
 * that contains it.
 */
export interface Ellipse {
  centre: Point;
  a: number;
  b: number;
  angle: number;
}

/** Field of view of a curved array: radius of its face, half opening angle and imaging depth. */
export interface Sector {
  radiusMm: number;
  halfAngle: number;
  depthMm: number;
}

/**
 * Placement of the field of view on the screen. `origin` is the pixel at the origin of the
 * millimetre coordinates.
 */
export interface ImageWindow {
  columns: number;
  rows: number;
  mmPerPixel: number;
  origin: Point;
}

/** Returns the range below the probe face along a scan line, in mm, and the angle of this line. */
export function toPolar(sector: Sector, x: number, y: number): { range: number; angle: number } {
  const fromCentre = y + sector.radiusMm;
  const range = Math.sqrt(x * x + fromCentre * fromCentre) - sector.radiusMm;
  return { range, angle: Math.atan2(x, fromCentre) };
}

export function fromPolar(sector: Sector, range: number, angle: number): Point {
  const radius = sector.radiusMm + range;
  return { x: radius * Math.sin(angle), y: radius * Math.cos(angle) - sector.radiusMm };
}

export function toPixel(window: ImageWindow, point: Point): Point {
  return {
    x: window.origin.x + point.x / window.mmPerPixel,
    y: window.origin.y + point.y / window.mmPerPixel,
  };
}

export function toMillimetres(window: ImageWindow, pixel: Point): Point {
  return {
    x: (pixel.x - window.origin.x) * window.mmPerPixel,
    y: (pixel.y - window.origin.y) * window.mmPerPixel,
  };
}

export function ellipseInPixels(window: ImageWindow, ellipse: Ellipse): Ellipse {
  return {
    centre: toPixel(window, ellipse.centre),
    a: ellipse.a / window.mmPerPixel,
    b: ellipse.b / window.mmPerPixel,
    angle: ellipse.angle,
  };
}

/** A local coordinate system rotated by `angle` around `centre`. `mirror` flips its second axis. */
export interface Pose {
  centre: Point;
  angle: number;
  mirror: boolean;
}

/** Converts a point in the axes of the anatomy (u, v in mm) to the body (x, y in mm). */
export function place(pose: Pose, u: number, v: number): Point {
  const side = pose.mirror ? -v : v;
  const cos = Math.cos(pose.angle);
  const sin = Math.sin(pose.angle);
  return { x: pose.centre.x + u * cos - side * sin, y: pose.centre.y + u * sin + side * cos };
}
