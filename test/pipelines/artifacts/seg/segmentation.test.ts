import { readFileSync } from 'node:fs';
import { data, type NaturalDataset } from 'dcmjs';
import { describe, expect, test } from 'vitest';
import { buildPresentationStates } from '../../../../pipelines/artifacts/presentation-state/presentation-state.ts';
import { checkSegmentation } from '../../../../pipelines/artifacts/seg/check.ts';
import type {
  Segment,
  SegmentedImage,
} from '../../../../pipelines/artifacts/seg/outlined-structures.ts';
import {
  buildSegmentation,
  buildSegmentations,
  type SegmentationForm,
} from '../../../../pipelines/artifacts/seg/segmentation.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { RESULT } from '../example-result.ts';
import { ANONYMOUS, SUBJECT } from '../example-subject.ts';
import { asFile, dciodvfy, hasPydicom, installed, PYTHON, run } from '../programs.ts';
import { sourceImage } from '../source-image.ts';
import { cine } from './example-cine.ts';

const built = (image: SegmentedImage, form: SegmentationForm = 'binary') =>
  buildSegmentation(RESULT, SUBJECT, image, { form, number: 1 });

const SIZES = [
  [61, 81],
  [7, 3],
  [64, 48],
] as const;

const script = `
import sys, json, pydicom
ds = pydicom.dcmread(sys.argv[1])
out = {'class': ds.SOPClassUID, 'type': ds.SegmentationType, 'reference': 'FrameOfReferenceUID' in ds,
  'labels': [s.SegmentLabel for s in ds.SegmentSequence],
  'frames': [[f.SegmentIdentificationSequence[0].ReferencedSegmentNumber if 'SegmentIdentificationSequence' in f else None,
    f.DerivationImageSequence[0].SourceImageSequence[0].get('ReferencedFrameNumber')] for f in ds.PerFrameFunctionalGroupsSequence],
  'pixels': ds.pixel_array.reshape(int(ds.NumberOfFrames), ds.Rows * ds.Columns).tolist()}
json.dump(out, open(sys.argv[2], 'w'), default=int)
`;

function readBack(bytes: Buffer) {
  const answer = asFile(Buffer.alloc(0), 'json');
  const { code, output } = run(PYTHON, ['-c', script, asFile(bytes, 'dcm'), answer]);
  expect({ code, output }).toMatchObject({ code: 0 });
  return JSON.parse(readFileSync(answer, 'utf8'));
}

describe.skipIf(!hasPydicom)('pydicom reads back', () => {
  test.each(SIZES)('every bit of three segments on three frames of %i by %i', (columns, rows) => {
    const image = cine(columns, rows);
    const seen = readBack(built(image));
    expect(seen).toMatchObject({ type: 'BINARY', reference: false });
    expect(seen.frames).toEqual([1, 2, 3].flatMap((segment) => [2, 5, 9].map((f) => [segment, f])));
    const expected = image.segments.flatMap(({ frames }) =>
      frames.map(({ pixels }) => [...pixels]),
    );
    expect(seen.pixels).toEqual(expected);
  });

  test('a LABELMAP whose pixels are segment numbers', () => {
    const image = cine(61, 81);
    const seen = readBack(built(image, 'labelmap'));
    expect(seen.class).toBe('1.2.840.10008.5.1.4.1.1.66.7');
    expect(seen.labels[0]).toBe('Background');
    const expected = [0, 1, 2].map((frame) =>
      Array.from({ length: 61 * 81 }, (_, at) =>
        image.segments.reduce(
          (label, { frames }, index) => (frames[frame]?.pixels[at] ? index + 1 : label),
          0,
        ),
      ),
    );
    expect(seen.pixels).toEqual(expected);
  });

  test('overlapping segments as BINARY even if a LABELMAP was requested', () => {
    const image = cine(9, 5, true);
    const seen = readBack(built(image, 'labelmap'));
    expect(seen.type).toBe('BINARY');
    expect(seen.pixels[0]).toEqual([...(image.segments[0]?.frames[0]?.pixels ?? [])]);
  });
});

