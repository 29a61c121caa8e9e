import type { Study } from '../contract/study.ts';
import type { DisplayReading } from './read/display-reading.ts';
import { readMModesOf } from './read/m-mode.ts';
import { readSpectraOf } from './read/spectra.ts';

/** What was read of one spectral or M-mode display. */
export type SpectrumReading = DisplayReading;

export { tracedMeasurements as spectralPeaks } from './traced-measurements.ts';

/** Reads every spectral and M-mode display of the study. */
export async function readSpectra(study: Study, signal: AbortSignal): Promise<SpectrumReading[]> {
  const readings: SpectrumReading[] = [];
  for (const clip of study.clips) {
    signal.throwIfAborted();
    readings.push(...(await readSpectraOf(clip)), ...(await readMModesOf(clip)));
  }
  return readings;
}
