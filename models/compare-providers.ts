/**
 * Compares an accelerator of this machine with the processor, model by model:
 *
 * node models/compare-providers.ts [--provider webgpu|cuda] [--only fetal-head ...] [--images 8]
 * [--data ../shared/data] [--measure]
 *
 * Each model runs on the self-test images, on phantoms and, if the folder exists, on the first real
 * image of each set: one image at a time, then all together. The program prints the largest
 * difference in output units and, with --measure, the difference between measurements on phantoms
 * in mm. The exit status is 1 if a difference exceeds the tolerance.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { GrayImage } from '../pipelines/contract/image.ts';
import { ACCELERATORS, acceleratorsOf } from '../pipelines/inference/accelerators.ts';
import { letterbox } from '../pipelines/inference/letterbox.ts';
import { type RegisteredModel, readRegistry } from '../pipelines/inference/model-registry.ts';
import {
  largestDifference,
  loadNetwork,
  PROVIDER_TOLERANCE,
  type Provider,
  selfTestImages,
} from '../pipelines/inference/open-network.ts';
import type { OpenSession } from '../pipelines/inference/session.ts';
import { inBatches } from '../pipelines/inference/session.ts';
import { perimeter, toMillimetres } from '../pipelines/measure/ellipse.ts';
import { openLocator } from '../pipelines/obstetric/open-locator.ts';
import { readGray } from './evaluation/cases.ts';
import { type PhantomFrame, simulateFrame } from './phantom/frame.ts';
import type { Plane } from './phantom/labels.ts';
import { sizesAt } from './phantom/sizes.ts';

const { values } = parseArgs({
  options: {
    provider: { type: 'string' },
    only: { type: 'string', multiple: true },
    images: { type: 'string', default: '8' },
    data: { type: 'string', default: '../shared/data' },
    measure: { type: 'boolean', default: false },
  },
});

const GA_DAYS = 140;
const SEED = 11;
const SETS = ['fetal-planes', 'hc18', 'nt-midsagittal', 'psfhs', 'camus-a4c'];

const { present, absent } = acceleratorsOf();
const provider = values.provider
  ? ACCELERATORS.find((known) => known === values.provider)
  : present[0];
if (!provider) {
  for (const { accelerator, reason } of absent) console.error(`${accelerator}: ${reason}`);
  throw new Error('no accelerator to compare with the processor');
}
const models = await readRegistry();
const chosen = values.only ? models.filter(({ id }) => values.only?.includes(id)) : models;

const phantom = (plane: Plane) => simulateFrame({ plane, sizes: sizesAt(GA_DAYS), seed: SEED });
const grey = ({ columns, rows, gray }: PhantomFrame): GrayImage => ({
  width: columns,
  height: rows,
  data: gray,
});

async function realImages(): Promise<GrayImage[]> {
  const folders = SETS.map((set) => join(values.data, set, 'images')).filter(existsSync);
  const files = await Promise.all(
    folders.map(async (folder) => join(folder, (await readdir(folder)).toSorted()[0] ?? '')),
  );
  return Promise.all(files.map(readGray));
}

/**
 * Opens a model on a provider without the self-test, because this program measures the difference
 * itself.
 */
const on =
  (where: Provider): OpenSession =>
  async (model, { threads }) =>
    inBatches(model, { network: await loadNetwork(model, where, threads), refusals: [] });

function inputsOf({ input }: RegisteredModel, images: readonly GrayImage[]) {
  const pixels = input.width * input.height;
  const all = new Float32Array(images.length * pixels);
  images.forEach((image, n) => {
    all.set(letterbox(image, input.width, input.height).pixels, n * pixels);
  });
  return { pixels, all };
}

async function compareModel(model: RegisteredModel, images: readonly GrayImage[]) {
  const accelerated = await loadNetwork(model, provider as Provider, 1);
  const processor = await loadNetwork(model, 'cpu', 1);
  const { pixels, all } = inputsOf(model, images);
  const difference = async (batch: Float32Array<ArrayBuffer>, count: number) => {
    const found = await accelerated.run(batch, count);
    const expected = await processor.run(batch, count);
    return {
      difference: largestDifference(found.values, expected.values),
      largest: expected.values.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
      found: found.seconds,
      expected: expected.seconds,
    };
  };
  const test = await difference(selfTestImages(1, pixels), 1);
  const alone = [];
  for (let n = 0; n < images.length; n++) {
    alone.push(await difference(all.slice(n * pixels, (n + 1) * pixels), 1));
  }
  const together = await difference(all, images.length);
  await accelerated.release();
  await processor.release();
  return { test, alone, together };
}

const images = [
  grey(phantom('transthalamic')),
  ...(await realImages()),
  grey(phantom('abdominal')),
].slice(0, Number(values.images));
console.log(`${provider} beside cpu, ${images.length} images`);
console.log(
  '| model | output | self-test | one at a time | all together | largest value | ms each |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- |');
let worst = 0;
for (const model of chosen) {
  const { test, alone, together } = await compareModel(model, images);
  const one = Math.max(...alone.map(({ difference }) => difference));
  worst = Math.max(worst, test.difference, one, together.difference);
  const each = (seconds: number) => ((seconds * 1000) / images.length).toPrecision(2);
  const cells = [
    model.id,
    model.output.name,
    ...[test.difference, one, together.difference].map((value) => value.toExponential(1)),
    together.largest.toPrecision(2),
    `${each(together.found)}, cpu ${each(together.expected)}`,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

/** Measures HC, AC and FL of phantoms in mm with the product's locator. */
async function biometryOn(where: Provider): Promise<Record<string, number>> {
  const locator = await openLocator(
    { allow: 'all', provider: 'cpu', threads: 1 },
    async (model, settings) =>
      ['fetal-head', 'fetal-abdomen', 'fetal-femur'].includes(model.id)
        ? on(where)(model, settings)
        : on('cpu')(model, settings),
  );
  const head = phantom('transthalamic');
  const abdomen = phantom('abdominal');
  const femur = phantom('femur');
  const around = async (frame: PhantomFrame, outlines: typeof locator.head) => {
    const [found] = (await outlines?.([grey(frame)])) ?? [];
    if (!found) return Number.NaN;
    const { mmPerPixel } = frame.acquisition.window;
    const { a, b } = toMillimetres(found.ellipse, { x: mmPerPixel, y: mmPerPixel });
    return perimeter(a, b);
  };
  const [ends] = (await locator.femur?.([grey(femur)])) ?? [];
  const length = ends
    ? Math.hypot(ends.ends[0].x - ends.ends[1].x, ends.ends[0].y - ends.ends[1].y)
    : Number.NaN;
  const measured = {
    HC: await around(head, locator.head),
    AC: await around(abdomen, locator.abdomen),
    FL: length * femur.acquisition.window.mmPerPixel,
  };
  await locator.close();
  return measured;
}

if (values.measure) {
  const expected = await biometryOn('cpu');
  const found = await biometryOn(provider);
  console.log(`\n| on a phantom of ${GA_DAYS / 7} weeks, mm | cpu | ${provider} | difference |`);
  console.log('| --- | --- | --- | --- |');
  for (const [name, value] of Object.entries(expected)) {
    const other = found[name] ?? Number.NaN;
    console.log(
      `| ${name} | ${value.toFixed(3)} | ${other.toFixed(3)} | ${Math.abs(value - other).toExponential(1)} |`,
    );
  }
}
process.exitCode = worst <= PROVIDER_TOLERANCE ? 0 : 1;
