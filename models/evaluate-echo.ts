import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { sectorOf } from '../pipelines/echo/locate/sector.ts';
import { viewLogits } from '../pipelines/echo/locate/view.ts';
import { readRegistry } from '../pipelines/inference/model-registry.ts';
import { type ModelSession, openSession } from '../pipelines/inference/session.ts';
import { withMeasured } from './evaluation/card.ts';
import { planeCases, readGray } from './evaluation/cases.ts';
import {
  biplaneViews,
  camusCases,
  type HeartCase,
  type HeartRole,
  medianEjectionFraction,
  phantomLongAxes,
  phantomPairs,
  phantomViews,
  realStills,
} from './evaluation/echo-cases.ts';
import {
  ALL_CHAMBERS,
  chamberAgreement,
  LEFT_HEART,
  longAxisAgreement,
  measureLongAxes,
} from './evaluation/echo-chambers.ts';
import {
  type Estimated,
  ejectionAgreement,
  estimateEjectionFractions,
  recalibrationOf,
} from './evaluation/echo-ejection.ts';
import { patientWalls, strainBySegment, wallsByFunction } from './evaluation/echo-patient-walls.ts';
import {
  bestTemperature,
  nameClips,
  type ViewCase,
  viewAgreement,
} from './evaluation/echo-views.ts';

/**
 * Evaluates the heart models with the product's own code, each pack separately. --write stores the
 * numbers in metrics.json and in the card.
 *
 * node models/evaluate-echo.ts [--role validation|held] [--data ../shared/data] [--only MODEL ...]
 * [--pairs DIR] [--views DIR] [--long-axes DIR] [--cases] [--write] [--registry
 * models/registry.yaml]
 *
 * `held` is for choosing gates and the recalibration, and `validation` only for reporting.
 * `--pairs` are phantoms from models/phantom/echo/generate.ts that were not used in training.
 * `--views` and `--long-axes` come from generate-views.ts.
 */
