import { randomUUID } from 'node:crypto';
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { loadConfig } from '../../../config/load.ts';
import type { Job, Pipeline, PipelineEvent } from '../../../pipelines/contract/job.ts';
import { echoEndpoint } from '../../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../../pipelines/obstetric/endpoint.ts';
import { type LocalFile, localFiles, withUniqueNames } from './local-files.ts';

export interface InterpretOptions {
  gaDays?: number;
  mmPerPx?: number;
  report?: boolean;
  age?: number;
  sex?: string;
  heightCm?: number;
  weightKg?: number;
  /** Files and folders of earlier examinations. */
  priors?: readonly string[];
  out: string;
}

/** The endpoints that run without a server; only the requested pipeline is loaded. */
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

/** Options and context of the input schema, validated like those of a submitted request. */
function checkedInput(endpoint: Endpoint, files: readonly LocalFile[], options: InterpretOptions) {
  const { gaDays, mmPerPx, report, age, sex, heightCm, weightKg } = options;
  const parsed = endpoint.input.safeParse({
    files: files.map(({ name }) => name),
    options: {
      ...(gaDays !== undefined && { dating: { ga_days: gaDays } }),
      ...(mmPerPx !== undefined && { mm_per_px: mmPerPx }),
      ...(report !== undefined && { report }),
    },
    clinical_context: {
      ...(age !== undefined && { age_years: age }),
      ...(sex !== undefined && { sex }),
      ...(heightCm !== undefined && { height_cm: heightCm }),
      ...(weightKg !== undefined && { weight_kg: weightKg }),
    },
  });
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(lines.join('\n'));
}

function say(event: PipelineEvent): void {
  if (event.type !== 'stage') return;
  process.stderr.write(`${Math.round(event.progress * 100)} % ${event.label}\n`);
}

/**
 * Runs the pipeline on local files without a server: the same function as in a request, in a
 * temporary work folder, whose result and artifacts are copied to `out`.
 * @returns the exit status: 0 with a result, 1 when the input was rejected.
 */
export async function interpret(
  endpoint: string,
  paths: readonly string[],
  options: InterpretOptions,
): Promise<number> {
  const chosen = ENDPOINTS.find(
    ({ endpoint: { id, model } }) => id === endpoint || model === endpoint,
  );
  if (!chosen) {
    const allowed = ENDPOINTS.map(({ endpoint: { model } }) => model).join(', ');
    throw new Error(`"${endpoint}" is not an endpoint; allowed: ${allowed}`);
  }
  const found = await localFiles(paths.map((path) => resolve(path)));
  const files = withUniqueNames(found.toSorted((a, b) => a.name.localeCompare(b.name)));
  if (files.length === 0) throw new Error(`no file in ${paths.join(', ')}`);
  const earlier = await localFiles((options.priors ?? []).map((path) => resolve(path)));
  const priors = withUniqueNames([...files, ...earlier]).slice(files.length);
  const input = checkedInput(chosen.endpoint, files, options);
  const pipeline = await chosen.load();
  const job: Job = {
    endpoint: chosen.endpoint.id,
    version: chosen.endpoint.version,
    files: files.map(({ name }) => name),
    priorFiles: priors.map(({ name }) => name),
    options: input.options ?? {},
    clinicalContext: input.clinical_context ?? {},
    models: loadConfig().models,
  };
  // The name of the work folder is the request id, from which all UIDs of the result are derived.
  const folder = join(tmpdir(), `local_${randomUUID()}`);
  try {
    await mkdir(join(folder, 'files'), { recursive: true });
    await mkdir(join(folder, 'artifacts'));
    for (const { name, path } of [...files, ...priors]) {
      const link = join(folder, 'files', name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(path, link);
    }
    await writeFile(join(folder, 'job.json'), JSON.stringify(job));
    const end = await pipeline(folder, say, new AbortController().signal);
    if (end.type === 'rejected') {
      process.stderr.write(`${end.code}: ${end.detail}\n`);
      return 1;
    }
    await mkdir(options.out, { recursive: true });
    await cp(join(folder, 'artifacts'), join(options.out, 'artifacts'), { recursive: true });
    await cp(join(folder, 'result.json'), join(options.out, 'result.json'));
    process.stdout.write(`${join(options.out, 'result.json')}\n`);
    return 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
