import type { Job, Pipeline } from '../contract/job.ts';
import type { Study } from '../contract/study.ts';
import { createEarlyPreviews } from '../run/early-previews.ts';
import { runReaders } from '../run/readers.ts';
import {
  type ArtifactParts,
  createStudyPipeline,
  indicationOf,
  noReadableImage,
  type StudyInterpreter,
  stage,
} from '../run/study-pipeline.ts';
import { readDisplays } from './displays/read.ts';
import type { DisplayReading } from './displays/reading.ts';
import { type Gathered, gatherEvidence } from './evidence.ts';
import { echoInputOf, parseRequest } from './input.ts';
import { interpretStudy } from './interpret-study.ts';
import type { HeartLocator } from './locate/heart-locator.ts';
import { surveyViews } from './locate/view-survey.ts';
import { READERS, type Readings } from './readers.ts';
import type { EchoReviewed } from './review.ts';
import { SECTIONS } from './sections.ts';

/** Share of total progress at which each stage begins. Progress is linear within a stage. */
const PROGRESS = { views: 0.05, chambers: 0.15, read: 0.8 } as const;

/**
 * Returns why a study is refused; null if it is accepted. A machine's report without images is
 * accepted, because it contains values.
 */
function refusalOf(study: Study): string | null {
  if ((study.cart ?? []).length > 0) return null;
  if (study.clips.length === 0) return noReadableImage(study);
  const input = echoInputOf(study.clips);
  return input.kind === 'none' ? `This is no echo study: ${input.reason}.` : null;
}

interface EchoParts extends ArtifactParts {
  /** Returns a locator for one job. */
  openLocator(settings: Job['models']): Promise<HeartLocator>;
}

/** Creates the echo pipeline from its parts: a function that reads and writes one work folder. */
export function createEchoPipeline(parts: EchoParts): Pipeline {
  return createStudyPipeline(parts, async (job): Promise<StudyInterpreter> => {
    const { options, clinicalContext, priorFiles, models, evidence: accept = 'real' } = job;
    const request = parseRequest(options, clinicalContext);
    const locator = await parts.openLocator(models);
    const resultOf = (gathered: Gathered) =>
      interpretStudy(
        gatherEvidence(gathered, SECTIONS),
        request.options,
        new Date(),
        locator.models,
        accept,
      );
    return {
      previews: true,
      dating: null,
      curves: [],
      refusal: refusalOf,
      async interpret(study, report, signal, preview) {
        const reportStage = (
          name: Parameters<typeof stage>[1],
          label: string,
          from: number,
          to: number,
          share: number,
        ) => stage(report, name, label, from + share * (to - from));
        const { views: first, chambers, read } = PROGRESS;
        reportStage('inference.views', 'Identifying the views', first, chambers, 0);
        const clips = await surveyViews(study, locator, signal, (share) =>
          reportStage('inference.views', 'Identifying the views', first, chambers, share),
        );
        const gathered = {
          study,
          context: request.context,
          spectra: [] as readonly DisplayReading[],
          clips,
          views: { apical: null, parasternal: null } as Readings,
          priors: priorFiles,
          accept,
          models: locator.models.map(({ id }) => id),
        };
        // A clip is shown in a preview as soon as it is read, and so are all displays together,
        // while others are still being read.
        let known: Gathered = gathered;
        const previews = createEarlyPreviews(() => preview(resultOf(known)));
        const previewKnown = (more: Partial<Pick<Gathered, 'spectra' | 'views'>>) => {
          known = { ...known, ...more };
          previews.draw();
        };
        // Displays are traced on this thread while the models process the clips on other threads.
        reportStage('inference.spectra', 'Tracing spectral Doppler', chambers, read, 0);
        const [views, spectra] = await Promise.all([
          runReaders(
            READERS,
            { study, views: clips, locator, signal },
            ({ stage: name, label }, share) =>
              reportStage(`inference.${name}`, label, chambers, read, share),
            // The gateway writes the child process's standard error to its log.
            (reader, error) => console.error(`reader ${reader} failed`, error),
            (soFar) => previewKnown({ views: { ...gathered.views, ...soFar } }),
          ),
          readDisplays(study, signal).then((displays) => {
            previewKnown({ spectra: displays });
            return displays;
          }),
        ]);
        await previews.drawn();
        stage(report, 'postprocessing', 'Interpreting', read);
        const evidence: EchoReviewed = {
          gathered: { ...gathered, spectra, views },
          options: request.options,
          models: locator.models,
          indication: indicationOf(job),
        };
        return { result: resultOf(evidence.gathered), evidence };
      },
    };
  });
}
