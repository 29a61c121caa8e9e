import type { Job, Pipeline } from '../contract/job.ts';
import type { Study } from '../contract/study.ts';
import type { Result } from '../result/envelope.ts';
import { runReaders } from '../run/readers.ts';
import {
  type ArtifactParts,
  createStudyPipeline,
  indicationOf,
  noReadableImage,
  type Report,
  stage,
} from '../run/study-pipeline.ts';
import { readStructures } from './biometry/read.ts';
import type { StudyEvidence } from './evidence.ts';
import { INTERGROWTH_CURVES } from './growth/curves.ts';
import { readEarlierScans } from './growth/read.ts';
import { type ObstetricOptions, parseOptions, scaleByFile } from './input.ts';
import { interpretStudy } from './interpret-study.ts';
import type { Locator } from './locator.ts';
import { surveyPlanes } from './planes/read.ts';
import { READERS } from './readers.ts';
import type { ObstetricReviewed } from './review.ts';

interface ObstetricParts extends ArtifactParts {
  /** Returns a locator for one job. */
  openLocator(settings: Job['models']): Promise<Locator>;
}

/** Overall progress at which each stage begins. Progress is linear within a stage. */
const PROGRESS = { planes: 0.05, biometry: 0.5, views: 0.6, postprocessing: 0.8 } as const;

async function interpret(
  study: Study,
  job: Job,
  options: ObstetricOptions,
  locator: Locator,
  report: Report,
  signal: AbortSignal,
  preview: (early: Result) => Promise<void>,
): Promise<{ result: Result; evidence: ObstetricReviewed }> {
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
  const measured: StudyEvidence = {
    study,
    options,
    accept: job.evidence ?? 'real',
    planes: survey?.planes ?? null,
    readings,
    withoutModel,
    uncertainty: locator.uncertainty,
    views: {},
    priors: job.priorFiles,
  };
  // The preview is sent now because the biometry is already known, and reading the sweeps takes the
  // longest.
  if (readings.length > 0) await preview(interpretStudy(measured, [], locator.models, new Date()));
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
    // The gateway writes the standard error of the child process to its log.
    (reader, error) => console.error(`reader ${reader} failed`, error),
  );
  const given = (study.priors?.length ?? 0) + (study.priorReports?.length ?? 0);
  if (given > 0) {
    stage(report, 'inference.earlier', 'Measuring earlier scans', PROGRESS.postprocessing);
  }
  const { scans, refused } = await readEarlierScans(study, locator, signal);
  stage(report, 'postprocessing', 'Interpreting', PROGRESS.postprocessing);
  const evidence: ObstetricReviewed = {
    given: { ...measured, views, earlier: scans },
    refusedFrames: [...(survey?.refused ?? []), ...refused],
    models: locator.models,
    indication: indicationOf(job),
  };
  const { given: read, refusedFrames, models } = evidence;
  return { result: interpretStudy(read, refusedFrames, models, new Date()), evidence };
}

/**
 * Builds the obstetric pipeline from its parts. The pipeline reads from and writes to a work
 * folder.
 */
export function createObstetricPipeline(parts: ObstetricParts): Pipeline {
  return createStudyPipeline(parts, async (job) => {
    const options = parseOptions(job.options);
    const locator = await parts.openLocator(job.models);
    const { dating } = options;
    return {
      mmPerPx: scaleByFile(options.mm_per_px, job.files),
      previews: options.previews,
      curves: INTERGROWTH_CURVES,
      dating: dating ? { gaDays: dating.ga_days, basis: dating.basis } : null,
      refusal: (study) => (study.clips.length === 0 ? noReadableImage(study) : null),
      interpret: (study, report, signal, preview) =>
        interpret(study, job, options, locator, report, signal, preview),
    };
  });
}
