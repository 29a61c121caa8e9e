import { describe, expect, test } from 'vitest';
import { buildSegmentations } from '../../../../pipelines/artifacts/seg/segmentation.ts';
import { buildTid1500 } from '../../../../pipelines/artifacts/sr/tid1500.ts';
import { checkBundle, checkContent } from '../../../../src/app/cli/validate.ts';
import { TEST_DATA } from '../../../../src/app/test-data-label.ts';
import { RESULT } from '../../../pipelines/artifacts/example-result.ts';
import { SUBJECT } from '../../../pipelines/artifacts/example-subject.ts';

const [seg = Buffer.alloc(0)] = buildSegmentations(RESULT, SUBJECT);

/** Replaces a text in the bytes with another of the same length. */
const replaced = (bytes: Buffer, from: string, to: string): Buffer =>
  Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');

const MACHINE = { security: [{ code: 'AIAST' }] };

const report = {
  fullUrl: 'urn:uuid:1',
  resource: { resourceType: 'DiagnosticReport', meta: MACHINE, status: 'preliminary' },
  request: { method: 'PUT', url: 'DiagnosticReport?identifier=a|b' },
};
const observation = {
  fullUrl: 'urn:uuid:2',
  resource: {
    resourceType: 'Observation',
    meta: MACHINE,
    status: 'preliminary',
    valueQuantity: { value: 1, system: 'http://unitsofmeasure.org', code: 'mm' },
    subject: { reference: 'Patient/1' },
    device: { reference: 'Device/1' },
  },
  request: { method: 'PUT', url: 'Observation?identifier=a|c' },
};
/** The report that lists the observation. */
const listing = {
  ...report,
  resource: { ...report.resource, result: [{ reference: observation.fullUrl }] },
};
const bundle = (...entry: unknown[]) => ({ resourceType: 'Bundle', type: 'transaction', entry });

describe('a valid file', () => {
  test.each([
    ['a structured report', buildTid1500(RESULT, SUBJECT), 'structured report'],
    ['a segmentation', seg, 'Segmentation'],
    ['a label map', buildSegmentations(RESULT, SUBJECT, 'labelmap')[0] ?? seg, 'Segmentation'],
    ['a bundle', Buffer.from(JSON.stringify(bundle(listing, observation))), 'FHIR Bundle'],
  ])('%s of ours has no errors', (_name, bytes, kind) => {
    expect(checkContent(bytes)).toEqual({ kind, faults: [] });
  });

  test('the bundle of a test key, whose statements are tagged as test data, has no errors', () => {
    const meta = { security: [TEST_DATA] };
    const entries = [listing, observation].map((entry) => ({
      ...entry,
      resource: { ...entry.resource, meta },
    }));
    expect(checkBundle(bundle(...entries))).toEqual([]);
  });

  test('a file of another kind is reported as such, and not accepted', () => {
    expect(checkContent(Buffer.from('hello')).faults).toHaveLength(1);
    expect(checkContent(Buffer.from('{}')).faults).toEqual(['this is not a FHIR Bundle']);
  });
});

describe('a planted error is found', () => {
  test('in a segmentation: a missing frame, a segment without algorithm', () => {
    const frames = [0x28, 0, 8, 0, 0x49, 0x53, 2, 0];
    const header = Buffer.from(frames).toString('latin1');
    expect(checkContent(replaced(seg, `${header}1 `, `${header}2 `)).faults).toEqual(
      expect.arrayContaining([expect.stringContaining('functional groups for 2 frames')]),
    );
  });

  test('in a structured report: evidence that the tree does not use', () => {
    const broken = replaced(buildTid1500(RESULT, SUBJECT), '126000', '126099');
    expect(checkContent(broken).faults.length).toBeGreaterThan(0);
  });

  test.each([
    [
      'a write without condition',
      { ...report, request: { method: 'POST', url: 'DiagnosticReport' } },
    ],
    ['a final report', { ...report, resource: { ...report.resource, status: 'final' } }],
    [
      'a reference to what is not there',
      { ...report, resource: { ...report.resource, result: [{ reference: 'urn:uuid:9' }] } },
    ],
  ])('in a bundle: %s', (_name, entry) => {
    expect(checkBundle(bundle(entry))).toHaveLength(1);
  });

  test('in a bundle: a unit outside UCUM, a value together with a reason for its absence', () => {
    const unit = { ...observation.resource, valueQuantity: { value: 1, unit: 'mm' } };
    const both = { ...observation.resource, dataAbsentReason: { text: 'error' } };
    for (const resource of [unit, both]) {
      expect(checkBundle(bundle(listing, { ...observation, resource }))).toHaveLength(1);
    }
  });

  test("in a bundle: the ultrasound machine's value must not be tagged as the AI’s", () => {
    const { meta: _, device: __, ...resource } = observation.resource;
    expect(checkBundle(bundle(listing, { ...observation, resource }))).toEqual([]);
    const asserted = { ...observation, resource: { ...resource, meta: MACHINE } };
    expect(checkBundle(bundle(listing, asserted))).toEqual([
      expect.stringContaining('has no device'),
    ]);
  });

  test.each([
    ['without a tag', undefined],
    ['with another tag', { security: [{ code: 'R' }] }],
  ])('in a bundle: a machine’s statement %s', (_name, meta) => {
    const resource = { ...observation.resource, meta };
    expect(checkBundle(bundle(listing, { ...observation, resource }))).toEqual([
      expect.stringContaining('not tagged'),
    ]);
  });

  test('in a bundle: an Observation that the report does not list, unless it is withdrawn', () => {
    expect(checkBundle(bundle(report, observation))).toEqual([
      expect.stringContaining('does not list'),
    ]);
    const withdrawn = { ...observation.resource, status: 'entered-in-error' };
    expect(checkBundle(bundle(report, { ...observation, resource: withdrawn }))).toEqual([]);
  });

  test('in a bundle: two entries for the same resource', () => {
    const again = { ...observation, fullUrl: 'urn:uuid:3' };
    const both = {
      ...report,
      resource: {
        ...report.resource,
        result: [observation, again].map(({ fullUrl: reference }) => ({ reference })),
      },
    };
    expect(checkBundle(bundle(both, observation, again))).toEqual([
      'two entries have Observation?identifier=a|c',
    ]);
  });

  test('in a bundle: no report, or another type', () => {
    expect(checkBundle(bundle(observation))).toEqual(['there are 0 reports']);
    expect(checkBundle({ ...bundle(report), type: 'batch' })).toHaveLength(1);
  });
});

test('a picture is neither DICOM nor JSON, and its bytes are not printed', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  expect(checkContent(png)).toEqual({ kind: 'file', faults: ['this is neither DICOM nor JSON'] });
});
