import type { DopplerWaveform } from '../../measure/doppler/waveform.ts';
import type { SectionEvidence } from '../shared/section.ts';

export const DOPPLER_VESSELS = [
  'umbilical-artery',
  'middle-cerebral-artery',
  'uterine-artery',
  'ductus-venosus',
] as const;

export type DopplerVessel = (typeof DOPPLER_VESSELS)[number];

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