const lossy: SegmentedImage = {
  ...cine(61, 81),
  source: { ...cine(61, 81).source, lossy: { ratios: ['12.5'], methods: ['ISO_10918_1'] } },
};

/** The growth scan after a person dragged the outline of the head in a review, and signed it. */
const REVIEWED: Result = {
  ...RESULT,
  draft: false,
  verification: {
    kind: 'verified',
    revision: 1,
    signatures: [
      { observer: 'Dr Reader', organization: 'Ward', at: RESULT.generated_at, statement: null },
    ],
  },
  measurements: RESULT.measurements.map((one) =>
    one.concept.key === 'hc' ? { ...one, origin: 'person', confirmed: 'edited' } : one,
  ),
};

const OBJECTS: [string, Buffer][] = [
  ...SIZES.map(([c, r]): [string, Buffer] => [`a cine of ${c} by ${r}`, built(cine(c, r))]),
  ['a cine that was compressed with loss', built(lossy)],
  ['overlapping segments', built(cine(9, 5, true))],
  ...buildSegmentations(RESULT, SUBJECT).map((bytes, index): [string, Buffer] => [
    `image ${index + 1} of a growth scan`,
    bytes,
  ]),
  ...buildSegmentations(REVIEWED, SUBJECT).map((bytes, index): [string, Buffer] => [
    `image ${index + 1} of a signed growth scan`,
    bytes,
  ]),
];

describe.skipIf(!installed('dciodvfy'))('dciodvfy has no complaint', () => {
  test.each(OBJECTS)('about %s', (_name, bytes) => {
    expect(dciodvfy(asFile(bytes, 'dcm'))).toEqual({ code: 0, complaints: [] });
  });

  test('unless pixel data are one frame too short', () => {
    const bytes = built(cine(64, 48));
    // Changes Number of Frames (0028,0008) IS from "9 " to "8 ".
    const at = bytes.indexOf(Buffer.from([0x28, 0, 8, 0, 0x49, 0x53]));
    bytes.write('8', at + 8, 'latin1');
    expect(dciodvfy(asFile(bytes, 'dcm')).code).not.toBe(0);
  });
});

function headerOf(bytes: Buffer): NaturalDataset {
  const { dict } = data.DicomMessage.readFile(new Uint8Array(bytes).buffer);
  return data.DicomMetaDictionary.naturalizeDataset(dict);
}
const headers = (objects: readonly Buffer[]) => objects.map(headerOf);
const segmentsOf = (result: Result) =>
  headers(buildSegmentations(result, SUBJECT)).flatMap(
    ({ SegmentSequence: items }) => items as NaturalDataset[],
  );

test('an outline that a person edited is SEMIAUTOMATIC, all others are AUTOMATIC', () => {
  const types = (result: Result) =>
    segmentsOf(result).map(({ SegmentLabel: label, SegmentAlgorithmType: type }) => [label, type]);
  const labels = types(RESULT).map(([label]) => label);
  expect(labels).toContain('Fetal head');
  expect(types(RESULT)).toEqual(labels.map((label) => [label, 'AUTOMATIC']));
  expect(types(REVIEWED)).toEqual(
    labels.map((label) => [label, label === 'Fetal head' ? 'SEMIAUTOMATIC' : 'AUTOMATIC']),
  );
  // Segment Algorithm Name (0062,0009) is required unless the type is MANUAL.
  for (const { SegmentAlgorithmName: name } of segmentsOf(REVIEWED)) expect(name).toBeTruthy();
});

test('masks and presentation states of a signed result are not labelled as drafts', () => {
  const labels = (result: Result) =>
    headers([
      ...buildSegmentations(result, SUBJECT),
      ...buildPresentationStates(result, SUBJECT),
    ]).map(({ ContentLabel }) => ContentLabel);
  expect(new Set(labels(RESULT))).toEqual(new Set(['AI_DRAFT']));
  expect(new Set(labels(REVIEWED))).toEqual(new Set(['SIGNED']));
});

