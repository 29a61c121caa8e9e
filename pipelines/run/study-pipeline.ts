import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createShownFrames } from '../artifacts/previews/shown-frames.ts';
import { CODING_SYSTEMS } from '../concepts/concepts.ts';
import { type Job, jobSchema, type Pipeline, type PipelineEvent } from '../contract/job.ts';
import type { Study } from '../contract/study.ts';
import type { Subject } from '../dicom/subject.ts';
import { readStudy } from '../input/read-study.ts';
import { withArtifacts } from '../result/assemble.ts';
import { type ArtifactEntry, type Result, resultSchema } from '../result/envelope.ts';
import { EVIDENCE_FILE, evidenceText } from './stored-evidence.ts';
import type { ArtifactInput, writeEarlyPreviews } from './write-artifacts.ts';

export interface ArtifactParts {
  writeArtifacts(input: ArtifactInput): Promise<ArtifactEntry[]>;
  /** Writes previews early. If absent, previews are written with the other artifacts. */
  writeEarlyPreviews?: typeof writeEarlyPreviews;
  /** Artifacts built by code in other folders, such as the FHIR bundle. */
  extra?: ArtifactInput['extra'];
}

export type Report = (event: PipelineEvent) => void;

/** Interprets one job of an endpoint, with its options parsed and its models open. */
export interface StudyInterpreter {
  /**
   * Returns the scale given in the request for a file that contains no scale; null if the request
   * has none for it.
   */
  mmPerPx?: (file: string) => number | null;
  previews: boolean;
  dating: Subject['dating'];
  /** Growth charts to draw in the documents. */
  curves: ArtifactInput['curves'];
  /**
   * Returns a sentence explaining to the client why the study cannot be interpreted; null if it
   * can.
   */
  refusal(study: Study): string | null;
  /**
   * Returns the result, and the evidence from which a review can rebuild it
   * (pipelines/run/stored-evidence.ts). While the rest of the study is still being read, `preview` draws
   * and announces the values measured so far.
   */
  interpret(
    study: Study,
    report: Report,
    signal: AbortSignal,
    preview: (early: Result) => Promise<void>,
  ): Promise<{ result: Result; evidence: unknown }>;
}

/** Coding system for findings without a concept; the code is then the id of the finding. */
const OWN_SYSTEM = CODING_SYSTEMS['99USINT'];

/** Overall progress at which writing the documents begins. */
const DOCUMENTS = 0.85;

/** Reports a stage; `progress` is the completed share of the whole job. */
export function stage(
  report: Report,
  name: Extract<PipelineEvent, { type: 'stage' }>['name'],
  label: string,
  progress: number,
): void {
  report({ type: 'stage', name, label, progress });
}

export async function readJob(folder: string): Promise<Job> {
  return jobSchema.parse(JSON.parse(await readFile(join(folder, 'job.json'), 'utf8')));
}

/** Returns the files with these names, with their paths in the work folder of a job. */
export function jobFiles(
  folder: string,
  names: readonly string[],
): { name: string; path: string }[] {
  return names.map((name) => ({ name, path: join(folder, 'files', name) }));
}

/**
 * Returns the subject of a result without identity. The identity is added last, when the result
 * leaves the gateway.
 */
export function anonymousSubject(
  requestId: string,
  study: Study,
  { dating, indication }: Pick<Subject, 'dating' | 'indication'>,
): Subject {
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
    indication: indication ?? null,
    dating,
  };
}

/**
 * Returns the indication from the request. The HTTP API has already refused indications that
 * contain identifiers.
 */
export function indicationOf({ clinicalContext }: Job): string | null {
  const { indication } = clinicalContext;
  return typeof indication === 'string' && indication.trim() !== '' ? indication.trim() : null;
}

