import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { readRegistry } from '../pipelines/inference/model-registry.ts';
import { type ModelSession, openSession } from '../pipelines/inference/session.ts';
import { withMeasured } from './evaluation/card.ts';
import { camusCases, type HeartRole, medianEjectionFraction } from './evaluation/echo-cases.ts';
import { chamberAgreement, LEFT_HEART } from './evaluation/echo-chambers.ts';
import {
  type Estimated,
  ejectionAgreement,
  estimateEjectionFractions,
  recalibrationOf,
} from './evaluation/echo-ejection.ts';

/**
 * Measures the models of the heart through the product's own code, each pack by itself, and keeps the
 * numbers with --write in metrics.json and in the card.
 *
 *   node models/evaluate-echo.ts [--role validation|held] [--data ../shared/data] [--only MODEL ...]
 *     [--cases] [--write] [--registry models/registry.yaml]
 *
 * `held` is for choosing gates and the recalibration, `validation` only measures.
 */
const { values } = parseArgs({
  options: {
    role: { type: 'string', default: 'validation' },
    data: { type: 'string', default: '../shared/data' },
    only: { type: 'string', multiple: true },
    registry: { type: 'string' },
    cases: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const registry = await readRegistry(values.registry);
const role = values.role as HeartRole;
const cases = await camusCases(values.data, role);

type Sets = Record<string, unknown>;

const NAME = `camus-a4c, role ${role === 'held' ? 'train, held out' : role}`;

const EVALUATIONS: Readonly<Record<string, () => Promise<Sets>>> = {
  'echo-chambers-research': () => evaluateChambers('echo-chambers-research'),
  'echo-chambers': () => evaluateChambers('echo-chambers'),
  'echo-ejection-fraction-research': () =>
    evaluateEjection('echo-chambers-research', 'echo-ejection-fraction-research'),
  'echo-ejection-fraction': () => evaluateEjection('echo-chambers', 'echo-ejection-fraction'),
};

async function session(id: string): Promise<ModelSession | null> {
  const model = registry.find((one) => one.id === id);
  return model ? openSession(model, { provider: 'cpu', threads: 1 }) : null;
}

async function evaluateChambers(id: string): Promise<Sets> {
  const chambers = await session(id);
  if (!chambers) throw new Error(`no model ${id}`);
  const dice = await chamberAgreement(chambers, cases, LEFT_HEART);
  const estimates = await estimateEjectionFractions(chambers, null, cases);
  await chambers.close();
  const median = await medianEjectionFraction(values.data);
  return { [NAME]: { ...dice, ejectionFraction: ejectionAgreement(estimates, median) } };
}

async function evaluateEjection(chambersId: string, id: string): Promise<Sets> {
  const chambers = await session(chambersId);
  const network = await session(id);
  if (!chambers || !network) throw new Error(`no model ${chambersId} or ${id}`);
  const estimates = await estimateEjectionFractions(chambers, network, cases);
  await chambers.close();
  await network.close();
  if (values.cases) print(estimates);
  const median = await medianEjectionFraction(values.data);
  return { [NAME]: ejectionAgreement(estimates, median) };
}

/** The line to recalibrate with, and the patients, the worst first. */
function print(estimates: readonly Estimated[]): void {
  console.log('recalibration', recalibrationOf(estimates));
  const error = ({ joint, reference }: Estimated) => Math.abs((joint ?? 0) - reference);
  for (const one of estimates.toSorted((a, b) => error(b) - error(a))) {
    const shown = [one.reference, one.byDiscs, one.byNetwork, one.joint];
    console.log(one.patient, shown.map((v) => v?.toFixed(1) ?? '-').join(' '), one.accepted);
  }
}

const known = Object.keys(EVALUATIONS).filter((id) => registry.some((model) => model.id === id));
for (const id of values.only ?? known) {
  const evaluate = EVALUATIONS[id];
  if (!evaluate) throw new Error(`unknown model ${id}`);
  const sets = await evaluate();
  const text = `${JSON.stringify({ model: id, sets }, null, 2)}\n`;
  console.log(text);
  if (!values.write) continue;
  await writeFile(new URL(`${id}/metrics.json`, import.meta.url), text);
  const card = new URL(`${id}/card.md`, import.meta.url);
  await writeFile(card, withMeasured(await readFile(card, 'utf8'), sets));
}
