import { channel } from 'node:diagnostics_channel';

/** Record of one call of a model. */
export interface InferenceRun {
  model: string;
  images: number;
  seconds: number;
}

/** Channel that publishes each call of a model. Usually it has no subscriber. */
export const INFERENCE = channel('sonogate:inference');
