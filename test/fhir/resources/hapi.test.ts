import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bundle } from '@medplum/fhirtypes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildAnonymousBundle, buildBundle } from '../../../fhir/resources/bundle.ts';
import { SYSTEMS } from '../../../fhir/resources/codes.ts';
import type { BundleInput } from '../../../fhir/resources/report-context.ts';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { HAPI_INSTALLED, runHapi } from '../hapi/run-hapi.ts';
import { sampleMeasurement, sampleResult, sampleSubject } from '../sample.ts';

const keys = Object.keys(CONCEPTS) as ConceptKey[];

/**
 * Creates a result with every concept of an endpoint and all other kinds of items from the sample.
 */
function resultOf(endpoint: string, concepts: readonly ConceptKey[]): Result {
  const measurements = concepts.map((key) =>
    sampleMeasurement(key, 4.5, 'ratio', { unit: CONCEPTS[key].unit }),
  );
  return sampleResult({ endpoint, measurements, findings: [] });
}

const overlay = {
  name: 'overlay-biometry-1.png',
  title: 'Biometry, with calipers (AI draft)',
  contentType: 'image/png',
  data: Buffer.from('specimen'),
};

const forEhr = (result: Result, change: Partial<BundleInput> = {}): Bundle =>
  buildBundle({
    result,
    subject: sampleSubject(),
    resultSystem: 'https://sonogate.example/fhir/result',
    organization: 'Example Hospital',
    patient: { reference: 'Patient/7' },
    pdf: { data: Buffer.from('%PDF-1.4 specimen') },
    keyImages: [overlay],
    ...change,
  });

const OBSTETRIC = resultOf(
  'us/obstetric/interpret',
  keys.filter((key) => CONCEPTS[key].group !== 'echo'),
);
const ECHO = resultOf(
  'us/echo/interpret',
  keys.filter((key) => CONCEPTS[key].group === 'echo'),
);

/**
 * A code from PS3.16 that is missing from R4's edition of the terminology. The validator must
 * report it.
 */
const CONTROL = {
  resourceType: 'Observation',
  status: 'preliminary',
  code: { coding: [{ system: SYSTEMS.DCM, code: '130686' }] },
};

describe.skipIf(!HAPI_INSTALLED)("HAPI's validator with the terminology of R4", () => {
  let folder = '';
  const printed = new Map<string, string[]>();

  const BUNDLES: Readonly<Record<string, object>> = {
    'every rule of the mapping': forEhr(sampleResult()),
    'every obstetric concept': forEhr(OBSTETRIC),
    'every concept of echocardiography': forEhr(ECHO),
    'an order and a visit': forEhr(sampleResult(), {
      order: { reference: 'ServiceRequest/9' },
      encounter: { reference: 'Encounter/3' },
    }),
    'values that need review': forEhr({
      ...OBSTETRIC,
      measurements: OBSTETRIC.measurements.map((m) => ({ ...m, quality: 'review' })),
    }),
    'the artifact, without identity': buildAnonymousBundle(ECHO, {
      ...sampleSubject(),
      identity: null,
    }),
    control: CONTROL,
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-hapi-'));
    const files = Object.keys(BUNDLES).map((name, index) => [name, join(folder, `${index}.json`)]);
    for (const [name = '', file = ''] of files)
      await writeFile(file, JSON.stringify(BUNDLES[name]));
    const stdout = await runHapi('FhirValidate', ...files.map(([, file = '']) => file));
    let errors: string[] = [];
    for (const line of stdout.trim().split('\n')) {
      const [kind, ...rest] = line.split('\t');
      if (kind === 'error') errors.push(rest.join(': '));
      else {
        const name = files.find(([, file]) => file === rest[0])?.[0] ?? '';
        printed.set(name, errors);
        errors = [];
      }
    }
  }, 600_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(Object.keys(BUNDLES).filter((name) => name !== 'control'))(
    'finds no error in a bundle with %s',
    (name) => {
      expect(printed.get(name)).toEqual([]);
    },
  );

  test('finds a code from a later edition of DICOM', () => {
    expect(printed.get('control')?.join()).toContain('130686');
  });
});

if (!HAPI_INSTALLED) console.info("HAPI's validator is not tried: no JDK, or no jars in .ci/hapi");
