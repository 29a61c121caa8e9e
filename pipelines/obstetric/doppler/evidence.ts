import type { ObstetricConcept } from '../../concepts/obstetric.ts';
import type { DrawnFlow } from '../../result/measured.ts';
import type { SectionEvidence } from '../shared/section.ts';

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

/** Velocities of one beat in cm/s, as read by `measure/doppler`. Forward flow is positive. */
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
  /** Columns of the display with the highest and the lowest velocity. */
  peakColumn: number;
  lowestColumn: number;
  endFlow: 'forward' | 'absent' | 'reversed';
}

/**
 * A traced flow with its beats, or the reason why it was not traced. This is the result of
 * `measure/doppler`, reduced to the fields that the section uses.
 */
export type DopplerWaveform =
  | {
      status: 'traced';
      side: 'above' | 'below';
      /** Beats of similar length and peak, in chronological order. */
      beats: readonly BeatVelocities[];
      /** Number of whole beats on the display, including dissimilar ones. */
      beatsSeen: number;
      beatsPerMinute: number;
      /**
       * Coefficients of variation of the cycle length: `variation` over the similar beats,
       * `variationSeen` over all beats.
       */
      variation: number;
      variationSeen: number;
      /** True if another vessel with flow in the opposite direction would hide a reversal. */
      otherVessel: boolean;
      /** Speed in cm/s below which the baseline hides the flow. */
      hiddenBelow: number;
      /**
       * Velocity at which forward flow disappears because the wall filter removes slower flow; null
       * if it does not disappear.
       */
      vanishesAt: number | null;
      confidence: number;
      trace: DrawnFlow;
      /** Position of the display on its frame, and its scale. */
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

export interface DopplerEvidence extends SectionEvidence {
  views: {
    spectra?: readonly SpectrumReading[] | null;
  };
}
