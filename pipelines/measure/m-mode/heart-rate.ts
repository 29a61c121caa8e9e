import type { GrayImage } from '../../contract/image.ts';
import type { SweepRegion } from '../../contract/study.ts';
import {
  autocovariance,
  beatsOf,
  continuousColumns,
  periodOf,
  summed,
  tooShortForSilence,
  withoutDrift,
} from '../beats.ts';

const M_MODE = {
  /** Plausible heart rates, beats per minute (obstetric 0.6). */
  slowest: 40,
  fastest: 260,
  /** Number of bands into which the depth of the sweep is divided. */
  bands: 96,
  /** Minimum oscillation of a band, as the standard deviation of its grey levels. */
  swing: 3,
  /** Minimum autocorrelation of a band at the period; a band below it does not move with the heart. */
  gate: 0.4,
  /** Minimum number of beats on the sweep. */
  beats: 2.5,
  /**
   * If even the brightest pixel of a column is not above this grey level, the column has not been
   * written yet.
   */
  black: 8,
} as const;

export type MModeRhythm =
  | {
      status: 'beating';
      beatsPerMinute: number;
      /**
       * Coefficient of variation of the beat lengths; null if there are fewer than three whole
       * beats, or if their rate is not that of the sweep.
       */
      variation: number | null;
      strength: number;
    }
  | { status: 'not-seen' }
  | { status: 'not-assessable'; reason: 'no-scale' | 'too-short' };

interface Band {
  series: number[];
  covariance: Float64Array;
}

/** Returns the first and last column that show continuous time. */
function continuousPart(image: GrayImage, { area }: SweepRegion): [number, number] {
  const written = Array.from({ length: area.maxX - area.minX + 1 }, (_, i) => {
    for (let row = area.minY; row <= area.maxY; row++) {
      if ((image.data[row * image.width + area.minX + i] ?? 0) > M_MODE.black) return true;
    }
    return false;
  });
  const [from, to] = continuousColumns(written) ?? [0, 0];
  return [area.minX + from, area.minX + to];
}

function bandsOf(image: GrayImage, sweep: SweepRegion, from: number, to: number): number[][] {
  const { minY, maxY } = sweep.area;
  const height = Math.max(2, Math.round((maxY - minY + 1) / M_MODE.bands));
  const bands: number[][] = [];
  for (let top = minY; top + height - 1 <= maxY; top += height) {
    const means = Array.from({ length: to - from + 1 }, (_, i) => {
      let sum = 0;
      for (let row = top; row < top + height; row++) {
        sum += image.data[row * image.width + from + i] ?? 0;
      }
      return sum / height;
    });
    bands.push(means);
  }
  return bands;
}

function swingTogether(bands: readonly Band[], lag: number): Band[] {
  const at = Math.round(lag);
  return bands.filter(({ covariance }) => {
    const power = covariance[0] ?? 0;
    return power > M_MODE.swing ** 2 && (covariance[at] ?? 0) >= M_MODE.gate * power;
  });
}

/**
 * Combines the bands into one curve. Bands that move in the opposite direction to the strongest
 * band are inverted.
 */
function asOneCurve(bands: readonly Band[]): number[] {
  const strongest = bands.reduce((top, band) =>
    (band.covariance[0] ?? 0) > (top.covariance[0] ?? 0) ? band : top,
  );
  const signs = bands.map(({ series }) =>
    Math.sign(series.reduce((sum, value, i) => sum + value * (strongest.series[i] ?? 0), 0)),
  );
  return strongest.series.map((_, i) =>
    bands.reduce((sum, { series }, k) => sum + (signs[k] ?? 0) * (series[i] ?? 0), 0),
  );
}

/**
 * Determines whether the echoes of an M-mode repeat at the rate of a heart, and how regularly.
 * Bands that do not move with the others are left out. The rhythm is not assessable if there is no
 * time scale, or if the sweep is too short to show a beat or its absence.
 */
export function mModeRhythm(image: GrayImage, sweep: SweepRegion): MModeRhythm {
  const { secondsPerPixel } = sweep;
  if (secondsPerPixel === null) return { status: 'not-assessable', reason: 'no-scale' };
  const [from, to] = continuousPart(image, sweep);
  const columns = to - from + 1;
  const slowest = 60 / M_MODE.slowest / secondsPerPixel;
  const fastest = 60 / M_MODE.fastest / secondsPerPixel;
  if (columns < M_MODE.beats * fastest * 2)
    return { status: 'not-assessable', reason: 'too-short' };
  const longest = Math.floor(Math.min((3 * columns) / 4, 3 * slowest));
  const bands = bandsOf(image, sweep, from, to).map((series): Band => {
    const level = Array.from(withoutDrift(series, Math.round(slowest)));
    return { series: level, covariance: autocovariance(level, longest) };
  });
  const swinging = bands.filter(({ covariance }) => (covariance[0] ?? 0) > M_MODE.swing ** 2);
  const together = (some: readonly Band[]) =>
    summed(
      some.map(({ covariance }) => covariance),
      longest,
    );
  const last = Math.floor(Math.min(slowest, columns / M_MODE.beats));
  const common = periodOf(together(swinging), Math.ceil(fastest), last);
  const moving = common ? swingTogether(bands, common.lag) : [];
  if (!common || moving.length < 2) {
    return tooShortForSilence(columns * secondsPerPixel)
      ? { status: 'not-assessable', reason: 'too-short' }
      : { status: 'not-seen' };
  }
  const period = periodOf(together(moving), Math.ceil(fastest), last) ?? common;
  const found = beatsOf(asOneCurve(moving), secondsPerPixel);
  const agrees =
    found !== null && Math.abs(found.beatsPerMinute * period.lag * secondsPerPixel - 60) < 6;
  return {
    status: 'beating',
    beatsPerMinute: 60 / (period.lag * secondsPerPixel),
    variation: agrees && found.beats.length >= 3 ? found.variation : null,
    strength: period.strength,
  };
}
