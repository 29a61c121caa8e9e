import type { ObstetricConcept } from '../../concepts/obstetric.ts';
import type { DrawnFlow } from '../../result/measured.ts';
import type { EvidenceWith } from '../shared/section.ts';

export const DOPPLER_VESSELS = [
  'umbilical-artery',
  'middle-cerebral-artery',
  'uterine-artery',
  'ductus-venosus',
] as const;

export type DopplerVessel = (typeof DOPPLER_VESSELS)[number];

const arterial = <Artery extends DopplerVessel | 'unnamed-vessel'>(artery: Artery) =>
  [`${artery}-pi`, `${artery}-ri`, `${artery}-sd`, `${artery}-psv`, `${artery}-edv`] as const;

/** The values measured on each vessel, and on spectra whose header identifies no vessel. */
const VALUES = {
  'umbilical-artery': arterial('umbilical-artery'),
  'middle-cerebral-artery': [
    ...arterial('middle-cerebral-artery'),
    'middle-cerebral-artery-psv-mom',
  ],
  'uterine-artery': [...arterial('uterine-artery'), 'uterine-artery-mean-pi'],
  'ductus-venosus': ['ductus-venosus-piv'],
  'unnamed-vessel': arterial('unnamed-vessel'),
} as const satisfies Record<DopplerVessel | 'unnamed-vessel', readonly ObstetricConcept[]>;

/**
 * Vessel of each value, by the key of its concept. Values of two vessels, such as the
 * cerebroplacental ratio, are not listed.
 */
export const VESSEL_OF: ReadonlyMap<string, keyof typeof VALUES> = new Map(
  ([...DOPPLER_VESSELS, 'unnamed-vessel'] as const).flatMap((vessel) =>
    VALUES[vessel].map((key) => [key, vessel] as const),
  ),
);

/** Position of a spectrum on its frame, and the scales of its axes. */
interface SpectrumAxes {
  /** Column and row of the frame at which the spectrum begins. */
  left: number;
  top: number;
  zeroRow: number;
  /** Velocity per row, in cm/s. */
  velocityPerRow: number;
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
  endFlow: 'forward' | 'absent' | 'reversed';
}

export type DopplerRefusal =
  | 'no-scale'
  | 'no-flow'
  | 'aliased'
  | 'cut-off'
  | 'no-beats'
  | 'beats-differ';

/** A traced flow with its beats, or the reason why it was not traced. */
export type DopplerWaveform =
  | {
      status: 'traced';
      side: DrawnFlow['side'];
      /** Beats of similar length and peak, in chronological order. */
      beats: readonly BeatVelocities[];
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
      trace: DrawnFlow;
      spectrum: SpectrumAxes;
    }
  | { status: 'refused'; reason: DopplerRefusal };

/** One spectral display: the vessel according to its header, and the traced flow. */
export interface SpectrumReading {
  file: string;
  sopInstanceUid: string | null;
  /** 0-based. */
  frame: number;
  /** Null if the header does not identify the vessel. It is never guessed from the waveform. */
  vessel: DopplerVessel | null;
  laterality: 'left' | 'right' | null;
  /**
   * Letter or number of the fetus in the header; null if the header identifies no fetus, or
   * several.
   */
  fetus: string | null;
  /**
   * True if the scale is in cm/s. On a scale in Hz, only ratios of velocities can be calculated.
   */
  velocities: boolean;
  /** Correction angle in degrees set on the machine; null if the header does not contain it. */
  correctionAngle: number | null;
  waveform: DopplerWaveform;
  /**
   * Which part of the reading needs review and is therefore not used: the flow but not the heart
   * rate, or all of it. Absent if all of it is used.
   */
  held?: 'flow' | 'all';
}

export type DopplerEvidence = EvidenceWith<'spectra', readonly SpectrumReading[]>;
