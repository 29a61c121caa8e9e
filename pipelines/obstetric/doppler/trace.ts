import type { GrayImage } from '../../contract/image.ts';
import type { SweepRegion } from '../../contract/study.ts';
import { type Beat, beatsOf } from '../../measure/beats.ts';
import {
  drawnTrace,
  ENVELOPE,
  type Envelope,
  traceEnvelope,
} from '../../measure/doppler/envelope.ts';
import { readSpectrum } from '../../measure/doppler/spectrum.ts';
import { median } from '../../measure/statistics.ts';
import type { BeatVelocities, DopplerRefusal, DopplerWaveform } from './evidence.ts';

const DOPPLER = {
  filled: 0.2,
  /**
   * Maximum share of columns in which flow may reach the end of the scale. A click that reaches the
   * end occupies fewer columns than this, and beats whose peaks are cut off occupy more.
   */
  cut: 0.01,
  /**
   * Beats count as similar if their length and their peak velocity differ from the medians by at
   * most these shares of the medians.
   */
  similar: { length: 0.1, peak: 0.2 },
  /**
   * Last part of a beat, as a share of its length. The lowest velocity in this part is the
   * end-diastolic velocity.
   */
  endDiastole: 0.12,
  /** Minimum brightness of reversed flow relative to forward flow. Clutter is fainter. */
  reversal: 0.25,
  /**
   * Flow on the other side of the baseline counts as another vessel, and not as a mirror image, if
   * it is in more than this share of the columns with flow, is brighter than this share of the main
   * flow, and varies less than half as much.
   */
  otherVessel: { filled: 0.5, brightness: 0.45 },
  /**
   * How much the edge widens with the slope is measured on the steepest columns; `steepest` is
   * their share of all columns. Slopes are measured over `reach` columns on each side.
   */
  flank: { reach: 3, steepest: 0.2 },
} as const;

const refused = (reason: DopplerRefusal): DopplerWaveform => ({ status: 'refused', reason });

