import { channel } from 'node:diagnostics_channel';
import type { Accelerator } from './accelerators.ts';

/** Why a model runs on the processor although an accelerator was asked for or may be there. */
export const REFUSALS = {
  absent: 'is not on this machine',
  unloadable: 'does not load',
  different: 'does not give the answer of the processor',
  software: 'runs in software',
  slower: 'is slower than the processor',
  failed: 'failed in a run, which was repeated on the processor',
} as const;

export interface Refusal {
  accelerator: Accelerator;
  why: keyof typeof REFUSALS;
  /** For the operator: what the library said, or what was measured. */
  detail: string;
}

/** A refusal as `REFUSAL` tells it. */
export interface RefusalOfModel extends Refusal {
  model: string;
}

/** Tells of each refusal whoever wants to know. */
export const REFUSAL = channel('sonogate:accelerator-refusal');
