import type { DrawnFlow } from '../../result/measured.ts';
import type { SectionEvidence } from '../shared/section.ts';

export const DOPPLER_VESSELS = [
  'umbilical-artery',
  'middle-cerebral-artery',
  'uterine-artery',
  'ductus-venosus',
] as const;

export type DopplerVessel = (typeof DOPPLER_VESSELS)[number];

/** Velocities of one beat, cm/s, forward flow positive, as `measure/doppler` reads them. */
export interface BeatVelocities {
  /** Column of the display at which the next upstroke begins. */
  to: number;
  /** Peak systolic velocity; for a vein, the S wave. */
  peak: number;
  /** Velocity just before the next upstroke. */
  endDiastolic: number;
  lowest: number;
  /** Time average of the maximum velocity over the beat (TAMX). */
  average: number;
  /** Columns of the display with the highest and with the lowest velocity. */
  peakColumn: number;
  lowestColumn: number;
  endFlow: 'forward' | 'absent' | 'reversed';
}

/**
 * A flow with its beats, as `measure/doppler` traces it, or why none was traced: the part of its type
 * that the section reads.
 */
export type DopplerWaveform =
  | {
      status: 'traced';
      side: 'above' | 'below';
      /** Beats of similar length and peak, in order of time. */
      beats: readonly BeatVelocities[];
      /** Number of whole beats on the display, whether similar or not. */
      beatsSeen: number;
      beatsPerMinute: number;
      /** Coefficient of variation of the lengths of the similar beats, and of all beats. */
      variation: number;
      variationSeen: number;
      /** Whether another vessel with flow in the opposite direction would hide a reversal. */
      otherVessel: boolean;
      /** Velocity below which flow is hidden by the baseline, cm/s. */
      hiddenBelow: number;
      /** Velocity at which forward flow disappears, because the wall filter hides slower flow. */
      vanishesAt: number | null;
      confidence: number;
      trace: DrawnFlow;
      /** Where the display is on its frame, and its scale. */
      spectrum: {
        left: number;
        top: number;
        zeroRow: number;
        velocityPerRow: number;
        secondsPerColumn: number;
      };
    }
  | {
      status: 'refused';
      reason: 'no-scale' | 'no-flow' | 'aliased' | 'cut-off' | 'no-beats' | 'beats-differ';
    };

/** One spectral display: the vessel that the header names, and the flow that was traced. */
export interface SpectrumReading {
  file: string;
  sopInstanceUid: string | null;
  /** Frame index, 0-based. */
  frame: number;
  /** Null where the header names no vessel. The vessel is never guessed from its waveform. */
  vessel: DopplerVessel | null;
  laterality: 'left' | 'right' | null;
  /** Letter or number of the fetus that the header names; null where it names none, or several. */
  fetus: string | null;
  /** Whether the scale is in cm/s: on a scale in Hz only ratios of velocities can be read. */
  velocities: boolean;
  /** Correction angle in degrees, as set on the machine; null where it is not stated. */
  correctionAngle: number | null;
  waveform: DopplerWaveform;
}

/** What the Doppler section works from. */
export interface DopplerEvidence extends SectionEvidence {
  views: {
    spectra?: readonly SpectrumReading[] | null;
  };
}
