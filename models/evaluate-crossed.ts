import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import type { Job } from '../pipelines/contract/job.ts';
import { openLocator } from '../pipelines/obstetric/open-locator.ts';
import { createObstetricPipeline } from '../pipelines/obstetric/pipeline.ts';
import { type Result, resultSchema } from '../pipelines/result/envelope.ts';
import {
  type Case,
  hc18Cases,
  heartCases,
  landmarkCases,
  planeCases,
  readGray,
  type SplitName,
} from './evaluation/cases.ts';
import {
  type Crossed,
  countCrossed,
  countNamed,
  countScreens,
  crossedOf,
  framesOf,
  type Screen,
  screenOf,
} from './evaluation/crossed.ts';
import { LAYOUTS, onScreen } from './evaluation/screens.ts';

/**
 * Counts the false measurements of the whole obstetric pipeline on held-out real images that show
 * something else. Each image is a separate request with a scale and a gestational age, so that no
 * section is skipped because one of these is missing. `--ga none` omits the age. With `--screens`,
 * the fetal images are first placed on whole screens with several layouts, and right and wrong
 * plane labels are counted too.
 *
 * node models/evaluate-crossed.ts [--each 40] [--split test|validation] [--data ../shared/data]
 * [--ga 150] [--only fetal|other] [--screens] [--cases]
 */
const { values } = parseArgs({
  options: {
    each: { type: 'string', default: '40' },
    split: { type: 'string', default: 'test' },
    data: { type: 'string', default: '../shared/data' },
    ga: { type: 'string', default: '150' },
    only: { type: 'string' },
    screens: { type: 'boolean', default: false },
    cases: { type: 'boolean', default: false },
  },
});
const each = Number(values.each);
const split = values.split as SplitName;
const data = values.data;

/** Typical screen scale in mm per pixel, assumed for image sets without a scale. */
const PRETENDED_SCALE = 0.25;

/**
 * Name of a set, its images, and the plane that they show (null if they show no part of a fetus).
 */
type Set = [name: string, cases: readonly Case[], shown: string | null];

/** Returns the requested number of images, spread evenly over the set. */
function spread<T>(cases: readonly T[]): T[] {
  const step = Math.max(1, cases.length / each);
  return Array.from(
    { length: Math.min(each, cases.length) },
    (_, n) => cases[Math.floor(n * step)],
  ).filter((one) => one !== undefined);
}

async function filesOf(folder: string, name: RegExp): Promise<Case[]> {
  const files = (await readdir(join(data, folder))).filter((file) => name.test(file));
  return files.toSorted().map((image) => {
    return { dataset: folder, image, path: join(data, folder, image) };
  });
}

/** Returns the image sets that show a fetus in the second or third trimester, or in labour. */
async function fetalSets(): Promise<Set[]> {
  const heads = await hc18Cases(data, split);
  const planes = await planeCases(data, split);
  const known = await Promise.all(
    (['fetal-head', 'fetal-abdomen', 'fetal-femur'] as const).map((model) =>
      landmarkCases(data, model, split),
    ),
  );
  const lengths = new Map(known.flat().map((one) => [one.image, one]));
  const kinds = Map.groupBy(
    planes.filter(({ dataset }) => dataset === 'fetal-planes'),
    ({ plane }) => plane ?? '',
  );
  return [
    ['hc18', heads, 'transthalamic'],
    ...[...kinds].map(([plane, cases]): Set => {
      const measured = cases.map((one) => ({ ...one, ...lengths.get(one.image), plane }));
      return [`fetal-planes ${plane}`, measured, plane];
    }),
  ];
}

/**
 * Returns the image sets in which biometry of the second and third trimesters must measure nothing.
 */
async function otherSets(): Promise<Set[]> {
  const planes = await planeCases(data, split);
  const of = (name: string) => planes.filter(({ dataset }) => dataset === name);
  return [
    ['psfhs', of('psfhs'), 'transperineal'],
    ['nt-midsagittal', of('nt-midsagittal'), 'midsagittal'],
    ['camus-a4c', await heartCases(data), null],
    ['dicom/us', await filesOf('dicom/us', /^(?!OBXXXX1A_)/), null],
    ['dicom/doppler', await filesOf('dicom/doppler', /\.dcm$/), null],
    ['dicom/doppler-unseen', await filesOf('dicom/doppler-unseen', /\.dcm$/), null],
    ['echo-views', await filesOf('echo-views', /\.png$/), null],
    ['echo-clips', await filesOf('echo-clips', /\.mov$/), null],
  ];
}

