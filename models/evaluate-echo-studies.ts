import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Job } from '../pipelines/contract/job.ts';
import { openHeartLocator } from '../pipelines/echo/locate/heart-locator.ts';
import { createEchoPipeline } from '../pipelines/echo/pipeline.ts';
import { keepOpen } from '../pipelines/inference/keep-open.ts';
import { openSession } from '../pipelines/inference/session.ts';
import { resultSchema } from '../pipelines/result/envelope.ts';
import {
  agreementTable,
  errorsOf,
  inventedFluid,
  type StudyCase,
  studyAgreement,
  studyCase,
  wallTable,
} from './evaluation/echo-study-agreement.ts';
import { type SimulatedStudy, simulatedStudy } from './evaluation/echo-study-phantoms.ts';

/**
 * Evaluates the echo pipeline, from files to result, on whole studies of simulated hearts that were
 * not used in training, and prints the agreement for each quantity.
 *
 * node models/evaluate-echo-studies.ts [--first 9000] [--count 16] [--allow all|permissive]
 * [--still] [--keep DIR [--interpreted]] [--cases]
 *
 * Seeds 9000 to 9099 are for reported results, and seeds 8000 to 8999 and 9100 to 9199 for choosing
 * parameters. With `--still`, one territory of every heart does not move. `--keep` stores the
 * studies, so that a later run need not simulate them again. With `--interpreted`, a later run also
 * reuses the stored interpretations, and can thus combine two runs that each processed half of the
 * studies. `--cases` prints every study.
 */
const { values } = parseArgs({
  options: {
    first: { type: 'string', default: '9000' },
    count: { type: 'string', default: '16' },
    allow: { type: 'string', default: 'all' },
    keep: { type: 'string' },
    interpreted: { type: 'boolean', default: false },
    still: { type: 'boolean', default: false },
    cases: { type: 'boolean', default: false },
  },
});

const opening = keepOpen(openSession);
const pipeline = createEchoPipeline({
  openLocator: (settings) => openHeartLocator(settings, opening),
  // No documents or previews are written, because they do not affect the numbers.
  writeArtifacts: async () => [],
});

async function interpret({ folder, names }: SimulatedStudy): Promise<void> {
  const job: Job = {
    endpoint: 'us/echo/interpret',
    version: '1.0.0',
    files: names,
    priorFiles: [],
    options: {},
    clinicalContext: { sex: 'male', age_years: 60, height_cm: 172, weight_kg: 74 },
    // The weakest evidence is accepted, because this program measures the methods regardless of
    // their evidence.
    evidence: 'simulated',
    models: {
      allow: values.allow === 'permissive' ? 'permissive' : 'all',
      provider: 'cpu',
      threads: 1,
    },
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
  const end = await pipeline(folder, () => {}, new AbortController().signal);
  if (end.type !== 'done') throw new Error(end.detail);
}

async function measured(seed: number, study: SimulatedStudy): Promise<StudyCase> {
  if (!values.interpreted) await interpret(study);
  const text = await readFile(join(study.folder, 'result.json'), 'utf8');
  return studyCase(seed, study, resultSchema.parse(JSON.parse(text)));
}

const root = values.keep ?? (await mkdtemp(join(tmpdir(), 'echo-studies-')));
const cases: StudyCase[] = [];
try {
  for (let i = 0; i < Number(values.count); i++) {
    const seed = Number(values.first) + i;
    const folder = join(root, String(seed));
    await mkdir(folder, { recursive: true });
    cases.push(await measured(seed, await simulatedStudy(seed, folder, values.still)));
  }
} finally {
  if (!values.keep) await rm(root, { recursive: true, force: true });
}
if (values.cases) {
  const figure = (value: number | null) => value?.toFixed(2).padStart(8) ?? '       -';
  for (const { key } of studyAgreement(cases)) {
    console.log(key);
    for (const { seed, reference, value, reason } of errorsOf(cases, key)) {
      console.log(`  ${seed}${figure(reference)}${figure(value)}  ${reason}`);
    }
  }
}
console.log(agreementTable(studyAgreement(cases)));
console.log(wallTable(cases.flatMap(({ walls }) => walls)));
const { without, invented } = inventedFluid(cases);
console.log(`Fluid measured in hearts without fluid: ${invented} of ${without}`);
process.exit(0);