/** Reports critical findings before any document is written, so they need not wait for a PDF. */
function reportCritical(report: Report, { findings }: Result): void {
  for (const { id, section, concept, text, severity, evidence } of findings) {
    if (severity !== 'critical') continue;
    const { system, code, display } = concept ?? { system: OWN_SYSTEM, code: id, display: text };
    report({ type: 'triage', flag: { code, system, display, severity, section, evidence } });
  }
}

/**
 * Returns a function that reports each preview as soon as it is drawn, and again whenever it has
 * changed. Documents are reported with the result.
 */
function announcer(report: Report) {
  const announced = new Map<string, string>();
  return (
    { name, media_type: mediaType, section, sha256 }: ArtifactEntry,
    shows: string | null,
  ) => {
    if (!section || shows === null || announced.get(name) === sha256) return;
    announced.set(name, sha256);
    report({ type: 'partial', artifact: name, mediaType, section, caption: shows });
  };
}

/** Number of files whose reason is stated. An archive may contain thousands. */
const STATED_REASONS = 10;

/** Returns a sentence explaining why no image could be read, with the reasons of the first files. */
export function noReadableImage({ refused }: Pick<Study, 'refused'>): string {
  const reasons = refused.slice(0, STATED_REASONS).map(({ file, reason }) => `${file}: ${reason}`);
  const others = refused.length - reasons.length;
  if (others > 0) reasons.push(`${others} more ${others === 1 ? 'file' : 'files'}`);
  return `No file could be read as an ultrasound image. ${reasons.join('; ')}.`;
}

/**
 * Returns the pipeline of an endpoint. It reads the study from a work folder, has the endpoint
 * interpret it, reports critical findings, and writes the documents and the result into the folder.
 */
export function createStudyPipeline(
  parts: ArtifactParts,
  open: (job: Job) => Promise<StudyInterpreter>,
): Pipeline {
  return async (folder, report, signal) => {
    stage(report, 'starting', 'Starting', 0);
    const job = await readJob(folder);
    const interpreter = await open(job);
    stage(report, 'preprocessing', 'Reading the files', 0);
    const study = await readStudy(jobFiles(folder, job.files), {
      priors: jobFiles(folder, job.priorFiles),
      unreadable: job.unreadable,
      ...(interpreter.mmPerPx && { mmPerPx: interpreter.mmPerPx }),
      unpackTo: join(folder, 'unpacked'),
      signal,
    });
    signal.throwIfAborted();
    const refusal = interpreter.refusal(study);
    if (refusal) return { type: 'rejected', code: 'no_readable_image', detail: refusal };
    const artifactFolder = join(folder, 'artifacts');
    const shown = createShownFrames(job.wholeFrames === true);
    const announce = announcer(report);
    const drawn = new Map<string, string>();
    const preview = async (early: Result) => {
      if (!interpreter.previews) return;
      const known = { result: early, study, folder: artifactFolder, shown, drawn };
      await parts.writeEarlyPreviews?.(known, announce);
    };
    const { result, evidence } = await interpreter.interpret(study, report, signal, preview);
    reportCritical(report, result);
    stage(report, 'reporting', 'Writing documents', DOCUMENTS);
    const artifacts = await parts.writeArtifacts({
      result,
      subject: anonymousSubject(job.request ?? basename(folder), study, {
        dating: interpreter.dating,
        indication: indicationOf(job),
      }),
      ...(job.paper && { paper: job.paper }),
      display: job.display !== false,
      shown,
      drawn,
      study,
      previews: interpreter.previews,
      curves: interpreter.curves,
      folder: artifactFolder,
      written: announce,
      ...(parts.extra && { extra: parts.extra }),
    });
    await writeFile(join(artifactFolder, EVIDENCE_FILE), evidenceText(evidence));
    signal.throwIfAborted();
    const complete = resultSchema.parse(withArtifacts(result, artifacts));
    await writeFile(join(folder, 'result.json'), `${JSON.stringify(complete, null, 2)}\n`);
    return { type: 'done' };
  };
}
