import { startInferenceThread } from '../pipelines/inference/inference-thread.ts';

/**
 * Opens models on the thread that this process has for them. A pipeline process loads this file
 * before all else: later it may begin no thread (queue/confinement.ts).
 */
export const openOnThread = startInferenceThread();
