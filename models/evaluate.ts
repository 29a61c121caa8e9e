import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { GrayImage } from '../pipelines/contract/image.ts';
import { type ModelTask, modelFor, readRegistry } from '../pipelines/inference/model-registry.ts';
import { type ModelSession, openSession } from '../pipelines/inference/session.ts';
import { SMALL_HEAD_MM } from '../pipelines/obstetric/biometry/measure.ts';
import { HEAD_PLANES } from '../pipelines/obstetric/planes/locate.ts';
import { locateOutline } from '../pipelines/obstetric/shared/outline.ts';
import {
  agreement,
  halfWidth95,
  halfWidth95Percent,
  type Measured,
  mean,
  round,
} from './evaluation/agreement.ts';
import { withMeasured } from './evaluation/card.ts';
import {
  type Case,
  hc18Cases,
  heartCases,
  landmarkCases,
  midsagittalCases,
  phantomCases,
  planeCases,
  type SplitName,
  transperinealCases,
} from './evaluation/cases.ts';
import { measure } from './evaluation/geometry.ts';
import { structureAgreement } from './evaluation/heads.ts';
import { midsagittalAgreement } from './evaluation/midsagittal.ts';
import {
  bestTemperature,
  type Classified,
  classify,
  organAgreement,
  planeAgreement,
} from './evaluation/planes.ts';
import { transperinealAgreement } from './evaluation/transperineal.ts';
import { acceptedOnOthers, evaluateUterusOnPhantoms } from './evaluation/uterus.ts';

/**
 * Evaluates the models with the product's own code on images not used in training
 * (models/<id>/split.json). --write stores the numbers in models/<id>/metrics.json and in the card.
 *
 * node models/evaluate.ts [--split test|validation] [--data ../shared/data] [--phantoms DIR of
 * models/phantom/generate.ts] [--only fetal-head ...] [--cases] [--write] [--registry
 * models/registry.yaml]
 */
