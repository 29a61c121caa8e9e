import { channel } from 'node:diagnostics_channel';

export interface InferenceRun {
  model: string;
  images: number;
  seconds: number;
}

/** Channel on which each batch run is published. Usually it has no subscribers. */
export const INFERENCE = channel('sonogate:inference');
