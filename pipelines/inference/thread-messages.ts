import type { MessagePort } from 'node:worker_threads';
import type { RegisteredModel } from './model-registry.ts';
import type { InferenceSettings, Provider } from './network.ts';
import type { Refusal } from './refusal.ts';

/** What the thread of the models can be asked. A network is known by its number. */
export type Call =
  | { name: 'open'; model: RegisteredModel; settings: InferenceSettings }
  | { name: 'run'; network: number; images: Float32Array<ArrayBuffer>; count: number }
  | { name: 'release'; network: number };

export interface Opened {
  network: number;
  provider: Provider;
  refusals: readonly Refusal[];
}

/** Each call is answered on a port of its own. */
export interface Asked {
  call: Call;
  port: MessagePort;
}

export type Answered<T> = { answer: T } | { error: Error };
