import { channel } from 'node:diagnostics_channel';

/** One call of a model. */
export interface InferenceRun {
  model: string;
  images: number;
  seconds: number;
}

/** Publishes each call of a model; usually nobody subscribes. */
export const INFERENCE = channel('sonogate:inference');