test('SegmentsOverlap says whether segments share a pixel, however many there are', () => {
  const overlap = (image: SegmentedImage) => headerOf(built(image)).SegmentsOverlap;
  const many = (columns: number): SegmentedImage => {
    const { source, segments } = cine(columns, 1);
    const [segment] = segments;
    if (!segment) throw new Error('no segment');
    return {
      source,
      segments: Array.from({ length: 256 }, (_, index) => ({
        ...segment,
        frames: [
          {
            frame: 2,
            pixels: Uint8Array.from({ length: columns }, (_, at) =>
              at === index % columns ? 1 : 0,
            ),
          },
        ],
      })),
    };
  };
  expect(overlap(cine(9, 5))).toBe('NO');
  expect(overlap(cine(9, 5, true))).toBe('YES');
  expect(overlap(many(256))).toBe('NO');
  expect(overlap(many(255))).toBe('YES');
});

test('more than 255 segments are written as BINARY, because a LABELMAP has 8 bits', () => {
  const { source, segments } = cine(4, 1);
  const many = Array.from({ length: 256 }, () => ({
    ...(segments[0] as Segment),
    frames: [{ frame: 2, pixels: new Uint8Array(4) }],
  }));
  const typeOf = (count: number) =>
    headerOf(built({ source, segments: many.slice(0, count) }, 'labelmap')).SegmentationType;
  expect([typeOf(255), typeOf(256)]).toEqual(['LABELMAP', 'BINARY']);
});

test('the mask records lossy compression of its source', () => {
  const said = (image: SegmentedImage) => built(image).toString('latin1').includes('ISO_10918_1');
  expect([said(lossy), said(cine(61, 81))]).toEqual([true, false]);
});

test.skipIf(!installed('dcentvfy'))('patient, study and series agree with the source image', () => {
  const files = [sourceImage(), ...buildSegmentations(RESULT, SUBJECT)];
  const { output } = run(
    'dcentvfy',
    files.map((bytes) => asFile(bytes, 'dcm')),
  );
  expect(output.match(/^Error.*/gm)).toBeNull();
});

test('our own check has no complaint, except about a type of algorithm that does not exist', () => {
  const objects = headers([
    ...buildSegmentations(REVIEWED, SUBJECT),
    ...buildSegmentations(REVIEWED, SUBJECT, 'labelmap'),
  ]);
  expect(objects.flatMap(checkSegmentation)).toEqual([]);
  const [segmentation = {}] = objects;
  const [segment, ...others] = segmentation.SegmentSequence as NaturalDataset[];
  const checked = (changes: NaturalDataset) =>
    checkSegmentation({
      ...segmentation,
      SegmentSequence: [{ ...segment, ...changes }, ...others],
    });
  expect(checked({ SegmentAlgorithmType: 'PERSON' })).toEqual([
    'segment 1 does not say how it was made',
  ]);
  expect(checked({ SegmentAlgorithmName: '' })).toEqual(['segment 1 names no algorithm']);
  expect(checked({ SegmentAlgorithmType: 'MANUAL', SegmentAlgorithmName: '' })).toEqual([]);
});

describe('a separate object', () => {
  test('is created for each image and form, and is the same when it is created again', () => {
    const [binary, labelmap] = [built(cine(9, 5)), built(cine(9, 5), 'labelmap')];
    expect(built(cine(9, 5))).toEqual(binary);
    expect(labelmap).not.toEqual(binary);
    const copies = [
      ...buildSegmentations(RESULT, SUBJECT),
      ...buildSegmentations(RESULT, ANONYMOUS),
      ...buildSegmentations(RESULT, SUBJECT, 'labelmap'),
    ];
    expect(new Set(copies.map((bytes) => bytes.toString('latin1'))).size).toBe(copies.length);
  });

  test('a mask of another size is refused', () => {
    const image = cine(9, 5);
    const wrong = { ...image, source: { ...image.source, rows: 6 } };
    expect(() => built(wrong)).toThrow(RangeError);
  });
});
