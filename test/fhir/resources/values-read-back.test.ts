import type { Observation } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import { buildBundle } from '../../../fhir/resources/bundle.ts';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';
import { sampleMeasurement, sampleResult, sampleSubject } from '../sample.ts';

const SYSTEM = 'https://sonogate.example/fhir/result';
const keys = Object.keys(CONCEPTS) as ConceptKey[];
const isEcho = (key: ConceptKey) => CONCEPTS[key].group === 'echo';

/** A value with many decimals for each concept, in the unit used in results. */
const exampleOf = (key: ConceptKey): number => (keys.indexOf(key) + 1) * 1.234567891;

const measured = (key: ConceptKey, change: Partial<Measurement> = {}): Measurement =>
  sampleMeasurement(key, exampleOf(key), 'hc-ellipse', { unit: CONCEPTS[key].unit, ...change });

/** Returns the Observations that an EHR receives for a result, by measurement id. */
function observationsOf(result: Result): Map<string, Observation> {
  const { entry = [] } = buildBundle({
    result,
    subject: sampleSubject('req_1'),
    resultSystem: SYSTEM,
    organization: 'Example Hospital',
    patient: { reference: 'Patient/7' },
  });
  return new Map(
    entry.flatMap(({ resource }) => {
      const id = resource?.resourceType === 'Observation' && resource.identifier?.[0]?.value;
      return id ? [[id.replace('req_1/', ''), resource]] : [];
    }),
  );
}

const resultOf = (endpoint: string, measurements: Measurement[]): Result =>
  sampleResult({ endpoint, measurements, findings: [], scores: [], classifications: [] });

describe.each([
  ['us/obstetric/interpret', keys.filter((key) => !isEcho(key))],
  ['us/echo/interpret', keys.filter(isEcho)],
])('what an EHR reads back from %s', (endpoint, concepts) => {
  const sent = observationsOf(
    resultOf(
      endpoint,
      concepts.map((key) => measured(key)),
    ),
  );

  test.each(concepts)('%s: value to the printed precision, unit and code', (key) => {
    const { decimals, exchange, codings } = CONCEPTS[key];
    const observation = sent.get(key);
    const read = observation?.valueQuantity;
    expect(((read?.value ?? Number.NaN) / exchange.factor).toFixed(decimals)).toBe(
      exampleOf(key).toFixed(decimals),
    );
    expect(read).toMatchObject({
      system: 'http://unitsofmeasure.org',
      code: exchange.unit.replace('{H.B.}', ''),
    });
    // Codes missing from R4's edition of DICOM are replaced by our own.
    const known = codings.filter(({ scheme, code }) => scheme !== 'DCM' || Number(code) <= 126_811);
    expect(observation?.code.coding?.map(({ code }) => code)).toEqual(
      known.length > 0 ? known.map(({ code }) => code) : [key],
    );
  });
});

test.each<[ConceptKey, number, number]>([
  ['cervical-length', 25.04, 25.04],
  ['deepest-vertical-pocket', 19.96, 19.96],
  ['deepest-vertical-pocket', 24.96, 25],
  ['fetal-heart-rate', 109.6, 109.6],
  ['middle-cerebral-artery-psv-mom', 1.4999, 1.4999],
])('%s of %d is not rounded across a cut-off', (key, value, shown) => {
  const sent = observationsOf(resultOf('us/obstetric/interpret', [measured(key, { value })]));
  expect(sent.get(key)?.valueQuantity?.value).toBe(shown);
});

test('the limits of a reference range are in the unit of their value', () => {
  const reference = { low: 0.9, high: 1.2, centile: null, z_score: null, chart: 'none' };
  const sent = observationsOf(
    resultOf('us/obstetric/interpret', [measured('hc-ac-ratio', { value: 1.05, reference })]),
  );
  const [range] = sent.get('hc-ac-ratio')?.referenceRange ?? [];
  expect(sent.get('hc-ac-ratio')?.valueQuantity?.value).toBe(105);
  expect([range?.low?.value, range?.high?.value]).toEqual([90, 120]);
});

test("a value in another unit than the table's keeps its unit", () => {
  const sent = observationsOf(
    resultOf('us/obstetric/interpret', [measured('hc', { value: 28.04, unit: 'cm' })]),
  );
  expect(sent.get('hc')?.valueQuantity).toMatchObject({ value: 28.04, unit: 'cm', code: 'cm' });
});

test('beats are counted per minute, without the annotation of the structured report', () => {
  const key = 'fetal-heart-rate';
  const sent = observationsOf(resultOf('us/obstetric/interpret', [measured(key, { value: 141 })]));
  expect(sent.get(key)?.valueQuantity).toMatchObject({ value: 141, unit: '/min', code: '/min' });
});
