import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Job } from '../../pipelines/contract/job.ts';
import { keepOpen } from '../../pipelines/inference/keep-open.ts';
import { openSession } from '../../pipelines/inference/session.ts';
import { openLocator } from '../../pipelines/obstetric/open-locator.ts';
import { createObstetricPipeline } from '../../pipelines/obstetric/pipeline.ts';
import { resultSchema } from '../../pipelines/result/envelope.ts';

/**
 * Head circumference on hc18 images of pregnancies that were not used in training
 * (models/fetal-head/split.json). Each image is a separate study and passes through the whole
 * pipeline except the documents.
 *
 * node test/bench/hc18.ts [--split test|validation] [--data ../shared/data] [--limit N] [--cases]
 */
const { values } = parseArgs({
  options: {
    split: { type: 'string', default: 'test' },
    data: { type: 'string', default: '../shared/data' },
    limit: { type: 'string', default: '1000' },
    cases: { type: 'boolean', default: false },
  },
});

const opening = keepOpen(openSession);
const pipeline = createObstetricPipeline({
  openLocator: (settings) => openLocator(settings, opening),
  writeArtifacts: async () => [],
});

interface Reading {
  image: string;
  referenceMm: number;
  /** Null if the pipeline produced no accepted HC; `why` then states the reason. */
  measuredMm: number | null;
  why: string;
}

async function interpretImage(path: string, mmPerPx: number, folder: string) {
  await mkdir(join(folder, 'files'), { recursive: true });
  await mkdir(join(folder, 'artifacts'));
  await symlink(path, join(folder, 'files', basename(path)));
  const job: Job = {
    endpoint: 'us/obstetric/interpret',
    version: '1.0.0',
    files: [basename(path)],
    priorFiles: [],
    options: { mm_per_px: mmPerPx },
    clinicalContext: {},
    models: { allow: 'all', provider: 'cpu', threads: 1 },
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
  const end = await pipeline(folder, () => {}, new AbortController().signal);
  if (end.type === 'rejected') throw new Error(end.detail);
  return resultSchema.parse(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')));
}

async function labels(): Promise<Map<string, { mmPerPx: number; hcMm: number }>> {
  const text = await readFile(join(values.data, 'hc18/labels.csv'), 'utf8');
  const [, ...lines] = text.trim().split(/\r?\n/);
  return new Map(
    lines.map((line) => {
      const [image = '', , mmPerPx, hcMm] = line.split(',');
      return [image, { mmPerPx: Number(mmPerPx), hcMm: Number(hcMm) }];
    }),
  );
}

async function readings(): Promise<Reading[]> {
  const file = new URL('../../models/fetal-head/split.json', import.meta.url);
  const split = JSON.parse(await readFile(file, 'utf8')).hc18[values.split];
  const images: string[] = split.slice(0, Number(values.limit));
  const known = await labels();
  const work = await mkdtemp(join(tmpdir(), 'hc18-'));
  const found: Reading[] = [];
  try {
    for (const [index, image] of images.entries()) {
      const label = known.get(image);
      if (!label) throw new Error(`${image} is not in labels.csv`);
      const path = join(process.cwd(), values.data, 'hc18', image);
      const result = await interpretImage(path, label.mmPerPx, join(work, String(index)));
      const hc = result.measurements.find(
        ({ id, quality }) => id === 'hc' && quality === 'accepted',
      );
      const biometry = result.sections.find(({ id }) => id === 'biometry');
      found.push({
        image,
        referenceMm: label.hcMm,
        measuredMm: hc?.value ?? null,
        why: biometry?.reason?.detail ?? '',
      });
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return found;
}

const all = await readings();
const measured = all.flatMap(({ measuredMm, referenceMm }) =>
  measuredMm === null ? [] : [measuredMm - referenceMm],
);
const mean = (numbers: readonly number[]) =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
if (values.cases) {
  for (const { image, referenceMm, measuredMm, why } of all) {
    console.log(image, referenceMm, measuredMm?.toFixed(1) ?? why);
  }
}
console.log(
  `hc18 ${values.split}: ${all.length} images, HC given on ${measured.length}, ` +
    `mean absolute error ${mean(measured.map(Math.abs)).toFixed(2)} mm, ` +
    `bias ${mean(measured).toFixed(2)} mm, largest ${Math.max(...measured.map(Math.abs)).toFixed(1)} mm`,
);
