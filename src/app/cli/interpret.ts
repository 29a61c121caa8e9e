import { randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { loadConfig } from '../../../config/load.ts';
import type { AcceptedEvidence } from '../../../config/schema.ts';
import type { Job, Pipeline, PipelineEvent } from '../../../pipelines/contract/job.ts';
import { echoEndpoint } from '../../../pipelines/echo/endpoint.ts';
import type { StudyFile } from '../../../pipelines/input/study-file.ts';
import { obstetricEndpoint } from '../../../pipelines/obstetric/endpoint.ts';
import { type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { type AnswerForm, answer } from './answer.ts';
import { EXIT, type ExitStatus, UsageError } from './exit-status.ts';
import { type InputOptions, inputOf } from './input-options.ts';
import { localFiles, withUniqueNames } from './local-files.ts';

export interface InterpretOptions extends InputOptions, AnswerForm {
  /** Which evidence is accepted; by default the setting `evidence.accept`. */
  accept?: AcceptedEvidence;
  out: string;
  /** Treats each file as a separate examination, with its own folder below `out`. */
  batch?: boolean;
}

/** The endpoints that can run without a server. Only the requested pipeline is loaded. */
const ENDPOINTS = [
  {
    endpoint: obstetricEndpoint,
    load: async (): Promise<Pipeline> => (await import('../pipelines/obstetric.ts')).pipeline,
  },
  {
    endpoint: echoEndpoint,
    load: async (): Promise<Pipeline> => (await import('../pipelines/echo.ts')).pipeline,
  },
] as const;

type Endpoint = (typeof ENDPOINTS)[number]['endpoint'];

function checkedInput(endpoint: Endpoint, files: readonly StudyFile[], options: InterpretOptions) {
  const parsed = endpoint.input.safeParse({
    files: files.map(({ name }) => name),
    ...inputOf(
      options,
      files.map(({ name }) => name),
    ),
  });
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? `${endpoint.model} has no option ${issue.keys.join(', ')}`
      : `${issue.path.join('.')}: ${issue.message}`,
  );
  throw new UsageError(lines.join('\n'));
}

function say(event: PipelineEvent): void {
  if (event.type !== 'stage') return;
  process.stderr.write(`${Math.round(event.progress * 100)} % ${event.label}\n`);
}

interface Interpretation {
  /** Path of the result; null if the pipeline refused the files. */
  result: string | null;
  /** Why the pipeline refused the files; null if it did not. */
  refusal: { code: string; detail: string } | null;
}

/**
 * Runs the pipeline on local files without a server, by the same function that a request uses. The
 * pipeline runs in a temporary work folder, from which the result and artifacts are copied to
 * `out`.
 */
export async function interpret(
  endpoint: string,
  paths: readonly string[],
  options: InterpretOptions,
): Promise<ExitStatus> {
  const chosen = ENDPOINTS.find(
    ({ endpoint: { id, model } }) => id === endpoint || model === endpoint,
  );
  if (!chosen) {
    const allowed = ENDPOINTS.map(({ endpoint: { model } }) => model).join(', ');
    throw new UsageError(`"${endpoint}" is not an endpoint; allowed: ${allowed}`);
  }
  const found = await localFiles(paths.map((path) => resolve(path)));
  const files = withUniqueNames(found.toSorted((a, b) => a.name.localeCompare(b.name)));
  if (files.length === 0) throw new UsageError(`no file in ${paths.join(', ')}`);
  const earlier = await localFiles((options.priors ?? []).map((path) => resolve(path)));
  const pipeline = await chosen.load();
  const config = loadConfig();
  const examine = (read: readonly StudyFile[], out: string) => {
    const priors = withUniqueNames([...read, ...earlier]).slice(read.length);
    const { options: given, clinical_context: context } = checkedInput(
      chosen.endpoint,
      read,
      options,
    );
    const job: Job = {
      endpoint: chosen.endpoint.id,
      version: chosen.endpoint.version,
      files: read.map(({ name }) => name),
      priorFiles: priors.map(({ name }) => name),
      options: given ?? {},
      clinicalContext: context ?? {},
      evidence: options.accept ?? config.evidence.accept,
      models: config.models,
    };
    return runJob(pipeline, job, [...read, ...priors], out);
  };
  if (!options.batch) {
    const made = await examine(files, options.out);
    answer(options, made, made.result === null ? [] : [made.result]);
    return made.result === null ? EXIT.refused : EXIT.success;
  }
  const all: (Interpretation & { file: string })[] = [];
  for (const file of files) {
    process.stderr.write(`${file.name}\n`);
    const made = await examine([file], join(options.out, file.name));
    if (!options.json && made.result !== null) process.stdout.write(`${made.result}\n`);
    all.push({ file: file.name, ...made });
  }
  const refused = all.filter(({ result }) => result === null).length;
  answer(options, all, [`${all.length - refused} read, ${refused} refused`]);
  return refused === 0 ? EXIT.success : EXIT.refused;
}

/** Runs one job on links to the files, and copies its result and artifacts to `out`. */
async function runJob(
  pipeline: Pipeline,
  job: Job,
  files: readonly StudyFile[],
  out: string,
): Promise<Interpretation> {
  // The work folder is named after the request id, from which all UIDs in the result are derived.
  const folder = join(tmpdir(), `local_${randomUUID()}`);
  try {
    await mkdir(join(folder, 'files'), { recursive: true });
    await mkdir(join(folder, 'artifacts'));
    for (const { name, path } of files) {
      const link = join(folder, 'files', name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(path, link);
    }
    await writeFile(join(folder, 'job.json'), JSON.stringify(job));
    const end = await pipeline(folder, say, new AbortController().signal);
    if (end.type === 'rejected') {
      process.stderr.write(`${end.code}: ${end.detail}\n`);
      return { result: null, refusal: { code: end.code, detail: end.detail } };
    }
    await mkdir(out, { recursive: true });
    await cp(join(folder, 'artifacts'), join(out, 'artifacts'), { recursive: true });
    await cp(join(folder, 'result.json'), join(out, 'result.json'));
    const { input_summary: input } = resultSchema.parse(
      JSON.parse(await readFile(join(out, 'result.json'), 'utf8')),
    );
    if (input.calibrated_frames < input.frames) process.stderr.write(scaleHint(job, input));
    return { result: join(out, 'result.json'), refusal: null };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Suggests what to do about frames without a scale, on which no length in millimetres can be
 * measured.
 */
function scaleHint(
  { endpoint }: Pick<Job, 'endpoint'>,
  { frames, calibrated_frames: calibrated }: Result['input_summary'],
): string {
  const some = `${frames - calibrated} of ${frames} frames have no scale, so nothing on them can be measured in millimetres`;
  const remedy =
    endpoint === obstetricEndpoint.id ? '; state the scale with --mm-per-px if you know it' : '';
  return `${some}${remedy}.\n`;
}
