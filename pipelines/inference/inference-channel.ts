import { channel } from 'node:diagnostics_channel';

/** One call of a model. */
export interface InferenceRun {
  model: string;
  images: number;
  seconds: number;
}

/** Tells of each call of a model whoever wants to know; nobody is told twice, and mostly nobody is. */
export const INFERENCE = channel('sonogate:inference');
