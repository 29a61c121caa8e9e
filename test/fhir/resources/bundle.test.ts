import type { Bundle, Observation, Resource } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import { buildAnonymousBundle, buildBundle } from '../../../fhir/resources/bundle.ts';
import type { BundleInput } from '../../../fhir/resources/report-context.ts';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
import { sampleMeasurement, sampleResult, sampleSubject } from '../sample.ts';
import { validationErrors } from '../validators.ts';

const RESULT_SYSTEM = 'https://sonogate.example/fhir/result';
const overlay = {
  name: 'overlay-biometry-1.png',
  title: 'Biometry, with calipers (AI draft)',
  contentType: 'image/png',
  data: Buffer.from('specimen'),
};
const pdf = { data: Buffer.from('%PDF-1.4 specimen') };

type Provenance = Measurement['source']['provenance'];

function bundleOf(change: Partial<BundleInput> = {}): Bundle {
  return buildBundle({
    result: sampleResult(),
    subject: sampleSubject(),
    resultSystem: RESULT_SYSTEM,
    organization: 'Example Hospital',
    patient: { reference: 'Patient/7' },
    ...change,
  });
}

function resources<Type extends Resource['resourceType']>(
  bundle: Bundle,
  type: Type,
): Extract<Resource, { resourceType: Type }>[] {
  const isType = (r: Resource | undefined): r is Extract<Resource, { resourceType: Type }> =>
    r?.resourceType === type;
  return (bundle.entry ?? []).map((entry) => entry.resource).filter(isType);
}

function observation(bundle: Bundle, role: string): Observation {
  const found = resources(bundle, 'Observation').find((o) =>
    o.identifier?.some((identifier) => identifier.value?.endsWith(`/${role}`)),
  );
  if (!found) throw new Error(`no Observation ${role}`);
  return found;
}

describe('the bundle is FHIR R4', () => {
  const order = { reference: 'ServiceRequest/9' };
  test.each<[string, () => Bundle]>([
    ['with an inline PDF', () => bundleOf({ pdf })],
    ['with key images', () => bundleOf({ keyImages: [overlay] })],
    ['with a stored PDF', () => bundleOf({ pdf: { ...pdf, binaryUrl: 'Binary/1' } })],
    [
      'with an order and a visit',
      () => bundleOf({ order, encounter: { reference: 'Encounter/3' } }),
    ],
    ['replacing a draft', () => bundleOf({ versionId: '4' })],
    [
      'without any measurement',
      () =>
        bundleOf({
          result: sampleResult({
            measurements: [],
            findings: [],
            scores: [],
            classifications: [],
            models: [],
          }),
        }),
    ],
    ['anonymous', () => buildAnonymousBundle(sampleResult(), sampleSubject())],
  ])('for both validators: %s', (_, build) => {
    expect(validationErrors(build())).toEqual([]);
  });

  test.each<[string, (bundle: Bundle) => void, RegExp]>([
    ['a missing code', (b) => Reflect.deleteProperty(observation(b, 'hc'), 'code'), /code/],
    [
      'a status outside the value set',
      (b) => Object.assign(observation(b, 'hc'), { status: 'draft-ai' }),
      /draft-ai/,
    ],
    [
      'a value beside its absence',
      (b) => Object.assign(observation(b, 'hc'), { dataAbsentReason: { text: 'x' } }),
      /obs-6/,
    ],
    [
      'an entry without request',
      (b) => Reflect.deleteProperty(b.entry?.[0] ?? {}, 'request'),
      /bdl-3/,
    ],
    [
      'a misspelt element',
      (b) => Object.assign(observation(b, 'hc'), { valueQuantiy: {} }),
      /valueQuantiy/,
    ],
  ])('and a planted error is found: %s', (_, plant, message) => {
    const bundle = bundleOf();
    plant(bundle);
    expect(validationErrors(bundle).join('\n')).toMatch(message);
  });
});

describe('idempotency', () => {
  test('every entry is conditional or has its own id', () => {
    for (const { request } of bundleOf({ pdf }).entry ?? []) {
      const conditional = request?.ifNoneExist ?? request?.url?.split('?')[1];
      expect(conditional ?? request?.url).toMatch(/^identifier=.+%7C|^Provenance\/[0-9a-f-]{36}$/);
    }
  });

  test('the same request produces the same bundle; another request shares only software and study', () => {
    expect(bundleOf()).toEqual(bundleOf());
    const keys = (bundle: Bundle) =>
      (bundle.entry ?? []).map(({ request }) => request?.ifNoneExist ?? request?.url);
    const other = new Set(keys(bundleOf({ subject: sampleSubject('req_other') })));
    expect(keys(bundleOf()).filter((key) => other.has(key))).toEqual([
      expect.stringMatching(/^identifier=.*device/),
      expect.stringMatching(/^identifier=urn%3Adicom%3Auid/),
    ]);
  });

  test('different weights under the same version are a different Device', () => {
    const [model] = sampleResult().models;
    if (!model) throw new Error('the sample has a model');
    const retrained = sampleResult({ models: [{ ...model, sha256: 'cd'.repeat(32) }] });
    const key = (bundle: Bundle) => bundle.entry?.[0]?.request?.ifNoneExist;
    expect(key(bundleOf({ result: retrained }))).not.toBe(key(bundleOf()));
  });

  test('twins have different identifiers', () => {
    const measurements = ['A', 'B'].map((fetus) =>
      sampleMeasurement('hc', 280, 'hc-ellipse', { fetus }),
    );
    const bundle = bundleOf({ result: sampleResult({ measurements, findings: [] }) });
    expect(observation(bundle, 'hc/A').component).toContainEqual(
      expect.objectContaining({ valueString: 'A' }),
    );
    expect(observation(bundle, 'hc/B')).not.toEqual(observation(bundle, 'hc/A'));
  });

  test('exactly the draft that was read is replaced', () => {
    const report = bundleOf({ versionId: '4' }).entry?.find(
      (entry) => entry.resource?.resourceType === 'DiagnosticReport',
    );
    expect(report?.request?.ifMatch).toBe('W/"4"');
  });
});

