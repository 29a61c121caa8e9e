import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type ModelTask, modelFor, readRegistry } from '../pipelines/inference/model-registry.ts';
import { openSession } from '../pipelines/inference/session.ts';
import { agreement, halfWidth95, type Measured, mean, round } from './evaluation/agreement.ts';
import { withMeasured } from './evaluation/card.ts';
import {
  type Case,
  hc18Cases,
  heartCases,
  landmarkCases,
  phantomCases,
  planeCases,
  type SplitName,
} from './evaluation/cases.ts';
import { measure } from './evaluation/geometry.ts';
import { bestTemperature, type Classified, classify, planeAgreement } from './evaluation/planes.ts';

/**
 * Measures the models through the product's own code on images that no weight has seen
 * (models/<id>/split.json) and, with --write, keeps the numbers in models/<id>/metrics.json and
 * in the card.
 *
 *   node models/evaluate.ts [--split test|validation] [--data ../shared/data]
 *     [--phantoms DIR of models/phantom/generate.ts] [--only fetal-head ...] [--cases] [--write]
 */
const { values } = parseArgs({
  options: {
    split: { type: 'string', default: 'test' },
    data: { type: 'string', default: '../shared/data' },
    phantoms: { type: 'string' },
    only: { type: 'string', multiple: true },
    cases: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const split = values.split as SplitName;
const data = values.data;
const registry = await readRegistry();
const phantoms = await phantomCases(values.phantoms);

type Evaluation = { gate: number; sets: Record<string, unknown> };

const EVALUATIONS: Partial<Record<ModelTask, (task: ModelTask) => Promise<Evaluation>>> = {
  'fetal-plane': evaluatePlanes,
  'fetal-head': async (task) =>
    evaluateGeometry(task, {
      hc18: await hc18Cases(data, split),
      'fetal-planes (BPD and OFD landmarks)': await landmarkCases(data, 'fetal-head', split),
      phantom: phantoms.filter((one) => one.plane?.startsWith('trans')),
    }),
  'fetal-abdomen': async (task) =>
    evaluateGeometry(task, {
      'fetal-planes (TAD and APAD landmarks)': await landmarkCases(data, 'fetal-abdomen', split),
      phantom: phantoms.filter((one) => one.plane === 'abdominal'),
    }),
  'fetal-femur': async (task) =>
    evaluateGeometry(task, {
      'fetal-planes (FL landmarks)': await landmarkCases(data, 'fetal-femur', split),
      phantom: phantoms.filter((one) => one.plane === 'femur'),
    }),
};

async function sessionFor(task: ModelTask) {
  const model = modelFor(registry, task, 'all');
  if (!model) throw new Error(`no model for ${task}`);
  return openSession(model, { provider: 'cpu', threads: 1 });
}

async function evaluateGeometry(task: ModelTask, sets: Record<string, Case[]>) {
  const session = await sessionFor(task);
  const results: Record<string, unknown> = {};
  let halfWidth95Mm: number | null = null;
  for (const [name, cases] of Object.entries(sets)) {
    if (cases.length === 0) continue;
    const measured = await measure(session, cases);
    results[name] = agreement(measured);
    // The first set is the real one that the model is made for.
    halfWidth95Mm ??= halfWidth95(measured);
    if (values.cases) printCases(measured);
  }
  await session.close();
  return { gate: session.model.gate, halfWidth95Mm, sets: results };
}

function printCases(measured: readonly Measured[]) {
  const worst = (m: Measured) => Math.abs((m.measuredMm ?? 0) - m.referenceMm);
  for (const m of measured.toSorted((a, b) => worst(b) - worst(a)).slice(0, 25)) {
    console.log(
      [m.image, m.referenceMm.toFixed(1), m.measuredMm?.toFixed(1), m.confidence.toFixed(3)].join(
        ' ',
      ),
    );
  }
}

async function evaluatePlanes(task: ModelTask) {
  const session = await sessionFor(task);
  const labelled = await classify(session, await planeCases(data, split));
  const ofSet = (name: string) => labelled.filter(({ one }) => one.dataset === name);
  const heads = await classify(session, await hc18Cases(data, split));
  const hearts = await classify(session, await heartCases(data));
  const phantom = await classify(session, phantoms);
  await session.close();
  const { gate, temperature = 1 } = session.model;
  if (values.cases) console.log('best', bestTemperature(ofSet('fetal-planes'), temperature));
  return {
    gate,
    temperature,
    sets: {
      'fetal-planes': planeAgreement(ofSet('fetal-planes')),
      'other ultrasound': {
        psfhs: refusal(ofSet('psfhs')),
        'nt-midsagittal': refusal(ofSet('nt-midsagittal')),
        'camus-a4c (never trained on)': refusal(hearts),
      },
      'hc18 (a head of unnamed plane)': {
        cases: heads.length,
        namedSomeHeadPlane: share(heads, (label) => label.startsWith('trans')),
        confusion: countLabels(heads),
      },
      ...(phantom.length > 0 && { phantom: planeAgreement(phantom) }),
    },
  };
}

/** How often an image of no known plane is called `other`. */
function refusal(classified: readonly Classified[]) {
  return {
    cases: classified.length,
    calledOther: share(classified, (label) => label === 'other'),
    labels: countLabels(classified),
  };
}

const share = (classified: readonly Classified[], test: (label: string) => boolean) =>
  round(mean(classified.map(({ estimate }) => (test(estimate.label) ? 1 : 0))), 4);

function countLabels(classified: readonly Classified[]) {
  const counts: Record<string, number> = {};
  for (const { estimate } of classified) {
    counts[estimate.label] = (counts[estimate.label] ?? 0) + 1;
  }
  return counts;
}

for (const task of values.only ?? Object.keys(EVALUATIONS)) {
  const evaluation = EVALUATIONS[task as ModelTask];
  if (!evaluation) throw new Error(`unknown model ${task}`);
  const measured = await evaluation(task as ModelTask);
  const text = `${JSON.stringify({ model: task, split, ...measured }, null, 2)}\n`;
  console.log(text);
  if (!values.write) continue;
  await writeFile(new URL(`${task}/metrics.json`, import.meta.url), text);
  const card = new URL(`${task}/card.md`, import.meta.url);
  await writeFile(card, withMeasured(await readFile(card, 'utf8'), measured.sets));
}
