/**
 * Side of the baseline on the screen. It is not known which side shows flow towards the probe,
 * because the operator may have inverted the display.
 */
export type Side = 'above' | 'below';

export interface DrawnTrace {
  side: Side;
  /** Row of velocity zero. */
  baselineRow: number;
  points: readonly [x: number, y: number][];
  /** Columns of the frame at which the beats are marked. */
  beats: readonly number[];
}

/** Position of a spectrum on its frame, and the scales of its axes. */
interface SpectrumAxes {
  /** Column and row of the frame at which the spectrum begins. */
  left: number;
  top: number;
  zeroRow: number;
  /** Velocity per row, in cm/s. */
  velocityPerRow: number;
  secondsPerColumn: number;
}

/** Velocities in one beat, cm/s. Forward flow is positive (obstetric 13.1). */
export interface BeatVelocities {
  /** Samples at the foot of the beat's upstroke and at the foot of the next upstroke. */
  from: number;
  to: number;
  /** Peak systolic velocity or, for a vein, the peak of the S wave. */
  peak: number;
  /** Velocity just before the next upstroke. */
  endDiastolic: number;
  lowest: number;
  /** Time average of the maximum velocity over the beat (TAMX). */
  average: number;
  /** Columns of the display with the highest and the lowest velocity. */
  peakColumn: number;
  lowestColumn: number;
  endFlow: 'forward' | 'absent' | 'reversed';
}

const DOPPLER_REFUSALS = [
  'no-scale',
  'no-flow',
  'aliased',
  'cut-off',
  'no-beats',
  'beats-differ',
] as const;
export type DopplerRefusal = (typeof DOPPLER_REFUSALS)[number];

export type DopplerWaveform =
  | {
      status: 'traced';
      side: Side;
      /** Beats of similar length and peak, in chronological order. */
      beats: BeatVelocities[];
      /** Number of whole beats on the display, including those that are not similar. */
      beatsSeen: number;
      beatsPerMinute: number;
      /** Coefficient of variation of the similar beats' lengths. */
      variation: number;
      /**
       * Coefficient of variation of the lengths of all beats. The similar beats alone would make an
       * irregular rhythm look regular.
       */
      variationSeen: number;
      /** True if another vessel flows in the opposite direction, where it would hide a reversal. */
      otherVessel: boolean;
      /** Velocity in cm/s below which the baseline hides flow. */
      hiddenBelow: number;
      /**
       * Velocity in cm/s at which forward flow disappears, because the wall filter hides slower
       * flow. Null if it never disappears.
       */
      vanishesAt: number | null;
      /** From 0 to 1, from the contrast of the trace and the similarity of the beats. */
      confidence: number;
      trace: DrawnTrace;
      spectrum: SpectrumAxes;
    }
  | { status: 'refused'; reason: DopplerRefusal };
