import { randomUUID } from 'node:crypto';
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import type { Job, PipelineEvent } from '../../pipelines/contract/job.ts';
import { obstetricEndpoint } from '../../pipelines/obstetric/endpoint.ts';
import { pipeline } from '../obstetric-pipeline.ts';
import { type LocalFile, localFiles, withUniqueNames } from './local-files.ts';

export interface InterpretOptions {
  gaDays?: number;
  mmPerPx?: number;
  report?: boolean;
  out: string;
}

/** The options of the input schema, checked as a submitted request is. */
function checkedOptions(files: readonly LocalFile[], options: InterpretOptions) {
  const { gaDays, mmPerPx, report } = options;
  const parsed = obstetricEndpoint.input.safeParse({
    files: files.map(({ name }) => name),
    options: {
      ...(gaDays !== undefined && { dating: { ga_days: gaDays } }),
      ...(mmPerPx !== undefined && { mm_per_px: mmPerPx }),
      ...(report !== undefined && { report }),
    },
  });
  if (parsed.success) return parsed.data.options ?? {};
  const lines = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(lines.join('\n'));
}

function say(event: PipelineEvent): void {
  if (event.type !== 'stage') return;
  process.stderr.write(`${Math.round(event.progress * 100)} % ${event.label}\n`);
}

/**
 * Runs the pipeline on local files without a server: the same function as in a request, in a work
 * folder of its own, whose result and artifacts are copied to `out`.
 * @returns the exit status: 0 with a result, 1 when the input was rejected.
 */
export async function interpret(
  endpoint: string,
  paths: readonly string[],
  options: InterpretOptions,
): Promise<number> {
  if (endpoint !== obstetricEndpoint.id && endpoint !== obstetricEndpoint.model) {
    throw new Error(`"${endpoint}" is not an endpoint; allowed: ${obstetricEndpoint.model}`);
  }
  const found = await localFiles(paths.map((path) => resolve(path)));
  const files = withUniqueNames(found.toSorted((a, b) => a.name.localeCompare(b.name)));
  if (files.length === 0) throw new Error(`no file in ${paths.join(', ')}`);
  const job: Job = {
    endpoint: obstetricEndpoint.id,
    version: obstetricEndpoint.version,
    files: files.map(({ name }) => name),
    priorFiles: [],
    options: checkedOptions(files, options),
    clinicalContext: {},
    models: loadConfig().models,
  };
  // The name of the work folder is the request id, from which every UID of the result is made.
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
