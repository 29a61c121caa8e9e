import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Subject } from '../artifacts/subject.ts';
import type { ArtifactInput } from '../artifacts/write-artifacts.ts';
import { type Job, jobSchema, type Pipeline, type PipelineEvent } from '../contract/job.ts';
import type { Study } from '../contract/study.ts';
import { readStudy } from '../input/read-study.ts';
import { withArtifacts } from '../result/assemble.ts';
import { CODING_SYSTEMS } from '../result/concepts.ts';
import { type ArtifactEntry, type Result, resultSchema } from '../result/envelope.ts';
import { type ObstetricOptions, parseOptions } from './input.ts';
import { interpretStudy } from './interpret-study.ts';
import type { Locator } from './locator.ts';
import { surveyPlanes } from './plane-survey.ts';
import { readViews } from './readers.ts';
import { readStructures } from './structure-readings.ts';

export interface ObstetricParts {
  /** Opens the models of a job; the pipeline keeps what it gets for the jobs that follow. */
  openLocator(settings: Job['models']): Promise<Locator>;
  writeArtifacts(input: ArtifactInput): Promise<ArtifactEntry[]>;
  /** Artifacts of other folders, such as the FHIR bundle. */
  extra?: ArtifactInput['extra'];
}

/** Of a finding without a concept: its id is ours. */
const OWN_SYSTEM = CODING_SYSTEMS['99USINT'];

type Report = (event: PipelineEvent) => void;

/** Share of the whole at which each stage begins; between them progress is linear. */
const PROGRESS = {
  planes: 0.05,
  biometry: 0.5,
  views: 0.6,
  postprocessing: 0.8,
  reporting: 0.85,
} as const;

function stage(
  report: Report,
  name: Extract<PipelineEvent, { type: 'stage' }>['name'],
  label: string,
  progress: number,
): void {
  report({ type: 'stage', name, label, progress });
}

/** The anonymous subject of the pipeline: identity is joined last, at the doors. */
function anonymousSubject(requestId: string, study: Study, options: ObstetricOptions): Subject {
  return {
    requestId,
    identity: null,
    instances: study.clips.flatMap((clip) =>
      clip.sopInstanceUid && clip.sopClassUid && clip.seriesInstanceUid
        ? [
            {
              sopClassUid: clip.sopClassUid,
              sopInstanceUid: clip.sopInstanceUid,
              seriesInstanceUid: clip.seriesInstanceUid,
              file: clip.file,
              numberOfFrames: clip.frames.length,
              rows: clip.height,
              columns: clip.width,
            },
          ]
        : [],
    ),
    dating: options.dating ? { gaDays: options.dating.ga_days, basis: options.dating.basis } : null,
  };
}

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
  const survey = locator.planes
    ? await surveyPlanes(study, locator.planes, signal, planesStage)
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
  const views = await readViews(
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
    },
    survey?.refused ?? [],
    locator.models,
    new Date(),
  );
}

/** Critical findings, told before any document is written: they must not wait for a PDF. */
function alarm(report: Report, { findings }: Result): void {
  for (const { id, section, concept, text, severity, evidence } of findings) {
    if (severity !== 'critical') continue;
    const { system, code, display } = concept ?? { system: OWN_SYSTEM, code: id, display: text };
    report({ type: 'triage', flag: { code, system, display, severity, section, evidence } });
  }
}

function announce(report: Report, artifacts: readonly ArtifactEntry[]): void {
  for (const { name, media_type: mediaType, section } of artifacts) {
    if (!section || !mediaType.startsWith('image/')) continue;
    report({
      type: 'partial',
      artifact: name,
      mediaType,
      section,
      caption: `Calipers: ${section}`,
    });
  }
}

function noReadableImage(study: Study): string {
  const reasons = study.refused.map(({ file, reason }) => `${file}: ${reason}`);
  return `No file could be read as an ultrasound image. ${reasons.join('; ')}.`;
}

/** The obstetric pipeline over its parts: a function from a work folder to the same folder. */
export function createObstetricPipeline(parts: ObstetricParts): Pipeline {
  const locators = new Map<string, Promise<Locator>>();
  const locatorFor = (settings: Job['models']) => {
    const key = JSON.stringify(settings);
    const opened = locators.get(key) ?? parts.openLocator(settings);
    locators.set(key, opened);
    // A failure is the failure of this job; the next one tries again.
    opened.catch(() => locators.delete(key));
    return opened;
  };

  return async (folder, report, signal) => {
    stage(report, 'starting', 'Starting', 0);
    const job = jobSchema.parse(JSON.parse(await readFile(join(folder, 'job.json'), 'utf8')));
    const options = parseOptions(job.options);
    const locator = await locatorFor(job.models);
    stage(report, 'preprocessing', 'Reading the files', 0);
    const laidOut = (name: string) => ({ name, path: join(folder, 'files', name) });
    const study = await readStudy(job.files.map(laidOut), {
      priors: job.priorFiles.map(laidOut),
      mmPerPx: options.mm_per_px,
      unpackTo: join(folder, 'unpacked'),
      signal,
    });
    signal.throwIfAborted();
    if (study.clips.length === 0) {
      return { type: 'rejected', code: 'no_readable_image', detail: noReadableImage(study) };
    }
    const result = await interpret(study, job, options, locator, report, signal);
    alarm(report, result);
    stage(report, 'reporting', 'Writing documents', PROGRESS.reporting);
    const artifacts = await parts.writeArtifacts({
      result,
      subject: anonymousSubject(basename(folder), study, options),
      study,
      previews: options.previews,
      folder: join(folder, 'artifacts'),
      ...(parts.extra && { extra: parts.extra }),
    });
    signal.throwIfAborted();
    announce(report, artifacts);
    const complete = resultSchema.parse(withArtifacts(result, artifacts));
    await writeFile(join(folder, 'result.json'), `${JSON.stringify(complete, null, 2)}\n`);
    return { type: 'done' };
  };
}
