import type { Job, Pipeline } from '../contract/job.ts';
import type { Study } from '../contract/study.ts';
import { echoInputOf } from '../input/handheld.ts';
import {
  type ArtifactParts,
  createStudyPipeline,
  noReadableImage,
  type StudyInterpreter,
  stage,
} from '../study-pipeline.ts';
import { gatherEvidence } from './evidence.ts';
import { parseRequest } from './input.ts';
import { interpretStudy } from './interpret-study.ts';
import { SECTIONS } from './sections/index.ts';
import { readSpectra } from './spectra.ts';

/** Shares of the whole at which the displays are traced and the sections run. */
const TRACING = 0.3;
const READ = 0.7;

/** A report of the machine without an image is a study too: its values are what it holds. */
function refusalOf(study: Study): string | null {
  if ((study.cart ?? []).length > 0) return null;
  if (study.clips.length === 0) return noReadableImage(study);
  const input = echoInputOf(study.clips);
  return input.kind === 'none' ? `This is no echo study: ${input.reason}.` : null;
}

async function open({ options, clinicalContext, priorFiles }: Job): Promise<StudyInterpreter> {
  const request = parseRequest(options, clinicalContext);
  return {
    previews: true,
    dating: null,
    refusal: refusalOf,
    async interpret(study, report, signal) {
      stage(report, 'inference.spectra', 'Tracing spectral Doppler', TRACING);
      const spectra = await readSpectra(study, signal);
      stage(report, 'postprocessing', 'Interpreting', READ);
      const evidence = gatherEvidence(study, request.context, SECTIONS, spectra, priorFiles);
      return interpretStudy(evidence, request.options, new Date());
    },
  };
}

/** The echo pipeline over its parts: a function from a work folder to the same folder. */
export function createEchoPipeline(parts: ArtifactParts): Pipeline {
  return createStudyPipeline(parts, open);
}
