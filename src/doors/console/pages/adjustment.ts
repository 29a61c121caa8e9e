export interface Adjustment {
  /** Zoom factor; 1 shows the whole image. */
  scale: number;
  /** Offset of the image's centre from the centre of its area, in screen pixels. */
  x: number;
  y: number;
  /**
   * Factors of brightness and contrast; 1 leaves the image unchanged. More contrast means a
   * narrower window.
   */
  brightness: number;
  contrast: number;
}

export const UNCHANGED: Adjustment = { scale: 1, x: 0, y: 0, brightness: 1, contrast: 1 };

const SCALES = { least: 1, most: 8 } as const;
/** Limits of brightness and contrast, also used by the sliders. */
export const LIGHT = { least: 0.2, most: 3 } as const;

const within = (value: number, { least, most }: { least: number; most: number }): number =>
  Math.min(most, Math.max(least, value));

/** Zooms by a factor; the image point at `at` does not move. */
export function zoomedAt(
  now: Adjustment,
  factor: number,
  at: { x: number; y: number } = { x: 0, y: 0 },
): Adjustment {
  const scale = within(now.scale * factor, SCALES);
  if (scale === SCALES.least) return { ...now, scale, x: 0, y: 0 };
  const share = scale / now.scale;
  return { ...now, scale, x: at.x - (at.x - now.x) * share, y: at.y - (at.y - now.y) * share };
}

/** Moves the image by screen pixels, unless the whole image is shown. */
export function moved(now: Adjustment, { x, y }: { x: number; y: number }): Adjustment {
  return now.scale === SCALES.least ? now : { ...now, x: now.x + x, y: now.y + y };
}

/** Pixels that the pointer must move to double the brightness or contrast. */
const DOUBLING = 250;

/**
 * Changes the contrast with the horizontal part of a right-button drag, and the brightness with the
 * vertical part.
 */
export function lit(now: Adjustment, { x, y }: { x: number; y: number }): Adjustment {
  return {
    ...now,
    contrast: within(now.contrast * 2 ** (x / DOUBLING), LIGHT),
    brightness: within(now.brightness * 2 ** (-y / DOUBLING), LIGHT),
  };
}

/**
 * Returns the style shared by the image and the drawing over it. Only the image uses `--light`, so
 * the colours of the drawing do not change.
 */
export const styleOf = ({ scale, x, y, brightness, contrast }: Adjustment) => ({
  '--place': `translate(${x}px, ${y}px) scale(${scale})`,
  '--light': `brightness(${brightness}) contrast(${contrast})`,
  '--enlarged': String(scale),
});