const { values } = parseArgs({
  options: {
    role: { type: 'string', default: 'validation' },
    data: { type: 'string', default: '../shared/data' },
    only: { type: 'string', multiple: true },
    pairs: { type: 'string' },
    views: { type: 'string' },
    'long-axes': { type: 'string' },
    registry: { type: 'string' },
    cases: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const registry = await readRegistry(values.registry);
const role = values.role as HeartRole;
const CAMUS = `camus-a4c, role ${role === 'held' ? 'train, held out' : role}`;

type Measures = { sets: Record<string, unknown> } & Record<string, unknown>;

const EVALUATIONS: Readonly<Record<string, (id: string) => Promise<Measures>>> = {
  'echo-chambers-research': evaluateChambers,
  'echo-chambers': evaluateChambers,
  'echo-ejection-fraction-research': (id) => evaluateEjection('echo-chambers-research', id),
  'echo-view': evaluateViews,
  'echo-view-research': evaluateViews,
  'echo-parasternal': evaluateLongAxes,
};

async function withSession<T>(id: string, use: (session: ModelSession) => Promise<T>): Promise<T> {
  const model = registry.find((one) => one.id === id);
  if (!model) throw new Error(`no model ${id}`);
  const session = await openSession(model, { provider: 'cpu', threads: 1 });
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

/** Evaluates the model on real pairs, and on new phantoms of each apical view in the folder. */
async function evaluateChambers(id: string): Promise<Measures> {
  const median = await medianEjectionFraction(values.data);
  return withSession(id, async (chambers) => {
    const measured = async (cases: readonly HeartCase[], named: typeof LEFT_HEART) => ({
      ...(await chamberAgreement(chambers, cases, named)),
      ejectionFraction: ejectionAgreement(
        await estimateEjectionFractions(chambers, null, cases),
        median,
      ),
    });
    const right = chambers.model.output.channels.includes('rv');
    const patients = await camusCases(values.data, role);
    const segments = await patientWalls(chambers, patients);
    const walls = { ...wallsByFunction(segments), strain: strainBySegment(segments) };
    const sets: Record<string, unknown> = {
      [CAMUS]: { ...(await measured(patients, LEFT_HEART)), walls },
    };
    for (const view of ['A4C', 'A2C', 'A3C']) {
      const cases = values.pairs ? await phantomPairs(values.pairs, view) : [];
      const named = view === 'A4C' && right ? ALL_CHAMBERS : LEFT_HEART;
      if (cases.length > 0) sets[`phantom ${view}`] = await measured(cases, named);
    }
    return { sets };
  });
}

async function evaluateEjection(chambersId: string, id: string): Promise<Measures> {
  const cases = await camusCases(values.data, role);
  const estimates = await withSession(chambersId, (chambers) =>
    withSession(id, (network) => estimateEjectionFractions(chambers, network, cases)),
  );
  if (values.cases) print(estimates);
  const median = await medianEjectionFraction(values.data);
  return { sets: { [CAMUS]: ejectionAgreement(estimates, median) } };
}

/** Prints the recalibration line, followed by the patients in order of decreasing error. */
function print(estimates: readonly Estimated[]): void {
  console.log('recalibration', recalibrationOf(estimates));
  const error = ({ joint, reference }: Estimated) => Math.abs((joint ?? 0) - reference);
  for (const one of estimates.toSorted((a, b) => error(b) - error(a))) {
    const shown = [one.reference, one.byDiscs, one.byNetwork, one.joint];
    console.log(one.patient, shown.map((v) => v?.toFixed(1) ?? '-').join(' '), one.accepted);
  }
}

/**
 * Only every n-th fetal image is used. Every third is enough to show whether the models find a
 * heart where there is none.
 */
const FETAL_EVERY = 3;

/**
 * Evaluates the model on new phantoms of every view, on real apical frames, and on real images that
 * do not show an adult heart.
 */
async function evaluateViews(id: string): Promise<Measures> {
  const still = async (view: string, path: string): Promise<ViewCase> => ({
    view,
    frames: [await readGray(path)],
  });
  const fetal = (await planeCases(values.data, 'test')).filter((_, i) => i % FETAL_EVERY === 0);
  const apical = (await camusCases(values.data, role)).map(({ ed, es }) => [ed.image, es.image]);
  const groups: Readonly<Record<string, readonly ViewCase[]>> = {
    ...(values.views && { phantom: await phantomViews(values.views) }),
    [CAMUS]: apical.flat().map((image) => ({ view: 'A4C', frames: [image] })),
    [`${CAMUS}, both frames of a patient as one clip`]: apical.map((frames) => ({
      view: 'A4C',
      frames,
    })),
    'camus-biplane': await biplaneViews(values.data),
    'echo-views, stills of real patients': await realStills(values.data),
    'fetal images': await Promise.all(fetal.map(({ path }) => still('other', path))),
  };
  return withSession(id, (session) =>
    withSession('echo-chambers', async (chambers) => {
      const sets: Record<string, unknown> = {};
      for (const [name, cases] of Object.entries(groups)) {
        sets[name] = viewAgreement(await nameClips(session, chambers, cases));
      }
      if (values.cases)
        console.log('temperature', await temperatureOn(session, groups.phantom ?? []));
      return { sets };
    }),
  );
}

async function temperatureOn(session: ModelSession, cases: readonly ViewCase[]): Promise<number> {
  const { channels } = session.model.output;
  const logits: number[][] = [];
  for (const { frames } of cases) {
    logits.push(await viewLogits(session, frames, sectorOf(frames)));
  }
  return bestTemperature(
    logits,
    cases.map(({ view }) => channels.indexOf(view)),
  );
}

async function evaluateLongAxes(id: string): Promise<Measures> {
  if (!values['long-axes']) throw new Error('--long-axes: no phantoms were given');
  const cases = await phantomLongAxes(values['long-axes']);
  return withSession(id, async (session) =>
    longAxisAgreement(await measureLongAxes(session, cases)),
  );
}

const known = registry.flatMap(({ id }) => (id in EVALUATIONS ? [id] : []));
for (const id of values.only ?? known) {
  const evaluate = EVALUATIONS[id];
  if (!evaluate) throw new Error(`unknown model ${id}`);
  const measures = await evaluate(id);
  // For these models, the test set consists of the CAMUS role `validation` and of phantoms not used
  // in training.
  const split = values.role === 'validation' ? 'test' : values.role;
  const gate = registry.find((model) => model.id === id)?.gate;
  const text = `${JSON.stringify({ model: id, split, gate, ...measures }, null, 2)}\n`;
  console.log(text);
  if (!values.write) continue;
  await writeFile(new URL(`${id}/metrics.json`, import.meta.url), text);
  const card = new URL(`${id}/card.md`, import.meta.url);
  await writeFile(card, withMeasured(await readFile(card, 'utf8'), measures.sets));
}