describe('a measured Observation', () => {
  const bundle = bundleOf();

  test('contains the code, the value in UCUM, the range with its chart, and the interpretation', () => {
    const hc = observation(bundle, 'hc');
    expect(hc.code.coding?.[0]).toMatchObject({ system: 'http://loinc.org', code: '11984-2' });
    expect(hc.valueQuantity).toEqual({
      value: 280.1,
      unit: 'mm',
      system: 'http://unitsofmeasure.org',
      code: 'mm',
    });
    expect(hc.referenceRange?.[0]).toMatchObject({
      low: { value: 262, code: 'mm' },
      high: { value: 301, code: 'mm' },
      text: expect.stringMatching(/INTERGROWTH-21st.*at 30\+2 weeks by last menstrual period/),
    });
    expect(hc.interpretation?.[0]?.coding?.[0]?.code).toBe('N');
  });

  test('has centile and z-score as components with DICOM codes', () => {
    const components = observation(bundle, 'hc').component?.map((component) => [
      component.code.coding?.[0]?.code ?? component.code.text,
      component.valueQuantity?.value,
    ]);
    expect(components).toContainEqual(['125012', 42.5]);
    expect(components).toContainEqual(['125013', -0.19]);
  });

  test('is sent in the unit of exchange: HC/AC as a percentage', () => {
    expect(observation(bundle, 'hc-ac-ratio').valueQuantity).toMatchObject({
      value: 116,
      code: '%',
    });
  });

  test('below its confidence gate contains a reason instead of a value', () => {
    const fl = observation(bundle, 'fl');
    expect(fl.valueQuantity).toBeUndefined();
    expect(fl.interpretation).toBeUndefined();
    expect(fl.dataAbsentReason?.text).toBe('Withheld (confidence too low): One frame only.');
  });

  test('withheld because it contradicts another value does not blame the image', () => {
    const rvsp = sampleMeasurement('rvsp', 30, 'cart-sr', {
      quality: 'inadequate',
      note: 'it contradicts the TR velocity',
    });
    const echo = bundleOf({ result: sampleResult({ measurements: [rvsp], findings: [] }) });
    const texts = resources(echo, 'Observation').flatMap((o) => o.dataAbsentReason?.text ?? []);
    expect(texts).toEqual(['Withheld (not reliable): it contradicts the TR velocity']);
  });

  test('refers to the values from which it was calculated', () => {
    expect(observation(bundle, 'hc-ac-ratio').derivedFrom).toHaveLength(2);
  });

  test('that combines repeats replaces them, so that a chart in the EHR gets one value', () => {
    const measurements = [
      sampleMeasurement('hc', 281, 'hc-ellipse', { inputs: ['hc-1', 'hc-2'] }),
      sampleMeasurement('hc', 280, 'hc-ellipse', { id: 'hc-1', derivation: 'measured' }),
      sampleMeasurement('hc', 282, 'hc-ellipse', { id: 'hc-2', derivation: 'measured' }),
    ];
    const repeated = bundleOf({ result: sampleResult({ measurements, findings: [] }) });
    const values = resources(repeated, 'Observation').flatMap((o) =>
      o.code.coding?.[0]?.code === '11984-2' ? (o.valueQuantity?.value ?? []) : [],
    );
    expect(values).toEqual([281]);
  });

  describe('depending on its source', () => {
    const { source } = sampleMeasurement('hc', 280, 'hc-ellipse');
    const from = (provenance: Provenance, inputs: string[] = []) => {
      const change = { source: { ...source, provenance }, inputs };
      const measurements = [sampleMeasurement('hc', 280, 'hc-ellipse', change)];
      return observation(bundleOf({ result: sampleResult({ measurements }) }), 'hc');
    };
    const MACHINE = 'ultrasound machine, from its structured report';

    test.each<[Provenance, string[], string]>([
      ['cart-sr', [], `Value of the ${MACHINE}`],
      ['cart-sr', ['bpd'], `Calculated from values of the ${MACHINE}`],
      ['input', [], 'Value given with the request'],
    ])('%s %j: has no device, AI tag or draft note of ours', (provenance, inputs, note) => {
      const taken = from(provenance, inputs);
      expect(taken.device).toBeUndefined();
      expect(taken.meta?.security).toBeUndefined();
      expect(taken.note).toEqual([{ text: note }]);
    });

    test.each<Provenance>(['model', 'image-analysis'])(
      '%s: is asserted by the AI, as a draft',
      (ours) => {
        const measured = from(ours);
        expect(measured.device).toBeDefined();
        expect(measured.meta?.security).toMatchObject([{ code: 'AIAST' }]);
        expect(measured.note).toEqual([{ text: 'Unverified AI draft' }]);
      },
    );
  });
});

