import type { OpenSession } from '../../../pipelines/inference/session.ts';
import { overThreads, startInferenceThread } from '../../../pipelines/inference/threads.ts';

/**
 * The threads that this process has for models. Two: while one model names the planes of a batch,
 * another outlines what the batch before it shows. A pipeline process loads this file before all
 * else, for later it may begin no thread (queue/confinement.ts).
 */
const threads = [startInferenceThread(), startInferenceThread()] as const;

/** Opens a model on one of the threads; it stays there. */
export const openOnThread: OpenSession = overThreads(threads);
