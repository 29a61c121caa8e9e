import { fileURLToPath } from 'node:url';
import type { PipelineProgram } from '../../core/queue/pipeline-process.ts';

const urlOf = (module: string) => new URL(module, import.meta.url).href;

/** URLs of the modules that a pipeline process loads, one for each kind of pipeline. */
export const PIPELINES = {
  obstetric: urlOf('./obstetric.ts'),
  echo: urlOf('./echo.ts'),
  content: urlOf('./content.ts'),
  translate: urlOf('../../../pipelines/translate/pipeline.ts'),
  deidentify: urlOf('../../../pipelines/deidentify/pipeline.ts'),
  mock: urlOf('./mock.ts'),
} as const;

/** What every pipeline process of this gateway loads. */
export const PIPELINE_PROGRAM: PipelineProgram = {
  entry: fileURLToPath(new URL('./child.ts', import.meta.url)),
  confinement: urlOf('./confinement.ts'),
  pipelines: Object.values(PIPELINES),
  // The command line sets this variable (cli/bin.mjs).
  compileCache: process.env.NODE_COMPILE_CACHE ?? null,
};
