import { writeFileSync } from 'node:fs';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { dicomObjects, type ObjectSource } from '../../../pipelines/artifacts/dicom-objects.ts';
import { buildKeyObjects } from '../../../pipelines/artifacts/ko/key-objects.ts';
import { buildPresentationStates } from '../../../pipelines/artifacts/presentation-state/presentation-state.ts';
import { decode } from '../../../pipelines/artifacts/sr/decode.ts';
import { buildTid1500 } from '../../../pipelines/artifacts/sr/tid1500.ts';
import { decodeDataSet, itemsOf } from '../../../pipelines/dicom/data-set.ts';
import { decodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import type { Subject } from '../../../pipelines/dicom/subject.ts';
import { INTERGROWTH_CURVES } from '../../../pipelines/obstetric/growth/curves.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { HC, OFD_NOT_ACCEPTED } from './example-measurements.ts';
import { NOTHING_MEASURED, RESULT, TWINS } from './example-result.ts';
import { ANONYMOUS, SUBJECT } from './example-subject.ts';
import { asFile, dciodvfy, hasPydicom, installed, PYTHON, run } from './programs.ts';
import { sourceImage } from './source-image.ts';

const preview = asFile(Buffer.alloc(0), 'png');
writeFileSync(
  preview,
  await sharp({ create: { width: 31, height: 17, channels: 3, background: '#204060' } })
    .png()
    .toBuffer(),
);

const source = (result: Result, subject: Subject): ObjectSource => ({
  result,
  subject,
  destination: { measurementSopClass: 'auto', segmentation: 'binary' },
  artifactPath: async (name) => (name.endsWith('.png') ? preview : null),
});

const ROLES = ['key-objects', 'pdf', 'secondary-capture', 'presentation-state', 'seg'] as const;

const objectsOf = async (role: keyof typeof DICOM_OBJECTS, result: Result, subject: Subject) =>
  (await DICOM_OBJECTS[role](source(result, subject))).map(([bytes]) => bytes ?? Buffer.alloc(0));

const uidsOf = (bytes: Buffer) =>
  bytes
    .toString('latin1')
    .match(/2\.25\.\d{20,}/g)
    ?.slice(0, 1) ?? [];

const signed = (replaces: { request: string; revision: number } | null): Result => ({
  ...RESULT,
  draft: false,
  verification: {
    kind: 'verified',
    revision: 1,
    signatures: [
      { observer: 'Dr Reader', organization: 'Ward', at: RESULT.generated_at, statement: null },
    ],
    ...(replaces && { replaces }),
  },
});

describe.each(ROLES)('%s', (role) => {
  test.skipIf(!installed('dciodvfy'))('dciodvfy has no error', async () => {
    for (const result of [RESULT, TWINS]) {
      for (const bytes of await objectsOf(role, result, SUBJECT)) {
        const { code, complaints } = dciodvfy(asFile(bytes, 'dcm'));
        expect({ code, errors: complaints.filter((line) => line.startsWith('Error')) }).toEqual({
          code: 0,
          errors: [],
        });
      }
    }
  });

  test.skipIf(!installed('dcentvfy'))('dcentvfy agrees with the source image', async () => {
    const files = [sourceImage(), ...(await objectsOf(role, RESULT, SUBJECT))];
    const paths = files.map((bytes) => asFile(bytes, 'dcm'));
    expect(paths.length).toBeGreaterThan(1);
    expect(run('dcentvfy', paths).output.match(/^Error.*/gm)).toBeNull();
  });

  test('is the same object when it is built again, and another one when it is anonymous', async () => {
    const first = await objectsOf(role, RESULT, SUBJECT);
    const again = await objectsOf(role, RESULT, SUBJECT);
    const anonymous = await objectsOf(role, RESULT, ANONYMOUS);
    expect(again.map(uidsOf)).toEqual(first.map(uidsOf));
    expect(anonymous.map(uidsOf)).not.toEqual(first.map(uidsOf));
    expect(anonymous.length).toBe(first.length);
  });
});

describe('where nothing was measured', () => {
  test.each(['key-objects', 'secondary-capture', 'presentation-state', 'seg'] as const)(
    '%s is not created',
    async (role) => {
      expect(await objectsOf(role, NOTHING_MEASURED, SUBJECT)).toEqual([]);
    },
  );

  test('the SR and the PDF still report this', async () => {
    expect(await objectsOf('sr-tid1500', NOTHING_MEASURED, SUBJECT)).toHaveLength(1);
    expect(await objectsOf('pdf', NOTHING_MEASURED, SUBJECT)).toHaveLength(1);
  });
});

test('a preview that is no longer stored gives no secondary capture', async () => {
  const gone = { ...source(RESULT, SUBJECT), artifactPath: async () => null };
  expect(await DICOM_OBJECTS['secondary-capture'](gone)).toEqual([]);
});

test.skipIf(!installed('dsrdump'))('dsrdump reads the key object selection', () => {
  const bytes = buildKeyObjects(RESULT, SUBJECT) ?? Buffer.alloc(0);
  const { code, output } = run('dsrdump', [asFile(bytes, 'dcm')]);
  expect({ code, errors: output.match(/^[EF]: .*/gm) }).toEqual({ code: 0, errors: null });
  expect(output).toContain('Of Interest');
});

describe('the forms of a document, chosen by what a peer accepts', () => {
  const classes = async (
    measurementSopClass: ObjectSource['destination']['measurementSopClass'],
  ) => {
    const asked = {
      ...source(RESULT, SUBJECT),
      destination: { measurementSopClass, segmentation: 'binary' as const },
    };
    const [forms = []] = await DICOM_OBJECTS['sr-tid1500'](asked);
    return forms.map((bytes) => decode(bytes).header);
  };

  test('are by default Comprehensive 3D, then Comprehensive, then Enhanced SR, each a separate object', async () => {
    const headers = await classes('auto');
    expect(headers.map(({ SOPClassUID }) => SOPClassUID)).toEqual([
      '1.2.840.10008.5.1.4.1.1.88.34',
      '1.2.840.10008.5.1.4.1.1.88.33',
      '1.2.840.10008.5.1.4.1.1.88.22',
    ]);
    expect(new Set(headers.map(({ SOPInstanceUID }) => SOPInstanceUID)).size).toBe(3);
  });

  test('are only the class that the site has configured, if any', async () => {
    const headers = await classes('enhanced');
    expect(headers.map(({ SOPClassUID }) => SOPClassUID)).toEqual([
      '1.2.840.10008.5.1.4.1.1.88.22',
    ]);
  });

  test.skipIf(!installed('dciodvfy'))('are each valid in their class', async () => {
    const [forms = []] = await DICOM_OBJECTS['sr-tid1500'](source(RESULT, SUBJECT));
    for (const bytes of forms) {
      expect(dciodvfy(asFile(bytes, 'dcm'))).toEqual({ code: 0, complaints: [] });
    }
  });

  test('contain a LABELMAP before its BINARY form', async () => {
    const asked = {
      ...source(RESULT, SUBJECT),
      destination: { measurementSopClass: 'auto' as const, segmentation: 'labelmap' as const },
    };
    const forms = await DICOM_OBJECTS.seg(asked);
    const [labelmap, binary] = await Promise.all([objectsOf('seg', RESULT, SUBJECT), forms[0]]);
    expect(binary).toHaveLength(2);
    expect(binary?.[1]).toEqual(labelmap[0]);
  });
});

describe('a re-run of a study', () => {
  const former = decode(buildTid1500(RESULT, SUBJECT)).header;
  const rerun: Subject = { ...SUBJECT, requestId: 'req_second', supersedes: SUBJECT.requestId };

  test('refers to the document that it replaces, in the class that the peer accepted', () => {
    const { header } = decode(buildTid1500(RESULT, rerun));
    expect(header.SOPInstanceUID).not.toBe(former.SOPInstanceUID);
    expect(header.PredecessorDocumentsSequence).toMatchObject([
      {
        StudyInstanceUID: former.StudyInstanceUID,
        ReferencedSeriesSequence: [
          {
            SeriesInstanceUID: former.SeriesInstanceUID,
            ReferencedSOPSequence: [
              {
                ReferencedSOPClassUID: former.SOPClassUID,
                ReferencedSOPInstanceUID: former.SOPInstanceUID,
              },
            ],
          },
        ],
      },
    ]);
    const older = decode(buildTid1500(RESULT, SUBJECT, 'comprehensive')).header;
    const inOlderClass = decode(buildTid1500(RESULT, rerun, 'comprehensive')).header;
    expect(JSON.stringify(inOlderClass.PredecessorDocumentsSequence)).toContain(
      String(older.SOPInstanceUID),
    );
  });

  test('refers, once signed, to its own draft and to the signed document of the first run', () => {
    const first = buildTid1500(signed(null), { ...SUBJECT, signedRevision: 1 });
    const replacing = signed({ request: SUBJECT.requestId, revision: 1 });
    const formerOf = (subject: Partial<Subject>) => {
      const bytes = buildTid1500(replacing, { ...rerun, signedRevision: 1, ...subject });
      const sequence = JSON.stringify(decode(bytes).header.PredecessorDocumentsSequence);
      return sequence.match(/"ReferencedSOPInstanceUID":"[^"]+"/g)?.map((uid) => uid.slice(28, -1));
    };
    const draftUid = String(decode(buildTid1500(RESULT, rerun)).header.SOPInstanceUID);
    const signedUid = String(decode(first).header.SOPInstanceUID);
    expect(formerOf({})).toEqual([draftUid, signedUid]);
    expect(formerOf({ draftsWithheld: true })).toEqual([signedUid]);
  });

  test('names an organization as one value, even with a backslash', () => {
    const result = signed(null);
    const [signature] = result.verification?.signatures ?? [];
    if (signature) signature.organization = 'Ward\\Room 3';
    const { header } = decode(buildTid1500(result, { ...SUBJECT, signedRevision: 1 }));
    expect(header.VerifyingObserverSequence).toMatchObject([
      { VerifyingOrganization: 'Ward Room 3' },
    ]);
  });

  test('names who signed as an observer of a value that a person changed', () => {
    const personsIn = (result: Result) =>
      decode(buildTid1500(result, { ...SUBJECT, signedRevision: 1 })).root.items.flatMap(
        ({ value }) => (value.type === 'PNAME' ? [value.person] : []),
      );
    const [first, ...others] = RESULT.measurements;
    const entered = {
      ...signed(null),
      measurements: [{ ...first, confirmed: 'entered' }, ...others],
    };
    expect(personsIn(entered as Result)).toEqual(['Dr Reader^']);
    expect(personsIn(signed(null))).toEqual([]);
  });

  test('the first run refers to no earlier document', () => {
    expect(former).not.toHaveProperty('PredecessorDocumentsSequence');
  });

  test.skipIf(!installed('dciodvfy'))('dciodvfy has no complaint', () => {
    expect(dciodvfy(asFile(buildTid1500(RESULT, rerun), 'dcm'))).toEqual({
      code: 0,
      complaints: [],
    });
  });
});

describe.skipIf(!hasPydicom)('pydicom reads back', () => {
  test.each([
    ['UNVERIFIED', RESULT],
    ['VERIFIED', signed(null)],
  ])('the PDF, byte for byte: %s', async (verification, result) => {
    const [bytes = Buffer.alloc(0)] = await objectsOf('pdf', result, SUBJECT);
    const script = `
import sys, pydicom
ds = pydicom.dcmread(sys.argv[1])
pdf = ds.EncapsulatedDocument[:ds.EncapsulatedDocumentLength]
print(pdf[:5].decode(), pdf.rstrip()[-5:].decode(), ds.MIMETypeOfEncapsulatedDocument, ds.VerificationFlag)
`;
    const { output } = run(PYTHON, ['-c', script, asFile(bytes, 'dcm')]);
    expect(output.trim()).toBe(`%PDF- %%EOF application/pdf ${verification}`);
  });

  test('the colour of a preview of odd size', async () => {
    const [bytes = Buffer.alloc(0)] = await objectsOf('secondary-capture', RESULT, SUBJECT);
    const script = `
import sys, pydicom
ds = pydicom.dcmread(sys.argv[1])
p = ds.pixel_array
print(p.shape, p.reshape(-1, 3).min(axis=0).tolist(), p.reshape(-1, 3).max(axis=0).tolist())
`;
    const { output } = run(PYTHON, ['-c', script, asFile(bytes, 'dcm')]);
    expect(output.trim()).toBe('(17, 31, 3) [32, 64, 96] [32, 64, 96]');
  });
});

const DICOM_OBJECTS = dicomObjects(INTERGROWTH_CURVES);

test('a presentation state draws the coordinates of the SR', () => {
  const sr = buildTid1500(RESULT, SUBJECT).toString('latin1');
  const states = buildPresentationStates(RESULT, SUBJECT);
  expect(states).toHaveLength(3);
  // The head's ELLIPSE as eight FL values: (180.5, 200.5) is its first vertex, measured from the
  // corner.
  const vertex = Buffer.alloc(8);
  vertex.writeFloatLE(180.5, 0);
  vertex.writeFloatLE(200.5, 4);
  expect(
    [sr, states[0]?.toString('latin1')].every((b) => b?.includes(vertex.toString('latin1'))),
  ).toBe(true);
});

test('a presentation state writes values that begin at the same point as lines of one text', () => {
  const ofd = { ...OFD_NOT_ACCEPTED, quality: 'accepted' as const };
  const [head] = buildPresentationStates({ ...RESULT, measurements: [HC, ofd] }, SUBJECT);
  const { dataSetOffset, meta } = decodeFileMeta(head ?? Buffer.alloc(0));
  const state = decodeDataSet(
    head?.subarray(dataSetOffset) ?? Buffer.alloc(0),
    meta.transferSyntax,
  );
  const texts = itemsOf(state.GraphicAnnotationSequence)
    .flatMap(({ TextObjectSequence }) => itemsOf(TextObjectSequence))
    .map(({ UnformattedTextValue }) => UnformattedTextValue);
  expect(texts).toEqual(['HC 262.4 mm\r\nOFD 91.2 mm']);
});
