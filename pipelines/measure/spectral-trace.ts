import type { GrayImage } from '../contract/image.ts';
import type { SweepRegion } from '../contract/study.ts';
import { type Envelope, type Side, traceEnvelope } from './envelope.ts';
import { readSpectrum, type Spectrum } from './spectrum.ts';
import { steadied, type Wave, wavesOf } from './waves.ts';

export const SPECTRAL_TRACE = {
  /** A wave stands out by this share of the side's fastest flow. */
  prominence: 0.2,
  /** Below this share of it the flow is at the baseline. */
  floor: 0.1,
  /** The fastest flow of a side: a click of a few columns is faster, and is no flow. */
  top: 0.97,
  /** Seconds; shorter waves are clicks of a valve. */
  shortestSeconds: 0.04,
  /** Times that the trace is smoothed over its neighbours. */
  smoothing: 2,
  /**
   * Share of the edge's width that is taken off the traced edge. Blood: the dense signal is traced,
   * "chin, not beard" (echo reference 17). Tissue moves as one: its trace is a line, measured at the
   * middle of its outer edge.
   */
  skirt: { blood: 0.5, tissue: 0 },
  /** Full scale of tissue Doppler, cm/s (echo reference 2.6). */
  tissueScale: 40,
  /** Level of the flow, deviations of the noise, at which a trace is two thirds certain. */
  clear: 12,
} as const;

/** The flow on one side of the baseline of a spectral display, and its waves. */
export interface SpectralTrace {
  side: Side;
  /** cm/s by column, 0 where there is no flow. */
  curve: Float64Array;
  waves: Wave[];
  /** cm/s that was taken off the traced edge. */
  skirt: number;
  /** 0 to 1: how well the flow stands out of the noise. */
  clear: number;
  /** Grey levels above the noise. */
  brightness: number;
  /** Share of the columns that hold flow. */
  filled: number;
  /** Share of the columns in which the flow reaches the end of the scale. */
  cut: number;
  /** cm/s at the end of the scale. */
  limit: number;
}

export interface SpectralDisplay {
  spectrum: Pick<
    Spectrum,
    'left' | 'top' | 'columns' | 'rows' | 'zeroRow' | 'velocityPerRow' | 'secondsPerColumn'
  >;
  above: SpectralTrace;
  below: SpectralTrace;
  /** The scale is that of tissue Doppler; by itself it does not prove it. */
  tissueScale: boolean;
}

/** cm/s at the far end of the larger side of the baseline. */
function fullScale({ rows, zeroRow, velocityPerRow }: Spectrum): number {
  return Math.max(zeroRow, rows - 1 - zeroRow) * velocityPerRow;
}

function fastest(curve: Float64Array): number {
  const sorted = curve.toSorted();
  return sorted[Math.floor(SPECTRAL_TRACE.top * (sorted.length - 1))] ?? 0;
}

function toTrace(envelope: Envelope, spectrum: Spectrum, tissue: boolean): SpectralTrace {
  const { side, velocities, contrast, brightness, filled, cut, limit } = envelope;
  const skirt = SPECTRAL_TRACE.skirt[tissue ? 'tissue' : 'blood'] * envelope.skirt;
  const edge = velocities.map((velocity) => Math.max(0, velocity - skirt));
  const curve = steadied(edge, SPECTRAL_TRACE.smoothing);
  const top = fastest(curve);
  const hidden = (spectrum.baselineRows + 1) * spectrum.velocityPerRow;
  const waves =
    top > hidden
      ? wavesOf(curve, {
          prominence: SPECTRAL_TRACE.prominence * top,
          floor: Math.max(hidden, SPECTRAL_TRACE.floor * top),
          shortest: SPECTRAL_TRACE.shortestSeconds / spectrum.secondsPerColumn,
        })
      : [];
  const clear = Number.isFinite(contrast) ? 1 - Math.exp(-contrast / SPECTRAL_TRACE.clear) : 1;
  return { side, curve, waves, skirt, clear, brightness, filled, cut, limit };
}

/**
 * Both sides of a spectral display with their waves. Null where it has no scale of velocity and
 * time, or is too small (`readSpectrum`).
 */
export function traceDisplay(image: GrayImage, sweep: SweepRegion): SpectralDisplay | null {
  const spectrum = readSpectrum(image, sweep);
  if (!spectrum) return null;
  const tissue = fullScale(spectrum) <= SPECTRAL_TRACE.tissueScale;
  const { left, top, columns, rows, zeroRow, velocityPerRow, secondsPerColumn } = spectrum;
  return {
    spectrum: { left, top, columns, rows, zeroRow, velocityPerRow, secondsPerColumn },
    above: toTrace(traceEnvelope(spectrum, 'above'), spectrum, tissue),
    below: toTrace(traceEnvelope(spectrum, 'below'), spectrum, tissue),
    tissueScale: tissue,
  };
}
