import type { DopplerWaveform } from '../../measure/doppler/arterial-flow.ts';
import type { SectionEvidence } from '../shared/section.ts';

export const DOPPLER_VESSELS = [
  'umbilical-artery',
  'middle-cerebral-artery',
  'uterine-artery',
  'ductus-venosus',
] as const;

export type DopplerVessel = (typeof DOPPLER_VESSELS)[number];

/** One spectral display: which vessel the header names, and the flow that was traced. */
export interface SpectrumReading {
  file: string;
  sopInstanceUid: string | null;
  /** 0-based. */
  frame: number;
  /** Null: the header names none. A vessel is never guessed from its waveform. */
  vessel: DopplerVessel | null;
  laterality: 'left' | 'right' | null;
  /** Letter or number of the fetus that the header's words name; null: none, or several. */
  fetus: string | null;
  /** Whether the scale is in cm/s: on one in Hz only ratios of velocities can be read. */
  velocities: boolean;
  /** Degrees, as the cart set it; null: not said. */
  correctionAngle: number | null;
  waveform: DopplerWaveform;
}

/** What the section looks at. */
export interface DopplerEvidence extends SectionEvidence {
  views: {
    spectra?: readonly SpectrumReading[] | null;
  };
}
