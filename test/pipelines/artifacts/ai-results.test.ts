import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { dicomObjects } from '../../../pipelines/artifacts/dicom-objects.ts';
import { INTERGROWTH_CURVES } from '../../../pipelines/obstetric/growth/curves.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { ECHO } from './example-echo.ts';
import { NOTHING_MEASURED, RESULT, TWINS } from './example-result.ts';
import { SUBJECT } from './example-subject.ts';
import { asFile, hasPydicom, PYTHON } from './programs.ts';

/**
 * Reads the objects of one result with pydicom, as an IHE AI Results Evidence Creator stores them
 * (exchange 2.9), to show the references between them.
 */
const READ = `
import sys, json, pydicom
def code(item, name='ConceptNameCodeSequence'):
    return item[name][0].CodeValue if name in item else None
def walk(item, path, answer, group):
    kind, name = item.get('ValueType', 'CONTAINER'), code(item)
    if name == '125007':  # Measurement Group
        group = {'nums': 0, 'names': [], 'tracking': None}
        answer['groups'].append(group)
    if group is not None:
        group['names'].append(name)
        if kind == 'NUM' and item.RelationshipType == 'CONTAINS' and name != '122157': group['nums'] += 1
        if name == '112040': group['tracking'] = item.UID
    elif kind == 'NUM': answer['loose'] += 1
    if kind in ('IMAGE', 'COMPOSITE'):
        answer['references'].append(item.ReferencedSOPSequence[0].ReferencedSOPInstanceUID)
    for child in item.get('ContentSequence', []): walk(child, path, answer, group)
answers = []
for path in sys.argv[1:]:
    d = pydicom.dcmread(path)
    answer = {'class': d.SOPClassUID, 'uid': d.SOPInstanceUID, 'study': d.StudyInstanceUID, 'series': d.SeriesInstanceUID,
      'offset': d.get('TimezoneOffsetFromUTC'), 'root': code(d), 'template': None, 'verification': d.get('VerificationFlag'),
      'evidence': [], 'references': [], 'groups': [], 'loose': 0, 'segments': [],
      'equipment': [{'purpose': code(e, 'PurposeOfReferenceCodeSequence'), 'maker': e.Manufacturer, 'model': e.ManufacturerModelName,
        'version': e.SoftwareVersions, 'device': e.get('DeviceUID')} for e in d.get('ContributingEquipmentSequence', [])]}
    if 'ContentTemplateSequence' in d: answer['template'] = d.ContentTemplateSequence[0].TemplateIdentifier
    for study in d.get('CurrentRequestedProcedureEvidenceSequence', []):
        for series in study.ReferencedSeriesSequence:
            answer['evidence'] += [i.ReferencedSOPInstanceUID for i in series.ReferencedSOPSequence]
    if 'ContentSequence' in d: walk(d, [], answer, None)
    for series in d.get('ReferencedSeriesSequence', []):
        answer['references'] += [i.ReferencedSOPInstanceUID for i in series.get('ReferencedInstanceSequence', series.get('ReferencedImageSequence', []))]
    for s in d.get('SegmentSequence', []):
        answer['segments'].append({'tracking': s.get('TrackingUID'), 'type': s.SegmentAlgorithmType, 'name': s.SegmentAlgorithmName})
    answers.append(answer)
print(json.dumps(answers))
`;

interface Read {
  class: string;
  uid: string;
  study: string;
  series: string;
  offset: string | null;
  root: string | null;
  template: string | null;
  verification: string | null;
  evidence: string[];
  references: string[];
  groups: { nums: number; names: (string | null)[]; tracking: string | null }[];
  /** Number of values outside any measurement group. */
  loose: number;
  segments: { tracking: string | null; type: string; name: string }[];
  equipment: {
    purpose: string;
    maker: string;
    model: string;
    version: string;
    device: string | null;
  }[];
}

const OBJECTS = dicomObjects(INTERGROWTH_CURVES);
const COMPREHENSIVE_3D = '1.2.840.10008.5.1.4.1.1.88.34';
const SOURCES: readonly string[] = SUBJECT.instances.map(({ sopInstanceUid }) => sopInstanceUid);

/**
 * Returns the report first, then the segmentations and the key object selection, in the SOP classes
 * of the profile.
 */