const folder = await mkdtemp(join(tmpdir(), 'crossed-'));
const settings = { allow: 'all', provider: 'cpu', threads: 1 } as const;
const locator = await openLocator(settings);
const pipeline = createObstetricPipeline({
  openLocator: async () => locator,
  // No documents are written, because only the result is evaluated.
  writeArtifacts: async () => [],
});

async function interpret(path: string, mmPerPixel: number): Promise<Result> {
  const work = join(folder, 'work');
  await rm(work, { recursive: true, force: true });
  await mkdir(join(work, 'files'), { recursive: true });
  await mkdir(join(work, 'artifacts'));
  const name = basename(path);
  await symlink(resolve(path), join(work, 'files', name));
  const dated = values.ga === 'none' ? {} : { dating: { ga_days: Number(values.ga) } };
  const job: Job = {
    endpoint: 'us/obstetric/interpret',
    version: '1.0.0',
    files: [name],
    priorFiles: [],
    options: { ...dated, mm_per_px: mmPerPixel },
    clinicalContext: {},
    // The weakest evidence is accepted, because this program measures the methods regardless of
    // their evidence.
    evidence: 'simulated',
    models: settings,
  };
  await writeFile(join(work, 'job.json'), JSON.stringify(job));
  const end = await pipeline(work, () => undefined, new AbortController().signal);
  if (end.type !== 'done') throw new Error(`${path}: ${JSON.stringify(end)}`);
  return resultSchema.parse(JSON.parse(await readFile(join(work, 'result.json'), 'utf8')));
}

/** Places the image on a screen, writes the screen to a file, and returns it with its scale. */
async function screened(one: Case, index: number) {
  const layout = LAYOUTS[index % LAYOUTS.length];
  if (!layout) throw new TypeError('no layouts');
  const { screen, scale } = onScreen(await readGray(one.path), layout, index);
  const path = join(folder, 'screen.png');
  const { width, height } = screen;
  await sharp(screen.data, { raw: { width, height, channels: 1 } })
    .png()
    .toFile(path);
  return { path, mmPerPixel: (one.mmPerPixel ?? PRETENDED_SCALE) / scale, layout: layout.name };
}

const sets: Set[] = [
  ...(values.only === 'other' ? [] : await fetalSets()),
  ...(values.only === 'fetal' || values.screens ? [] : await otherSets()),
];
const rows: string[] = [];
const screens: Screen[] = [];
for (const [name, cases, shown] of sets) {
  const chosen = spread(cases);
  const found: Crossed[][] = [];
  const named: Record<string, number>[] = [];
  let frames = 0;
  for (const [index, one] of chosen.entries()) {
    const screen = values.screens ? await screened(one, index) : null;
    const { path, mmPerPixel } = screen ?? one;
    const result = await interpret(path, mmPerPixel ?? PRETENDED_SCALE);
    const crossed = crossedOf(result, shown);
    found.push(crossed);
    frames += framesOf(result);
    named.push(countNamed(result));
    const kept = screenOf(result, shown, one.referenceMm ?? null, screen?.layout ?? '');
    if (shown !== null && shown !== 'other') screens.push(kept);
    if (values.cases) {
      const planes = JSON.stringify(countNamed(result));
      const length = kept.length ? `${kept.length.measuredMm} ${kept.length.referenceMm}` : '-';
      const said = crossed.map((part) => part.said).join('; ');
      console.log([name, one.image, kept.layout, kept.name, planes, length, said].join(' | '));
    }
  }
  const { images, by } = countCrossed(found);
  const what = Object.entries(by).map(([part, count]) => `${part} ${count}`);
  const planes = named.reduce((sum, one) => {
    for (const [plane, count] of Object.entries(one)) sum[plane] = (sum[plane] ?? 0) + count;
    return sum;
  }, {});
  const called = Object.entries(planes).map(([plane, count]) => `${plane} ${count}`);
  rows.push(`| ${name} | ${frames} | ${images} | ${what.join(', ')} | ${called.join(', ')} |`);
  console.log(rows.at(-1));
}
await locator.close();
await rm(folder, { recursive: true });
console.log('| files of | images | files with a value of something else | of what | named |');
console.log(['| --- | --- | --- | --- | --- |', ...rows].join('\n'));
if (screens.length > 0) console.log(JSON.stringify(countScreens(screens), null, 1));
