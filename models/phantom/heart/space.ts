/**
 * Coordinates of the heart, mm. z runs along the long axis of the left ventricle, from the mitral
 * plane at end diastole (0) to the apex. x points to the lateral wall (0 degrees of the bull's-eye)
 * and y to the anterior wall (90 degrees), so that the septum is at 180 degrees (Cerqueira 2002).
 */
export interface Place {
  x: number;
  y: number;
  z: number;
}

/** Converts degrees to radians. */
export const degrees = (angle: number) => (angle * Math.PI) / 180;

/** Returns the unit vector across the long axis at an angle of the bull's-eye in degrees. */
export function across(angle: number): Place {
  return { x: Math.cos(degrees(angle)), y: Math.sin(degrees(angle)), z: 0 };
}

export function sum(...terms: readonly (readonly [number, Place])[]): Place {
  const total = { x: 0, y: 0, z: 0 };
  for (const [factor, { x, y, z }] of terms) {
    total.x += factor * x;
    total.y += factor * y;
    total.z += factor * z;
  }
  return total;
}

export const dot = (a: Place, b: Place) => a.x * b.x + a.y * b.y + a.z * b.z;

export function unit(vector: Place): Place {
  return sum([1 / Math.sqrt(dot(vector, vector)), vector]);
}

/**
 * An imaging plane: the middle of the probe face, and the directions that are right and down on the
 * screen.
 */
export interface ImagePlane {
  face: Place;
  right: Place;
  down: Place;
}

/**
 * Converts an image point (mm to the right of the probe face and below it) to a place in the heart.
 */
export function fromImage({ face, right, down }: ImagePlane, x: number, y: number): Place {
  return {
    x: face.x + x * right.x + y * down.x,
    y: face.y + x * right.y + y * down.y,
    z: face.z + x * right.z + y * down.z,
  };
}

/** Returns the image point nearest to a place in the heart. */
export function toImage({ face, right, down }: ImagePlane, place: Place): { x: number; y: number } {
  const from = sum([1, place], [-1, face]);
  return { x: dot(from, right), y: dot(from, down) };
}
