import type { OpenSession } from '../../../pipelines/inference/session.ts';
import { overThreads, startInferenceThread } from '../../../pipelines/inference/threads.ts';

/**
 * The threads on which this process runs models. There are two: while one model classifies the
 * planes of a batch, another outlines the structures of the previous batch. A pipeline process
 * loads this file before everything else, because it may not start threads later (confinement.ts).
 */
const threads = [startInferenceThread(), startInferenceThread()] as const;

/** Opens a model on one of the threads, where it stays. */
export const openOnThread: OpenSession = overThreads(threads);
