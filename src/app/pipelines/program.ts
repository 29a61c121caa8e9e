import { fileURLToPath } from 'node:url';
import type { PipelineProgram } from '../../core/queue/pipeline-process.ts';

/** The modules that every pipeline process loads. */
export const PIPELINE_PROGRAM: PipelineProgram = {
  entry: fileURLToPath(new URL('./child.ts', import.meta.url)),
  confinement: new URL('./confinement.ts', import.meta.url).href,
};