async function storedSet(result: Result): Promise<Read[]> {
  const source = {
    result,
    subject: SUBJECT,
    destination: { measurementSopClass: 'auto', segmentation: 'binary' } as const,
    artifactPath: async () => null,
  };
  const roles = ['sr-tid1500', 'seg', 'key-objects'] as const;
  const forms = (await Promise.all(roles.map((role) => OBJECTS[role](source)))).flat();
  const paths = forms.flatMap(([first]) => (first ? [asFile(first, 'dcm')] : []));
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', READ, ...paths], { encoding: 'utf8' });
  expect(stderr).not.toContain('Traceback');
  return JSON.parse(stdout);
}

const sorted = (uids: readonly string[]) => [...new Set(uids)].toSorted();

describe.skipIf(!hasPydicom).each([
  ['obstetric', RESULT],
  ['twins', TWINS],
  ['echo', ECHO],
  ['nothing measured', NOTHING_MEASURED],
])('the objects of a result (%s)', (_name, result) => {
  const set = storedSet(result);

  test('have as root a Comprehensive 3D SR with TID 1500, which nobody has verified', async () => {
    const [report] = await set;
    expect(report).toMatchObject({
      class: COMPREHENSIVE_3D,
      template: '1500',
      root: '126000',
      verification: 'UNVERIFIED',
    });
  });

  test('are in the study of the images, in separate series, with the offset from UTC', async () => {
    for (const object of await set) {
      expect(object.study).toBe(SUBJECT.identity?.StudyInstanceUID);
      expect(object.offset).toMatch(/^[+-]\d{4}$/);
    }
    const byClass = Map.groupBy(await set, (object) => object.class);
    const series = [...byClass.values()].map((objects) => sorted(objects.map((one) => one.series)));
    expect(series.every((uids) => uids.length === 1)).toBe(true);
    expect(sorted(series.flat())).toHaveLength(byClass.size);
  });

  test('refer to images of the study and to each other, and list exactly that as evidence', async () => {
    const objects = await set;
    const known = [...SOURCES, ...objects.map(({ uid }) => uid)];
    for (const { references, evidence, root } of objects) {
      expect(known).toEqual(expect.arrayContaining(references));
      if (root !== null) expect(sorted(evidence)).toEqual(sorted(references));
    }
  });

  test('have each value in a group with tracking identifier and UID, finding and algorithm', async () => {
    const [report] = await set;
    expect(report?.loose).toBe(0);
    expect((report?.groups.length ?? 0) > 0).toBe(result.measurements.length > 0);
    for (const { names, tracking } of report?.groups ?? []) {
      // The codes are Tracking Identifier, Tracking Unique Identifier, Finding, Algorithm Name and
      // Algorithm Version.
      expect(names).toEqual(
        expect.arrayContaining(['112039', '112040', '121071', '111001', '111003']),
      );
      expect(tracking).toMatch(/^2\.25\.\d+$/);
    }
  });

  test('name each model with a device UID that differs when the model does', async () => {
    for (const { equipment } of await set) {
      expect(equipment.map(({ model }) => model)).toEqual(result.models.map(({ id }) => id));
      expect(equipment.every(({ device }) => device?.startsWith('2.25.'))).toBe(true);
    }
    const changed = {
      ...result,
      models: result.models.map((one) => ({ ...one, sha256: '0'.repeat(64) })),
    };
    const devices = (objects: Read[]) => objects[0]?.equipment.map(({ device }) => device) ?? [];
    const before = devices(await set);
    for (const device of devices(await storedSet(changed))) expect(before).not.toContain(device);
  });

  test('have segments that the report tracks under the same UID', async () => {
    const [report, ...others] = await set;
    const tracked = report?.groups.map(({ tracking }) => tracking) ?? [];
    for (const { tracking, type, name } of others.flatMap(({ segments }) => segments)) {
      expect(tracked).toContain(tracking);
      expect({ type, named: name !== '' }).toEqual({ type: 'AUTOMATIC', named: true });
    }
  });
});

test.skipIf(!hasPydicom)('a result without any value is stored as a document too', async () => {
  const set = await storedSet(NOTHING_MEASURED);
  expect(set).toHaveLength(1);
  expect(set[0]).toMatchObject({ class: COMPREHENSIVE_3D, groups: [] });
});
