import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildBundle } from '../../../fhir/resources/bundle.ts';
import { simulateObstetricStudy } from '../../../models/phantom/study.ts';
import { resultSchema } from '../../../pipelines/result/envelope.ts';
import { interpret } from '../../../src/app/cli/interpret.ts';
import { checkBundle } from '../../../src/app/cli/validate.ts';
import { sampleSubject } from '../sample.ts';
import { validationErrors } from '../validators.ts';

const GA_DAYS = 203;
let folder: string;
const out = () => join(folder, 'out');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-fhir-phantom-'));
  const study = await simulateObstetricStudy({
    seed: 1,
    gaDays: GA_DAYS,
    acquisition: '2026-03-04T10:11:12Z',
  });
  await mkdir(join(folder, 'study'));
  for (const { name, bytes } of study.files) await writeFile(join(folder, 'study', name), bytes);
  const paths = [join(folder, 'study')];
  expect(
    await interpret('us/obstetric', paths, { gaDays: GA_DAYS, report: true, out: out() }),
  ).toBe(0);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('both validators and our own check accept the artifact of a phantom study', async () => {
  const text = await readFile(join(out(), 'artifacts', 'fhir-bundle.json'), 'utf8');
  expect(validationErrors(JSON.parse(text))).toEqual([]);
  expect(checkBundle(JSON.parse(text))).toEqual([]);
});

test('both validators and our own check accept its bundle for an EHR, which contains every accepted value', async () => {
  const text = await readFile(join(out(), 'result.json'), 'utf8');
  const result = resultSchema.parse(JSON.parse(text));
  const bundle = buildBundle({
    result,
    subject: sampleSubject(),
    resultSystem: 'https://sonogate.example/fhir/result',
    organization: 'Example Hospital',
    patient: { reference: 'Patient/7' },
  });
  expect(validationErrors(bundle)).toEqual([]);
  expect(checkBundle(bundle)).toEqual([]);
  const codes = new Set(
    bundle.entry?.flatMap(({ resource }) =>
      resource?.resourceType === 'Observation' && resource.valueQuantity
        ? (resource.code.coding?.[0]?.code ?? [])
        : [],
    ),
  );
  const accepted = result.measurements.filter(({ quality }) => quality === 'accepted');
  expect(accepted.length).toBeGreaterThan(0);
  for (const { concept } of accepted) expect(codes).toContain(concept.code);
});
