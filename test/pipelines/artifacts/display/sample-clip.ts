import { type Clip, type RgbImage, UNDESCRIBED } from '../../../../pipelines/contract/study.ts';

export const [COLUMNS, ROWS] = [640, 480] as const;

/** A name, drawn as white bars in the top left corner. */
export const NAME = { minX: 20, minY: 10, maxX: 200, maxY: 30 } as const;
/** The ultrasound region, below the name. */
export const REGION = { minX: 40, minY: 60, maxX: 600, maxY: 440 } as const;

/**
 * Returns speckle inside the region that differs in each frame and, if `named`, the bars outside
 * it.
 */
export function pixelsOf(frame: number, named: boolean): RgbImage {
  const data = new Uint8Array(3 * COLUMNS * ROWS);
  let state = frame + 1;
  for (let y = 0; y < ROWS; y += 1) {
    for (let x = 0; x < COLUMNS; x += 1) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      const within = (area: typeof NAME | typeof REGION) =>
        x >= area.minX && x <= area.maxX && y >= area.minY && y <= area.maxY;
      const bar = named && within(NAME) && x % 8 < 4;
      data.fill(
        within(REGION) ? 40 + (state >>> 25) : bar ? 255 : 0,
        3 * (y * COLUMNS + x),
        3 * (y * COLUMNS + x) + 3,
      );
    }
  }
  return { width: COLUMNS, height: ROWS, data };
}

/** A calibrated clip at 20 frames a second. */
export function sampleClip(
  file: string,
  frames: number,
  { named = false, ...changes }: Partial<Clip> & { named?: boolean } = {},
): Clip {
  return {
    file,
    ...UNDESCRIBED,
    sopInstanceUid: '2.25.2001',
    timing: 'frame-time',
    ultrasoundAreas: [REGION],
    burnedInAnnotation: null,
    width: COLUMNS,
    height: ROWS,
    regions: [{ area: REGION, scale: { x: 0.2, y: 0.2 }, source: 'region' }],
    calibrationRefused: null,
    mode: '2d',
    frames: Array.from({ length: frames }, (_, index) => ({
      index,
      time: index / 20,
      gray: async () => {
        const { width, height, data } = pixelsOf(index, named);
        return { width, height, data: data.filter((__, at) => at % 3 === 0) };
      },
      rgb: async () => pixelsOf(index, named),
    })),
    ...changes,
  };
}