const { values } = parseArgs({
  options: {
    split: { type: 'string', default: 'test' },
    data: { type: 'string', default: '../shared/data' },
    phantoms: { type: 'string' },
    only: { type: 'string', multiple: true },
    registry: { type: 'string' },
    cases: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const split = values.split as SplitName;
const data = values.data;
const registry = await readRegistry(values.registry);
const phantoms = await phantomCases(values.phantoms);

/**
 * Only every n-th real image is used. Every fourth is enough to show whether the models find a
 * structure where there is none.
 */
const OTHERS_EVERY = 4;

const isHead = ({ plane }: Case) => HEAD_PLANES.some((head) => head === plane);

type Evaluation = { gate: number; temperature?: number; sets: Record<string, unknown> };

const EVALUATIONS: Partial<Record<ModelTask, (task: ModelTask) => Promise<Evaluation>>> = {
  'fetal-plane': evaluatePlanes,
  // Evaluated only on the test split. The validation split was used to choose this model:
  // judge_head_planes.py selects by cross-validation.
  ...(split === 'test' && { 'fetal-brain-plane': evaluateBrainPlanes }),
  'fetal-head': async (task) => evaluateGeometry(task, await headCases()),
  // Measured together with fetal-head, as in the product.
  'fetal-head-border': async (task) => evaluateGeometry('fetal-head', await headCases(), task),
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
  // Evaluated only on phantoms, because no real data set shows these structures.
  ...(values.phantoms !== undefined && { 'uterine-structures': evaluateUterus }),
  'symphysis-head': (task) =>
    evaluateWith(task, async (session) => {
      const phantom = phantoms.filter((one) => one.plane === 'transperineal');
      const real = await transperinealAgreement(session, await transperinealCases(data, split));
      const simulated = await transperinealAgreement(session, phantom);
      const angles = real.angleOfProgression.accepted;
      return {
        halfWidth95Degrees: angles?.centile95Degrees ?? null,
        sets: { psfhs: real, ...(phantom.length > 0 && { phantom: simulated }) },
      };
    }),
  'fetal-midsagittal': (task) =>
    evaluateWith(task, async (session) => {
      const phantom = phantoms.filter((one) => one.plane === 'midsagittal');
      const real = await midsagittalAgreement(session, await midsagittalCases(data, split));
      const simulated = await midsagittalAgreement(session, phantom);
      return {
        sets: { 'nt-midsagittal': real, ...(phantom.length > 0 && { phantom: simulated }) },
      };
    }),
};

async function evaluateWith<T extends { sets: Record<string, unknown> }>(
  task: ModelTask,
  evaluate: (session: ModelSession) => Promise<T>,
) {
  const session = await sessionFor(task);
  const measured = await evaluate(session);
  await session.close();
  return { gate: session.model.gate, ...measured };
}

async function sessionFor(task: ModelTask) {
  const model = modelFor(registry, task, 'all');
  if (!model) throw new Error(`no model for ${task}`);
  return openSession(model, { provider: 'cpu', threads: 1 });
}

const headCases = async () => ({
  hc18: await hc18Cases(data, split),
  'fetal-planes (BPD and OFD landmarks)': await landmarkCases(data, 'fetal-head', split),
  phantom: phantoms.filter(isHead),
});

async function evaluateGeometry(
  task: ModelTask,
  sets: Record<string, Case[]>,
  secondStage?: ModelTask,
) {
  const session = await sessionFor(task);
  const border = secondStage ? await sessionFor(secondStage) : null;
  const results: Record<string, unknown> = {};
  let halfWidths: ReturnType<typeof halfWidthsOf> | undefined;
  for (const [name, cases] of Object.entries(sets)) {
    if (cases.length === 0) continue;
    const measured = await measure(session, cases, border);
    results[name] = agreement(measured);
    // The first set contains the real images for which the model is meant.
    halfWidths ??= halfWidthsOf(task, measured);
    if (values.cases) printCases(measured);
  }
  await session.close();
  await border?.close();
  return { gate: (border ?? session).model.gate, ...halfWidths, sets: results };
}

/** Returns the half widths of the 95 % interval, with a separate one for small heads. */
function halfWidthsOf(task: ModelTask, measured: readonly Measured[]) {
  const isSmall = ({ measuredMm }: Measured) =>
    task === 'fetal-head' && measuredMm !== null && measuredMm < SMALL_HEAD_MM;
  const small = measured.filter(isSmall);
  return {
    halfWidth95Mm: halfWidth95(measured),
    halfWidth95Percent: halfWidth95Percent(measured.filter((one) => !isSmall(one))),
    ...(small.length > 0 && { halfWidth95PercentOfSmall: halfWidth95Percent(small) }),
  };
}

async function evaluateUterus(task: ModelTask) {
  const session = await sessionFor(task);
  const { measured, decisions } = await evaluateUterusOnPhantoms(session, values.phantoms ?? '');
  const real = (await planeCases(data, split)).filter((_, index) => index % OTHERS_EVERY === 0);
  const others = await acceptedOnOthers(session, real);
  await session.close();
  if (values.cases) Object.values(measured).forEach(printCases);
  const sets = Object.entries(measured).map(([name, cases]) => [
    `phantom: ${name}`,
    agreement(cases),
  ]);
  const widths = Object.entries(measured).map(([name, cases]) => [name, halfWidth95(cases)]);
  return {
    gate: session.model.gate,
    halfWidths95Mm: Object.fromEntries(widths),
    sets: { ...Object.fromEntries(sets), decisions, 'real images of other planes': others },
  };
}

/** Prints the 25 cases with the largest errors, in per cent of the reference. */
function printCases(measured: readonly Measured[]) {
  const percentOff = (m: Measured) => (100 * ((m.measuredMm ?? 0) - m.referenceMm)) / m.referenceMm;
  const worst = (m: Measured) => Math.abs(percentOff(m));
  for (const m of measured.toSorted((a, b) => worst(b) - worst(a)).slice(0, 25)) {
    const lengths = `${m.referenceMm.toFixed(1)} ${m.measuredMm?.toFixed(1)} mm`;
    const error = `${percentOff(m).toFixed(1)} %`;
    const status = m.accepted ? 'accepted' : 'withheld';
    console.log([m.image, lengths, error, m.confidence.toFixed(3), status].join('  '));
  }
}

async function planeSessions() {
  const plane = await sessionFor('fetal-plane');
  const head = await sessionFor('fetal-head');
  const brainPlane = await sessionFor('fetal-brain-plane');
  const abdomen = await sessionFor('fetal-abdomen');
  const femur = await sessionFor('fetal-femur');
  const symphysisHead = await sessionFor('symphysis-head');
  const chest = await sessionFor('fetal-heart-structures');
  const sessions = { plane, head, brainPlane, abdomen, femur, symphysisHead, chest };
  const close = async () => {
    for (const session of Object.values(sessions)) await session.close();
  };
  return {
    ...sessions,
    head: (images: readonly GrayImage[]) => locateOutline(head, images),
    abdomen: (images: readonly GrayImage[]) => locateOutline(abdomen, images),
    close,
  };
}

/**
 * Evaluates the model together with fetal-plane, as in the product, on heads with a known axial
 * plane.
 */
async function evaluateBrainPlanes() {
  const sessions = await planeSessions();
  const heads = (await planeCases(data, split)).filter(
    (one) => one.dataset === 'fetal-planes' && isHead(one),
  );
  const real = await classify(sessions, heads);
  const phantom = await classify(sessions, phantoms.filter(isHead));
  await sessions.close();
  const file = new URL('fetal-brain-plane/cross-validation.json', import.meta.url);
  // Written by models/training/judge_head_planes.py.
  const judged: {
    outOfFold: { students: unknown; teachers: unknown };
    later: { delivered: unknown; nineNetworks: unknown };
    laterTest: { delivered: unknown; nineNetworks: unknown };
  } = JSON.parse(await readFile(file, 'utf8'));
  return {
    gate: sessions.brainPlane.model.gate,
    sets: {
      'fetal-planes (together with fetal-plane)': planeAgreement(real),
      'fetal-planes, heads that joined later and trained nothing': judged.later.delivered,
      'the same heads, the nine networks of version 1.4.0': judged.later.nineNetworks,
      'those of them in the test split': judged.laterTest.delivered,
      'those of them in the test split, the nine networks': judged.laterTest.nineNetworks,
      'fetal-planes, the branch with structures out of fold (four of five folds)':
        judged.outOfFold.students,
      'the same heads, the network of version 1.4.0 that taught it': judged.outOfFold.teachers,
      'fetal-planes, structures in view beside what was read by eye':
        await structureAgreement(real),
      ...(phantom.length > 0 && { phantom: planeAgreement(phantom) }),
    },
  };
}

async function evaluatePlanes(): Promise<Evaluation> {
  const { close, ...sessions } = await planeSessions();
  const labelled = await classify(sessions, await planeCases(data, split));
  const ofSet = (name: string) => labelled.filter(({ one }) => one.dataset === name);
  const heads = await classify(sessions, await hc18Cases(data, split));
  const hearts = await classify(sessions, await heartCases(data));
  const phantom = await classify(sessions, phantoms);
  await close();
  const { gate, temperature = 1 } = sessions.plane.model;
  if (values.cases) console.log('best', bestTemperature(labelled, temperature));
  return {
    gate,
    temperature,
    sets: {
      'fetal-planes': {
        ...planeAgreement(ofSet('fetal-planes')),
        ...organAgreement(ofSet('fetal-planes')),
      },
      psfhs: planeAgreement(ofSet('psfhs')),
      'nt-midsagittal': planeAgreement(ofSet('nt-midsagittal')),
      'other ultrasound': { 'camus-a4c (never trained on)': refusal(hearts) },
      'hc18 (a head of unnamed plane)': {
        cases: heads.length,
        namedSomeHeadPlane: share(heads, (label) => HEAD_PLANES.some((head) => head === label)),
        confusion: countLabels(heads),
      },
      ...(phantom.length > 0 && { phantom: planeAgreement(phantom) }),
    },
  };
}

/** Returns how often an image that shows none of the known planes is classified as `other`. */
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
