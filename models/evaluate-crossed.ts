import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Job } from '../pipelines/contract/job.ts';
import { openLocator } from '../pipelines/obstetric/open-locator.ts';
import { createObstetricPipeline } from '../pipelines/obstetric/pipeline.ts';
import { resultSchema } from '../pipelines/result/envelope.ts';
import {
  type Case,
  hc18Cases,
  heartCases,
  planeCases,
  type SplitName,
} from './evaluation/cases.ts';
import { type Crossed, countCrossed, crossedOf } from './evaluation/crossed.ts';

/**
 * Counts what the whole obstetric pipeline measures wrongly on held-out real images that show
 * something else: each image is a separate request with a scale and a gestational age, so that no
 * section is left out because one of these is missing.
 *
 * node models/evaluate-crossed.ts [--each 40] [--split test|validation] [--data ../shared/data]
 * [--cases]
 */
const { values } = parseArgs({
  options: {
    each: { type: 'string', default: '40' },
    split: { type: 'string', default: 'test' },
    data: { type: 'string', default: '../shared/data' },
    cases: { type: 'boolean', default: false },
  },
});
const each = Number(values.each);
const split = values.split as SplitName;

/** Typical screen scale in mm per pixel, assumed for a set whose images have no scale. */
const PRETENDED_SCALE = 0.25;
const GESTATIONAL_DAYS = 150;

/** The requested number of images of a set, spread evenly over the whole set. */
function spread<T>(cases: readonly T[]): T[] {
  const step = Math.max(1, cases.length / each);
  return Array.from(
    { length: Math.min(each, cases.length) },
    (_, n) => cases[Math.floor(n * step)],
  ).filter((one) => one !== undefined);
}

const planes = await planeCases(values.data, split);
const kinds = Map.groupBy(planes, ({ dataset, plane }) =>
  dataset === 'fetal-planes' ? `${dataset} ${plane}` : dataset,
);
/**
 * Name of the set, its images, and the plane that they show; null when they show no part of a
 * fetus.
 */
const sets: [string, readonly Case[], string | null][] = [
  ['hc18', await hc18Cases(values.data, split), 'transthalamic'],
  ...[...kinds].map(([name, cases]): [string, Case[], string | null] => [
    name,
    cases,
    cases[0]?.plane ?? null,
  ]),
  ['camus-a4c', await heartCases(values.data), null],
];

const folder = await mkdtemp(join(tmpdir(), 'crossed-'));
const settings = { allow: 'all', provider: 'cpu', threads: 1 } as const;
const locator = await openLocator(settings);
const pipeline = createObstetricPipeline({
  openLocator: async () => locator,
  // No documents are written, because only the result is evaluated.
  writeArtifacts: async () => [],
});

async function interpret({ path, mmPerPixel }: Case, shown: string | null): Promise<Crossed[]> {
  const work = join(folder, 'work');
  await rm(work, { recursive: true, force: true });
  await mkdir(join(work, 'files'), { recursive: true });
  await mkdir(join(work, 'artifacts'));
  const name = basename(path);
  await symlink(resolve(path), join(work, 'files', name));
  const job: Job = {
    endpoint: 'us/obstetric/interpret',
    version: '1.0.0',
    files: [name],
    priorFiles: [],
    options: { dating: { ga_days: GESTATIONAL_DAYS }, mm_per_px: mmPerPixel ?? PRETENDED_SCALE },
    clinicalContext: {},
    models: settings,
  };
  await writeFile(join(work, 'job.json'), JSON.stringify(job));
  const end = await pipeline(work, () => undefined, new AbortController().signal);
  if (end.type !== 'done') throw new Error(`${path}: ${JSON.stringify(end)}`);
  const result = resultSchema.parse(JSON.parse(await readFile(join(work, 'result.json'), 'utf8')));
  return crossedOf(result, shown);
}

const rows: string[] = [];
for (const [name, cases, shown] of sets) {
  const chosen = spread(cases);
  const found: Crossed[][] = [];
  for (const one of chosen) {
    const crossed = await interpret(one, shown);
    found.push(crossed);
    if (values.cases && crossed.length > 0) {
      console.log(`${name} ${one.image}: ${crossed.map(({ said }) => said).join('; ')}`);
    }
  }
  const { images, by } = countCrossed(found);
  const what = Object.entries(by).map(([part, count]) => `${part} ${count}`);
  rows.push(`| ${name} | ${chosen.length} | ${images} | ${what.join(', ')} |`);
  console.log(rows.at(-1));
}
await locator.close();
await rm(folder, { recursive: true });
console.log('| images of | images | with a value of something else | of what |');
console.log(['| --- | --- | --- | --- |', ...rows].join('\n'));