describe('the study', () => {
  const [image] = sampleSubject().instances;
  const of = (...modalities: (string | undefined)[]) => {
    const instances = modalities.flatMap((modality, index) =>
      image
        ? {
            ...image,
            sopInstanceUid: `1.2.9.${index}`,
            seriesInstanceUid: `1.2.9${index}`,
            modality,
            rows: modality === 'SR' || modality === 'DOC' ? 0 : image.rows,
          }
        : [],
    );
    const [study] = resources(
      bundleOf({ subject: { ...sampleSubject(), instances } }),
      'ImagingStudy',
    );
    return {
      study: study?.modality?.map(({ code }) => code),
      series: study?.series?.map(({ modality }) => modality.code),
    };
  };

  test('has the modality of each series, and lists those that were acquired', () => {
    expect(of('US', 'SR', 'DOC')).toEqual({ study: ['US'], series: ['US', 'SR', 'DOC'] });
  });

  test('is ultrasound if its source states no modality or sent no image', () => {
    expect(of(undefined)).toEqual({ study: ['US'], series: ['US'] });
    expect(of('SR')).toEqual({ study: ['US'], series: ['SR'] });
  });
});

test('the software is attributed to its manufacturer, not to the hospital that runs it', () => {
  expect(resources(bundleOf(), 'Device')).toMatchObject([{ manufacturer: 'Sonogate' }]);
});

describe('the report', () => {
  test('is a preliminary AI draft that states what was not assessed and why', () => {
    const [report] = resources(bundleOf(), 'DiagnosticReport');
    expect(report?.status).toBe('preliminary');
    expect(report?.code).toMatchObject({
      coding: [{ code: '11525-3' }],
      text: expect.stringContaining('AI draft'),
    });
    // One line each, so that an EHR does not show the impression in the middle of a long paragraph.
    const lines = report?.conclusion?.split('\n') ?? [];
    expect(lines[0]).toBe('AI draft, not reviewed.');
    expect(lines).toContain('Fetal heart: No four-chamber view was among the images.');
  });

  test("lists each section's group before its members, and every Observation in the bundle", () => {
    const bundle = bundleOf();
    const [report] = resources(bundle, 'DiagnosticReport');
    const urns = (bundle.entry ?? [])
      .filter((entry) => entry.resource?.resourceType === 'Observation')
      .map((entry) => entry.fullUrl);
    expect(report?.result?.map((reference) => reference.reference)).toEqual(urns);
    expect(resources(bundle, 'Observation')[0]?.hasMember).not.toHaveLength(0);
  });

  test('every urn reference in the bundle is the fullUrl of an entry', () => {
    const bundle = bundleOf({ pdf });
    const urls = new Set(bundle.entry?.map((entry) => entry.fullUrl));
    const references = [...JSON.stringify(bundle).matchAll(/"reference":"(urn:[^"]+)"/g)];
    expect(references.length).toBeGreaterThan(0);
    for (const [, reference] of references) expect(urls).toContain(reference);
  });

  test('links its key images as Media', () => {
    const bundle = bundleOf({ keyImages: [overlay] });
    const [report] = resources(bundle, 'DiagnosticReport');
    const [media] = resources(bundle, 'Media');
    const entry = bundle.entry?.find(({ resource }) => resource?.resourceType === 'Media');
    expect(report?.media?.[0]?.link.reference).toBe(entry?.fullUrl);
    expect(Buffer.from(media?.content.data ?? '', 'base64')).toEqual(overlay.data);
  });

  test('has the same attachment as the document', () => {
    const bundle = bundleOf({ pdf });
    const [report] = resources(bundle, 'DiagnosticReport');
    const [document] = resources(bundle, 'DocumentReference');
    expect(report?.presentedForm?.[0]).toEqual(document?.content[0]?.attachment);
    expect(Buffer.from(report?.presentedForm?.[0]?.data ?? '', 'base64')).toEqual(pdf.data);
  });
});

test('the anonymous bundle contains neither the identity nor the date of the scan', () => {
  const { identity } = sampleSubject();
  const text = JSON.stringify(buildAnonymousBundle(sampleResult(), sampleSubject()));
  for (const value of [
    identity?.PatientID,
    identity?.PatientName,
    identity?.AccessionNumber,
    identity?.StudyInstanceUID,
    '2026-03-04T10:11:12.500',
  ]) {
    expect(text).not.toContain(`"${value}`);
  }
});
