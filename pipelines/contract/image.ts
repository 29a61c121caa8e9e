/** A point in pixel coordinates of the stored frame. The centre of the top left pixel is (0, 0). */
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
 * An ellipse in pixel coordinates. `angle` is the direction of the semi-axis `a`, in radians from
 * +x towards +y (clockwise on the screen). `a` may be shorter than `b`.
 */
export interface Ellipse {
  centre: Point;
  a: number;
  b: number;
  angle: number;
}

/**
 * Millimetres per pixel along x and along y, always positive. The two may differ (PS3.3 C.8.5.5).
 */
export interface PixelScale {
  x: number;
  y: number;
}
