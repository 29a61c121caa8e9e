import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { readRegistry } from '../pipelines/inference/model-registry.ts';
import { openLocator } from '../pipelines/obstetric/open-locator.ts';
import type { Deviation } from './evaluation/agreement.ts';
import { brainOnPhantoms, brainOnReal } from './evaluation/brain-structures.ts';
import { withMeasured } from './evaluation/card.ts';
import type { SplitName } from './evaluation/cases.ts';
import { chestOnPhantoms, chestOnReal } from './evaluation/heart-structures.ts';

/**
 * Evaluates the models of heart and brain structures with the product's own code. Reports the
 * errors on phantoms not used in training, and the number of real images that would be accepted.
 * There is no reference for the real images.
 *
 * node models/evaluate-structures.ts [--seed 8201] [--count 40] [--data ../shared/data] [--split
 * test|validation] [--only MODEL] [--cases] [--write]
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '8201' },
    count: { type: 'string', default: '40' },
    data: { type: 'string', default: '../shared/data' },
    split: { type: 'string', default: 'test' },
    only: { type: 'string' },
    cases: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const count = Number(values.count);
const split = values.split as SplitName;
const locator = await openLocator({ allow: 'permissive', provider: 'cpu', threads: 1 });
const show = values.cases ? (line: unknown) => console.log(JSON.stringify(line)) : () => {};
const registry = await readRegistry();
const gateOf = (id: string) => registry.find((one) => one.id === id)?.gate;

const REPORTS = {
  'fetal-heart-structures': async () => {
    const phantoms = await chestOnPhantoms(locator, seed, count, show);
    const real = await chestOnReal(locator, values.data, split, show);
    return { phantoms, real, halfWidths95: halfWidths(phantoms) };
  },
  'fetal-brain-structures': async () => {
    const phantoms = await brainOnPhantoms(locator, seed, count, show);
    const real = await brainOnReal(locator, values.data, split, show);
    return { phantoms, real, halfWidths95: brainHalfWidths(phantoms, real) };
  },
};
for (const [model, measure] of Object.entries(REPORTS)) {
  if (values.only && values.only !== model) continue;
  const { phantoms, real, halfWidths95 } = await measure();
  const sets = { 'phantoms never seen': phantoms, 'real images without reference': real };
  const report = { model, split, gate: gateOf(model), halfWidths95, sets };
  console.log(JSON.stringify(report, null, 2));
  if (!values.write) continue;
  const folder = new URL(`${model}/`, import.meta.url);
  await writeFile(new URL('metrics.json', folder), `${JSON.stringify(report, null, 2)}\n`);
  const card = new URL('card.md', folder);
  await writeFile(card, withMeasured(await readFile(card, 'utf8'), sets));
}
await locator.close();

function halfWidths(phantoms: Readonly<Record<string, Deviation>>) {
  return Object.fromEntries(Object.entries(phantoms).map(([name, own]) => [name, own.error95]));
}

/**
 * Returns the half widths of the 95 % intervals: in mm from phantoms, and in per cent from real
 * heads, relative to the length that a reader measured for the same structure on its own plane.
 */
function brainHalfWidths(
  phantoms: Awaited<ReturnType<typeof brainOnPhantoms>>,
  real: Awaited<ReturnType<typeof brainOnReal>>,
) {
  const { transcerebellar, transventricular } = real;
  const both = (simulated: Deviation, read: Deviation | null | undefined) => ({
    mm: simulated.error95,
    percent: read?.error95 ?? null,
  });
  return {
    cerebellum: both(phantoms.cerebellum, transcerebellar?.cerebellumInPercentOfRead),
    cisternaMagna: both(phantoms.cisternaMagna, transcerebellar?.cisternaMagnaInPercentOfRead),
    atrium: both(phantoms.atrium, transventricular?.atriumInPercentOfRead),
  };
}
