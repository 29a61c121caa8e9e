import { describe, expect, it } from 'vitest';
import { simulateColour } from '../../../../models/phantom/echo/colour.ts';
import { mModeHeader, simulateEchoMMode } from '../../../../models/phantom/echo/m-mode.ts';
import {
  ECHO_SPECTRA,
  type EchoSpectrumId,
  simulateEchoSpectrum,
  spectrumHeader,
} from '../../../../models/phantom/echo/spectrum.ts';
import { diastolicSlope, mitralInflow } from '../../../../models/phantom/echo/waveforms.ts';
import type { PhantomFrame } from '../../../../models/phantom/frame.ts';
import { createHeart } from '../../../../models/phantom/heart/heart.ts';
import { beatAt } from '../../../../models/phantom/heart/motion.ts';
import { drawHeart } from '../../../../models/phantom/heart/sizes.ts';
import { createRandom } from '../../../../models/phantom/random.ts';

const heart = createHeart(
  drawHeart(createRandom(2), {
    lengthMm: 86,
    widthMm: 46,
    ejectionFraction: 0.6,
    tapseMm: 20,
    cavaMm: 22,
    cavaCollapse: 0.5,
    beatsPerMinute: 66,
    unevenness: 0,
  }),
);

const value = (frame: PhantomFrame, name: string) => frame.truth.values?.[name] ?? Number.NaN;

/** Returns the bright pixels in a column of the display, as rows from its top. */
function brightRows(frame: PhantomFrame, column: number, threshold = 70): number[] {
  const top = value(frame, 'topPixel');
  const rows: number[] = [];
  for (let row = top; row <= value(frame, 'bottomPixel'); row++) {
    if ((frame.gray[row * frame.columns + column] ?? 0) > threshold) rows.push(row - top);
  }
  return rows;
}

/**
 * Number of columns that must reach a velocity: more than the dots of the grid cover, but fewer
 * than the peaks of the beats.
 */
const REACHING_COLUMNS = 12;

/**
 * Returns the velocity farthest from the baseline that at least `REACHING_COLUMNS` columns reach,
 * cm/s.
 */
function farthest(frame: PhantomFrame, sign: 1 | -1): number {
  const zero = value(frame, 'zeroRowPixel');
  const reached: number[] = [];
  for (let column = value(frame, 'leftPixel'); column <= value(frame, 'rightPixel'); column++) {
    const rows = brightRows(frame, column).map((row) => sign * (zero - row));
    reached.push(Math.max(0, ...rows));
  }
  reached.sort((a, b) => b - a);
  return (reached[REACHING_COLUMNS] ?? 0) * value(frame, 'cmPerSecondPerRow');
}

describe('spectra of the heart', () => {
  it.each([
    ['mitral-inflow', 'eCmPerSecond', 1],
    ['aortic-valve', 'peakCmPerSecond', -1],
    ['mitral-regurgitation', 'peakCmPerSecond', -1],
    ['tricuspid-annulus', 'sCmPerSecond', 1],
    ['aortic-regurgitation', 'peakCmPerSecond', 1],
  ] as const)('%s shows its %s to within 8 %%', (id, name, sign) => {
    const frame = simulateEchoSpectrum(id, { heart, seed: 4 });
    const truth = value(frame, name);
    expect(Math.abs(farthest(frame, sign) - truth) / truth).toBeLessThan(0.08);
  });

  it.each(Object.keys(ECHO_SPECTRA) as EchoSpectrumId[])(
    '%s has its scales in the header',
    (id) => {
      const frame = simulateEchoSpectrum(id, {
        heart,
        seed: 1,
        screen: { columns: 320, rows: 240 },
      });
      const [region] = spectrumHeader(id, frame).regions ?? [];
      expect(region?.RegionSpatialFormat).toBe(3);
      expect(region?.RegionDataType).toBe(ECHO_SPECTRA[id].mode === 'continuous' ? 4 : 3);
      expect(region?.PhysicalDeltaY).toBe(-value(frame, 'cmPerSecondPerRow'));
      expect(region?.ReferencePixelY0).toBe(value(frame, 'zeroRowPixel'));
    },
  );

  it('E falls to the baseline in the deceleration time', () => {
    const beat = beatAt(60);
    const { velocity } = mitralInflow(beat, { e: 80, a: 60, decelerationMs: 200 });
    const peakAt = beat.fillingS + 0.08;
    expect(velocity(peakAt)).toBeCloseTo(80, 6);
    expect(velocity(peakAt + 0.1)).toBeCloseTo(40, 6);
    expect(velocity(peakAt + 0.2)).toBeCloseTo(0, 6);
  });

  it('the gradient of a slope halves in the pressure half-time', () => {
    const beat = beatAt(60);
    const { velocity } = diastolicSlope(beat, { peak: 400, pressureHalfTimeMs: 300 });
    const start = beat.systoleS + 0.03;
    expect((velocity(start + 0.3) / velocity(start)) ** 2).toBeCloseTo(0.5, 6);
  });
});