function deviation(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

/**
 * Returns a measure of how arterial the flow on one side looks. An artery is bright and pulsatile,
 * unlike a mirror image or a vein.
 */
const pulsatility = (envelope: Envelope) => envelope.brightness * deviation(envelope.velocities);

function isOtherVessel(main: Envelope, other: Envelope): boolean {
  const both = main.edgeRows.filter((row, i) => row !== null && other.edgeRows[i] !== null).length;
  const flowing = main.edgeRows.filter((row) => row !== null).length;
  return (
    both > DOPPLER.otherVessel.filled * flowing &&
    other.brightness > DOPPLER.otherVessel.brightness * main.brightness &&
    deviation(other.velocities) < 0.5 * deviation(main.velocities)
  );
}

/**
 * Returns by how much the traced edge exceeds the fastest blood in each column, in cm/s. On a flank
 * it exceeds it by more, in proportion to the slope: the picture is blurred in time too, and the
 * logarithmic grey scale draws a steep flank several columns too early or too late. At the peak and
 * at end-diastole, the curve is level on one side, and the slope counts as 0.
 */
function edgeWidths({ velocities, full, skirt }: Envelope): Float64Array {
  const { reach, steepest } = DOPPLER.flank;
  const at = (column: number) =>
    velocities[Math.max(0, Math.min(velocities.length - 1, column))] ?? 0;
  const slopes = velocities.map((here, column) => {
    const before = Math.abs(here - at(column - reach));
    const after = Math.abs(at(column + reach) - here);
    return Math.min(before, after) / reach;
  });
  const steep = slopes.toSorted()[Math.floor((1 - steepest) * (slopes.length - 1))] ?? 0;
  const smears = Array.from(slopes).flatMap((slope, column) => {
    const [outer, inner] = [at(column), full[column] ?? 0];
    return slope > steep && inner > 0 ? [(outer - inner - skirt) / slope] : [];
  });
  const smear = smears.length > 0 ? Math.max(0, median(smears)) : 0;
  return slopes.map((slope) => skirt + smear * slope);
}

/**
 * Returns the velocity in each column, in cm/s: the forward flow or, if there is none, the reversed
 * flow of the same vessel as a negative velocity. It is 0 if there is neither.
 */
function signedCurve(main: Envelope, other: Envelope, otherVessel: boolean): Float64Array {
  const widths = edgeWidths(main);
  return main.velocities.map((forward, column) => {
    if (forward > 0) return Math.max(0, forward - (widths[column] ?? 0));
    const dim = (other.levels[column] ?? 0) < DOPPLER.reversal * main.brightness;
    return otherVessel || dim ? 0 : -Math.max(0, (other.velocities[column] ?? 0) - other.skirt);
  });
}

/**
 * Returns the median of the last velocities before the forward flow disappears, in cm/s. Null if it
 * never disappears.
 */
function vanishingVelocity(main: Envelope): number | null {
  const last = Array.from(main.velocities).flatMap((velocity, i) =>
    velocity > 0 && main.velocities[i + 1] === 0 ? Math.max(0, velocity - main.skirt) : [],
  );
  return last.length > 0 ? median(last) : null;
}

/** Returns the mean of a sample and its two neighbours, because a peak of one sample is noise. */
const steadied = (curve: Float64Array, at: number) =>
  ((curve[at - 1] ?? curve[at] ?? 0) + (curve[at] ?? 0) + (curve[at + 1] ?? curve[at] ?? 0)) / 3;

function velocitiesOf(curve: Float64Array, beat: Beat, hiddenBelow: number): BeatVelocities {
  const { from, to } = beat;
  const length = to - from;
  let peakColumn = from;
  let lowest = steadied(curve, from);
  let area = 0;
  for (let i = from; i < to; i++) {
    const value = steadied(curve, i);
    if (value > steadied(curve, peakColumn)) peakColumn = i;
    lowest = Math.min(lowest, value);
    area += ((curve[i] ?? 0) + (curve[i + 1] ?? 0)) / 2;
  }
  let endColumn = to;
  for (let i = to; i >= to - DOPPLER.endDiastole * length; i--) {
    if (steadied(curve, i) < steadied(curve, endColumn)) endColumn = i;
  }
  const traced = steadied(curve, endColumn);
  // Within the band of the wall filter, slow flow cannot be distinguished from no flow.
  const endDiastolic = Math.abs(traced) < hiddenBelow ? 0 : traced;
  return {
    from,
    to,
    peak: steadied(curve, peakColumn),
    endDiastolic,
    lowest,
    average: area / length,
    peakColumn,
    endFlow: endDiastolic > 0 ? 'forward' : endDiastolic < 0 ? 'reversed' : 'absent',
  };
}

function alike(beats: readonly BeatVelocities[]): BeatVelocities[] {
  const length = median(beats.map(({ from, to }) => to - from));
  const peak = median(beats.map((beat) => beat.peak));
  return beats.filter(
    (beat) =>
      Math.abs(beat.to - beat.from - length) <= DOPPLER.similar.length * length &&
      Math.abs(beat.peak - peak) <= DOPPLER.similar.peak * peak,
  );
}

function variationOf(beats: readonly Beat[]): number {
  const lengths = beats.map(({ from, to }) => to - from);
  return deviation(Float64Array.from(lengths)) / median(lengths);
}

/**
 * Traces the pulsatile flow on a spectral display and separates its beats. Velocities are as
 * displayed, because DICOM does not state whether the cart corrected them for the angle. Flow that
 * wraps around or is cut off at the end of the scale is refused, because its peak is not on the
 * screen.
 */
export function traceDoppler(image: GrayImage, sweep: SweepRegion): DopplerWaveform {
  const spectrum = readSpectrum(image, sweep);
  if (!spectrum) return refused('no-scale');
  const above = traceEnvelope(spectrum, 'above');
  const below = traceEnvelope(spectrum, 'below');
  const [main, other] =
    pulsatility(above) >= pulsatility(below)
      ? ([above, below] as const)
      : ([below, above] as const);
  if (main.filled < DOPPLER.filled || main.contrast < ENVELOPE.aboveNoise) {
    return refused('no-flow');
  }
  if (main.cut > DOPPLER.cut) {
    return refused(other.cut > 0 || other.wrapped ? 'aliased' : 'cut-off');
  }
  const otherVessel = isOtherVessel(main, other);
  const curve = signedCurve(main, other, otherVessel);
  const found = beatsOf(curve, spectrum.secondsPerColumn);
  if (!found) return refused('no-beats');
  const hiddenBelow = (spectrum.baselineRows + 1) * spectrum.velocityPerRow;
  const all = found.beats.map((beat) => velocitiesOf(curve, beat, hiddenBelow));
  const beats = alike(all);
  if (beats.length * 2 < all.length || beats.length === 0) return refused('beats-differ');
  const { left, top, zeroRow, velocityPerRow, secondsPerColumn } = spectrum;
  const clear = 1 - Math.exp(-main.contrast / 12);
  return {
    status: 'traced',
    side: main.side,
    beats,
    beatsSeen: all.length,
    beatsPerMinute: 60 / (median(beats.map(({ from, to }) => to - from)) * secondsPerColumn),
    variation: variationOf(beats),
    variationSeen: variationOf(all),
    otherVessel,
    hiddenBelow,
    vanishesAt: vanishingVelocity(main),
    confidence: Math.min(1, clear) * Math.min(1, Math.max(0, found.strength)),
    trace: drawnTrace(
      curve,
      main.side,
      spectrum,
      beats.map(({ from }) => from),
    ),
    spectrum: { left, top, zeroRow, velocityPerRow },
  };
}
