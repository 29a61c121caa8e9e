import type { Job, Pipeline } from '../contract/job.ts';
import type { Study } from '../contract/study.ts';
import { openOnce } from '../inference/keep-open.ts';
import type { Result } from '../result/envelope.ts';
import { runReaders } from '../run/readers.ts';
import {
  type ArtifactParts,
  createStudyPipeline,
  noReadableImage,
  type Report,
  stage,
} from '../run/study-pipeline.ts';
import { readStructures } from './biometry/read.ts';
import { INTERGROWTH_CURVES } from './growth/curves.ts';
import { readEarlierScans } from './growth/read.ts';
import { type ObstetricOptions, parseOptions } from './input.ts';
import { interpretStudy } from './interpret-study.ts';
import type { Locator } from './locator.ts';
import { surveyPlanes } from './planes/read.ts';
import { READERS } from './readers.ts';

export interface ObstetricParts extends ArtifactParts {
  /** Opens the models of a job; what it gives is kept for the jobs that follow. */
  openLocator(settings: Job['models']): Promise<Locator>;
}

/** Share of the whole at which each stage begins; between them progress is linear. */
const PROGRESS = { planes: 0.05, biometry: 0.5, views: 0.6, postprocessing: 0.8 } as const;

async function interpret(
  study: Study,
  job: Job,
  options: ObstetricOptions,
  locator: Locator,
  report: Report,
  signal: AbortSignal,
): Promise<Result> {
  const planesStage = (share: number) =>
    stage(
      report,
      'inference.planes',
      'Finding standard planes',
      PROGRESS.planes + share * (PROGRESS.biometry - PROGRESS.planes),
    );
  planesStage(0);
  const gaDays = options.dating?.ga_days ?? null;
  const survey = locator.planes
    ? await surveyPlanes(study, gaDays, locator, signal, planesStage)
    : null;
  const { readings, withoutModel } = await readStructures(
    survey?.planes ?? [],
    locator,
    signal,
    (structure, share) =>
      stage(
        report,
        `inference.${structure}`,
        `Measuring the ${structure}`,
        PROGRESS.biometry + share * (PROGRESS.views - PROGRESS.biometry),
      ),
  );
  const views = await runReaders(
    READERS,
    { study, options, planes: survey?.planes ?? [], locator, signal },
    ({ stage: name, label }, share) =>
      stage(
        report,
        `inference.${name}`,
        label,
        PROGRESS.views + share * (PROGRESS.postprocessing - PROGRESS.views),
      ),
    // The standard error of the child process is the gateway's log.
    (reader, error) => console.error(`reader ${reader} failed`, error),
  );
  const given = (study.priors?.length ?? 0) + (study.priorReports?.length ?? 0);
  if (given > 0) {
    stage(report, 'inference.earlier', 'Measuring earlier scans', PROGRESS.postprocessing);
  }
  const { scans, refused } = await readEarlierScans(study, locator, signal);
  stage(report, 'postprocessing', 'Interpreting', PROGRESS.postprocessing);
  return interpretStudy(
    {
      study,
      options,
      planes: survey?.planes ?? null,
      readings,
      withoutModel,
      uncertainty: locator.uncertainty,
      views,
      priors: job.priorFiles,
      earlier: scans,
    },
    [...(survey?.refused ?? []), ...refused],
    locator.models,
    new Date(),
  );
}

/** The obstetric pipeline over its parts: a function from a work folder to the same folder. */
export function createObstetricPipeline(parts: ObstetricParts): Pipeline {
  const locatorFor = openOnce(parts.openLocator);

  return createStudyPipeline(parts, async (job) => {
    const options = parseOptions(job.options);
    const locator = await locatorFor(job.models);
    const { dating } = options;
    return {
      mmPerPx: options.mm_per_px,
      previews: options.previews,
      curves: INTERGROWTH_CURVES,
      dating: dating ? { gaDays: dating.ga_days, basis: dating.basis } : null,
      refusal: (study) => (study.clips.length === 0 ? noReadableImage(study) : null),
      interpret: (study, report, signal) => interpret(study, job, options, locator, report, signal),
    };
  });
}