describe('M-mode of the heart', () => {
  it('shows the excursion of the tricuspid ring to within a millimetre and a half', () => {
    const frame = simulateEchoMMode('m-mode-tapse', { heart, seed: 3 });
    const left = value(frame, 'leftPixel');
    const middles: number[] = [];
    const mmPerRow = 10 * value(frame, 'cmPerRow');
    const atria = Math.round((0.55 * heart.sizes.ventricle.lengthMm) / mmPerRow);
    for (let column = left; column <= value(frame, 'rightPixel'); column += 4) {
      const rows = brightRows(frame, column, 0).filter((row) => row > atria);
      const level = (row: number) =>
        frame.gray[(row + value(frame, 'topPixel')) * frame.columns + column] ?? 0;
      const sum = (row: number) =>
        level(row - 2) + level(row - 1) + 2 * level(row) + level(row + 1) + level(row + 2);
      middles.push(
        rows.reduce((best, row) => (sum(row) > sum(best) ? row : best), atria) * mmPerRow,
      );
    }
    middles.sort((a, b) => a - b);
    const low = middles[Math.floor(0.03 * middles.length)] as number;
    const high = middles[Math.floor(0.97 * middles.length)] as number;
    expect(value(frame, 'tapseMm')).toBe(20);
    expect(Math.abs(high - low - 20)).toBeLessThan(1.5);
  });

  it('states the seconds and centimetres of its sweep in the header', () => {
    const frame = simulateEchoMMode('m-mode-ivc', { heart, seed: 3 });
    const [region] = mModeHeader('m-mode-ivc', frame, heart).regions ?? [];
    expect(region?.RegionSpatialFormat).toBe(2);
    expect(region?.PhysicalUnitsXDirection).toBe(4);
    expect(region?.PhysicalUnitsYDirection).toBe(3);
    expect(value(frame, 'cavaSmallestMm')).toBeCloseTo(11, 9);
  });
});

describe('colour Doppler of the heart', () => {
  const request = { heart, seed: 5, frames: 1, view: 'A4C', valve: 'mitral' } as const;
  const screen = { columns: 240, rows: 200 };
  const coloured = (frame: PhantomFrame | undefined) => {
    let count = 0;
    const rgb = frame?.rgb ?? new Uint8Array();
    for (let i = 0; i < rgb.length; i += 3) if (rgb[i] !== rgb[i + 2]) count += 1;
    return count;
  };
  const jet = { valve: 'mitral', venaContractaMm: 8, lengthMm: 36 } as const;

  it('shows a jet in systole, but none if the valve is tight', () => {
    const [leak] = simulateColour({ ...request, screen, startS: 0.2, jet });
    const [tight] = simulateColour({ ...request, screen, startS: 0.2 });
    expect(leak?.truth.values?.leaking).toBe(1);
    expect(tight?.truth.values?.leaking).toBe(0);
    expect(coloured(leak)).toBeGreaterThan(coloured(tight) + 40);
  });

  it('shows no mitral leak in diastole', () => {
    const [frame] = simulateColour({ ...request, screen, startS: heart.beat.rapidS, jet });
    expect(frame?.truth.values?.leaking).toBe(0);
  });
});
