import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Observation } from '@medplum/fhirtypes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildBundle } from '../../../fhir/resources/bundle.ts';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import { type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { checkBundle } from '../../../src/app/cli/validate.ts';
import { pipeline } from '../../../src/app/pipelines/echo.ts';
import { adultReport, workFolder } from '../../pipelines/echo/cart-study.ts';
import { sampleMeasurement, sampleSubject } from '../sample.ts';
import { validationErrors } from '../validators.ts';

let folder: string;
let result: Result;

beforeAll(async () => {
  folder = await workFolder(
    { 'report.dcm': adultReport() },
    {
      options: { report: true },
      clinicalContext: { sex: 'male', age_years: 60, height_cm: 175, weight_kg: 70 },
    },
  );
  await pipeline(folder, () => {}, new AbortController().signal);
  result = resultSchema.parse(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const forEhr = (of: Result) =>
  buildBundle({
    result: of,
    subject: sampleSubject(),
    resultSystem: 'https://sonogate.example/fhir/result',
    organization: 'Example Hospital',
    patient: { reference: 'Patient/7' },
    pdf: { data: Buffer.from('%PDF-1.4 specimen') },
  });

describe('of an echo study, both validators and our own check accept', () => {
  test('the artifact', async () => {
    const text = await readFile(join(folder, 'artifacts', 'fhir-bundle.json'), 'utf8');
    expect(validationErrors(JSON.parse(text))).toEqual([]);
    expect(checkBundle(JSON.parse(text))).toEqual([]);
  });

  test('the bundle for an EHR', () => {
    expect(validationErrors(forEhr(result))).toEqual([]);
    expect(checkBundle(forEhr(result))).toEqual([]);
  });

  test('a bundle with every concept of echocardiography', () => {
    const keys = (Object.keys(CONCEPTS) as ConceptKey[]).filter(
      (key) => CONCEPTS[key].group === 'echo',
    );
    const measurements = keys.map((key) =>
      sampleMeasurement(key, 4.5, 'ratio', { unit: CONCEPTS[key].unit, section: 'lv-size' }),
    );
    expect(validationErrors(forEhr({ ...result, measurements, findings: [] }))).toEqual([]);
  });
});

test("the report's category is cardiology, and its code a transthoracic echocardiogram", () => {
  const report = forEhr(result).entry?.find(
    ({ resource }) => resource?.resourceType === 'DiagnosticReport',
  )?.resource;
  expect(report).toMatchObject({
    status: 'preliminary',
    category: [{ coding: [{ code: 'CUS' }] }, { coding: [{ code: 'LP29708-2' }] }],
    code: { coding: [{ code: '42148-7' }, { code: '433236007' }] },
  });
});

test('a value that the machine measured is sent as the machine’s, not as ours', () => {
  const taken = new Set(
    result.measurements
      .filter(({ source }) => source.provenance === 'cart-sr')
      .map(({ concept }) => concept.code),
  );
  const observations = (forEhr(result).entry ?? []).flatMap(({ resource }): Observation[] =>
    resource?.resourceType === 'Observation' ? [resource] : [],
  );
  const theirs = observations.filter(({ code }) => taken.has(code.coding?.[0]?.code ?? ''));
  expect(theirs.length).toBeGreaterThan(0);
  expect(theirs.filter(({ device }) => device !== undefined)).toEqual([]);
});
