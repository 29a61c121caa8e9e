import type { Observation } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import { buildBundle } from '../../../fhir/resources/bundle.ts';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import { type Measurement, type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
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

/** Returns the component with this DICOM code or text. */
const componentOf = (sent: Map<string, Observation>, id: string, name: string) =>
  sent.get(id)?.component?.find(({ code }) => code.coding?.[0]?.code === name || code.text === name)
    ?.valueQuantity;

test.each([
  [99.99997, { comparator: '>', value: 99 }],
  [0.004, { comparator: '<', value: 1 }],
  [9.996, { value: 9.996 }],
  [42.517, { value: 42.52 }],
])('centile %d is never sent as 0 or 100 (obstetric 0.3)', (centile, shown) => {
  const reference = { low: null, high: null, centile, z_score: null, chart: 'none' };
  const sent = observationsOf(resultOf('us/obstetric/interpret', [measured('hc', { reference })]));
  expect(componentOf(sent, 'hc', '125012')).toEqual({
    ...shown,
    unit: '%',
    code: '%',
    system: 'http://unitsofmeasure.org',
  });
});

test('a number without a dimension has no unit in words, so that no EHR prints "1.18 1"', () => {
  const pi = measured('umbilical-artery-pi', { value: 1.18 });
  const sent = observationsOf(resultOf('us/obstetric/interpret', [pi]));
  expect(sent.get('umbilical-artery-pi')?.valueQuantity).toEqual({
    value: 1.18,
    code: '1',
    system: 'http://unitsofmeasure.org',
  });
});

describe('the half width of an interval', () => {
  const HALF_WIDTH = 'Half width of the 95 % interval';
  const half = (key: ConceptKey, value: number, uncertainty: number) =>
    componentOf(
      observationsOf(resultOf('us/echo/interpret', [measured(key, { value, uncertainty })])),
      key,
      HALF_WIDTH,
    );

  test('keeps a digit where the decimals of the value would make it 0', () => {
    expect(half('av-mean-gradient', 3.39, 0.407)?.value).toBe(0.4);
  });

  test('is not sent for an estimate in steps, which would seem exact', () => {
    expect(half('ra-pressure', 3, 0)).toBeUndefined();
  });
});

describe('how a value was summarised', () => {
  const methodOf = (change: Partial<Measurement>) =>
    observationsOf(resultOf('us/obstetric/interpret', [measured('hc', change)])).get('hc')?.method
      ?.text;

  test('a median names the number of its values, as the report does', () => {
    expect(methodOf({ derivation: 'median', inputs: ['a', 'b', 'c'] })).toMatch(
      /; median of 3 values$/,
    );
  });

  test('a mean over the beats of one image is not a mean of several frames', () => {
    expect(methodOf({ derivation: 'mean', inputs: [] })).not.toMatch(/frames|mean of/);
  });

  test('a mean of the machine is one of an unknown number of values', () => {
    expect(methodOf({ derivation: 'mean', inputs: [], method: 'cart-sr' })).toMatch(/; mean$/);
  });
});

test.each([
  [null, 'met', 'met'],
  [null, 'not_available', 'not available'],
  [null, 'at_cut_off', 'at the cut-off'],
  ['78', 'not_met', '78 (not met)'],
  ['0.56', 'at_cut_off', '0.56 (at the cut-off)'],
  // Results of earlier versions have no outcome, and their value may be the outcome in words.
  ['not available', undefined, 'not available'],
] as const)('the criterion of value %j and outcome %s reads %j', (value, outcome, text) => {
  const result = resultSchema.parse({
    ...resultOf('us/echo/interpret', []),
    classifications: [
      {
        id: 'ph-probability',
        section: 'biometry',
        concept: null,
        name: 'Probability',
        value: 'low',
        scheme: 'ESC/ERS 2022',
        criteria: [{ name: 'TAPSE/sPAP < 0.55', value, outcome, met: outcome === 'met' }],
      },
    ],
  });
  const sent = observationsOf(result);
  const [component] = sent.get('classification/ph-probability')?.component ?? [];
  expect(component?.valueString).toBe(text);
});
