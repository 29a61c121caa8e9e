import type { NaturalDataset } from 'dcmjs';
import type { PhantomFrame } from '../frame.ts';
import { drawText, GLYPH } from '../glyphs.ts';
import type { Random } from '../random.ts';
import type { SpectrumSettings } from './spectrum-picture.ts';
import type { Waveform } from './spectrum-waveform.ts';

/** Where the display stands on the screen and how it was set. */
export interface Display {
  columns: number;
  rows: number;
  left: number;
  top: number;
  settings: SpectrumSettings;
}

/** The fastest velocity over time, beat by beat, each a little other than the last. */
export function beatsOverTime(
  waveform: Pick<Waveform, 'beatsPerMinute' | 'velocity'>,
  seconds: number,
  irregularity: number,
  random: Random,
): (time: number) => number {
  const mean = 60 / waveform.beatsPerMinute;
  const beats: { from: number; length: number; size: number }[] = [];
  for (let from = -random.unit() * mean; from < seconds; ) {
    const length = mean * (1 + irregularity * random.range(-1.7, 1.7));
    beats.push({ from, length, size: 1 + 0.02 * random.normal(0, 1) });
    from += length;
  }
  return (time) => {
    const beat = beats.findLast(({ from }) => from <= time);
    return beat ? beat.size * waveform.velocity((time - beat.from) / beat.length) : 0;
  };
}

/** Baseline, ticks at both axes, the scale's figures and the settings: never part of the flow. */
export function drawMarks(
  gray: Uint8Array,
  display: Display,
  random: Random,
  tickCmPerSecond = 20,
): void {
  const { columns, rows, left, top, settings } = display;
  const plot = (column: number, row: number, level: number) => {
    if (column < 0 || row < 0 || column >= columns || row >= rows) return;
    gray[row * columns + column] = level;
  };
  const level = random.integer(110, 255);
  const thick = random.integer(1, 2);
  for (let column = left; column < left + settings.columns; column++) {
    for (let i = 0; i < thick; i++) plot(column, top + settings.zeroRow + i, level);
  }
  const step = tickCmPerSecond / settings.velocityPerRow;
  const right = left + settings.columns + 4;
  for (let tick = -12; tick <= 12; tick++) {
    const row = Math.round(top + settings.zeroRow - tick * step);
    if (row < top || row >= top + settings.rows) continue;
    for (let i = 0; i < 5; i++) plot(right + i, row, 220);
    drawText(String(tickCmPerSecond * tick), (x, y) => plot(right + 8 + x, row - 3 + y, 220));
  }
  const second = 1 / settings.secondsPerColumn;
  for (let column = left; column < left + settings.columns; column += second / 5) {
    for (let i = 0; i < 4; i++) plot(Math.round(column), top + settings.rows + 2 + i, 220);
  }
  if (random.chance(0.5)) {
    // Dots of a grid lie on the flow itself.
    for (let column = left; column < left + settings.columns; column += second) {
      for (let tick = -12; tick <= 12; tick++) {
        const row = Math.round(top + settings.zeroRow - tick * step);
        if (row >= top && row < top + settings.rows) plot(Math.round(column), row, 150);
      }
    }
  }
  const lines = ['PHANTOM', `PRF ${random.range(2, 9).toFixed(1)}`, `GN ${random.integer(0, 60)}`];
  for (const [line, text] of lines.entries()) {
    drawText(text, (x, y) => plot(14 + x, 10 + line * GLYPH.lineHeight + y, level));
  }
}

/** Places the spectrum within the screen. */
export function placeSpectrum(gray: Uint8Array, display: Display, spectrum: Uint8Array): void {
  const { columns, left, top, settings } = display;
  for (let row = 0; row < settings.rows; row++) {
    const from = row * settings.columns;
    gray.set(spectrum.subarray(from, from + settings.columns), (top + row) * columns + left);
  }
}

/** Corners and scales of a display, as values of the truth: what its header says too. */
export function displayValues({ left, top, settings }: Display): Record<string, number> {
  return {
    leftPixel: left,
    topPixel: top,
    rightPixel: left + settings.columns - 1,
    bottomPixel: top + settings.rows - 1,
    zeroRowPixel: settings.zeroRow,
    secondsPerColumn: settings.secondsPerColumn,
    cmPerSecondPerRow: settings.velocityPerRow,
  };
}

/** Region Data Type of a spectrum (PS3.3 C.8.5.5.1.2). */
export const SPECTRUM_TYPE = { pulsed: 3, continuous: 4 } as const;

/** One spectral region: seconds along x, cm/s along y, the baseline as reference pixel (C.8.5.5.1). */
export function spectralRegion(
  { truth }: PhantomFrame,
  type: (typeof SPECTRUM_TYPE)[keyof typeof SPECTRUM_TYPE] = SPECTRUM_TYPE.pulsed,
): NaturalDataset {
  const at = (name: string) => truth.values?.[name] ?? 0;
  return {
    RegionSpatialFormat: 3,
    RegionDataType: type,
    RegionFlags: 0,
    RegionLocationMinX0: at('leftPixel'),
    RegionLocationMinY0: at('topPixel'),
    RegionLocationMaxX1: at('rightPixel'),
    RegionLocationMaxY1: at('bottomPixel'),
    ReferencePixelX0: 0,
    ReferencePixelY0: at('zeroRowPixel'),
    PhysicalUnitsXDirection: 4,
    PhysicalUnitsYDirection: 7,
    ReferencePixelPhysicalValueX: 0,
    ReferencePixelPhysicalValueY: 0,
    PhysicalDeltaX: at('secondsPerColumn'),
    PhysicalDeltaY: -at('cmPerSecondPerRow'),
  };
}
