/** A point in pixel coordinates of the stored frame: the centre of the top left pixel is (0, 0). */
export interface Point {
  x: number;
  y: number;
}

/** 8-bit luminance, row by row, `data.length === width * height`. */
export interface GrayImage {
  width: number;
  height: number;
  data: Uint8Array;
}

/**
 * An ellipse in pixel coordinates. `angle` is the direction of the semi-axis `a`, in radians,
 * counted from +x towards +y (clockwise on the screen). `a >= b` is not required: `a` and `b`
 * are just the two semi-axes.
 */
export interface Ellipse {
  centre: Point;
  a: number;
  b: number;
  angle: number;
}

/** Millimetres per pixel along x and along y; the two may differ (PS3.3 C.8.5.5). Always positive. */
export interface PixelScale {
  x: number;
  y: number;
}
