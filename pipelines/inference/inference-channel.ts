import { channel } from 'node:diagnostics_channel';

export interface InferenceRun {
  model: string;
  images: number;
  seconds: number;
}

/**
 * Diagnostics channel on which every run of a model on a batch is published. Usually it has no
 * subscribers.
 */
export const INFERENCE = channel('sonogate:inference');
