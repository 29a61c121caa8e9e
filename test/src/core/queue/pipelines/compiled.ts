import { getCompileCacheDir } from 'node:module';
import type { Pipeline } from '../../../../../pipelines/contract/job.ts';

/** Fails with the folder of the compile cache that Node.js uses. */
export const pipeline: Pipeline = () => {
  throw new Error(`compile cache: ${getCompileCacheDir() ?? 'none'};`);
};
