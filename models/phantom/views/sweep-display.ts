import type { NaturalDataset } from 'dcmjs';
import type { PhantomFrame } from '../frame.ts';

/** Position of an M-mode sweep on the screen, and its scales. */
export interface Sweep {
  columns: number;
  rows: number;
  left: number;
  top: number;
  width: number;
  height: number;
  secondsPerColumn: number;
  cmPerRow: number;
}

/**
 * Paints the envelope of the echoes (rows x columns of the sweep, 1 is white) on a black screen.
 */
export function paintSweep(echoes: Float32Array, sweep: Sweep, dynamicRange: number): Uint8Array {
  const { columns, rows, left, top, width, height } = sweep;
  const gray = new Uint8Array(columns * rows);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const decibel = 20 * Math.log10((echoes[row * width + column] as number) + 1e-6);
      const level = Math.max(0, Math.min(255, 255 * (1 + decibel / dynamicRange)));
      gray[(top + row) * columns + left + column] = level;
    }
  }
  return gray;
}

/** Returns the corners and scales as truth values. The header contains the same values. */
export function sweepValues(sweep: Sweep): Record<string, number> {
  const { left, top, width, height, secondsPerColumn, cmPerRow } = sweep;
  return {
    leftPixel: left,
    topPixel: top,
    rightPixel: left + width - 1,
    bottomPixel: top + height - 1,
    secondsPerColumn,
    cmPerRow,
  };
}

/** Describes one M-mode region: seconds along x, depth in cm along y (PS3.3 C.8.5.5). */
export function sweepRegion({ truth }: PhantomFrame): NaturalDataset {
  const at = (name: string) => truth.values?.[name] ?? 0;
  return {
    RegionSpatialFormat: 2,
    RegionDataType: 1,
    RegionFlags: 0,
    RegionLocationMinX0: at('leftPixel'),
    RegionLocationMinY0: at('topPixel'),
    RegionLocationMaxX1: at('rightPixel'),
    RegionLocationMaxY1: at('bottomPixel'),
    ReferencePixelX0: 0,
    ReferencePixelY0: 0,
    PhysicalUnitsXDirection: 4,
    PhysicalUnitsYDirection: 3,
    ReferencePixelPhysicalValueX: 0,
    ReferencePixelPhysicalValueY: 0,
    PhysicalDeltaX: at('secondsPerColumn'),
    PhysicalDeltaY: at('cmPerRow'),
  };
}
