import { startInferenceThread } from '../pipelines/inference/inference-thread.ts';
import type { OpenSession } from '../pipelines/inference/session.ts';

/**
 * The threads that this process has for models. Two: while one model names the planes of a batch,
 * another outlines what the batch before it shows. A pipeline process loads this file before all
 * else, for later it may begin no thread (queue/confinement.ts).
 */
const threads = [startInferenceThread(), startInferenceThread()] as const;
let opened = 0;

/** Opens a model on one of the threads, in turn; it stays there. */
export const openOnThread: OpenSession = (model, settings) => {
  const open = threads[opened++ % 2 === 0 ? 0 : 1];
  return open(model, settings);
};
