import { describe, expect, test } from 'vitest';
import type { Overlays } from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import { writeDisplay } from '../../../../pipelines/artifacts/display/write-display.ts';
import { createShownFrames } from '../../../../pipelines/artifacts/previews/shown-frames.ts';
import { outlinedStructures } from '../../../../pipelines/artifacts/seg/outlined-structures.ts';
import { buildSegmentations } from '../../../../pipelines/artifacts/seg/segmentation.ts';
import type { Measurement, Result } from '../../../../pipelines/result/envelope.ts';
import type { LocatedStructure } from '../../../../pipelines/result/measured.ts';
import { overlaysSchema } from '../display/overlay-schema.ts';
import { sampleClip } from '../display/sample-clip.ts';
import { AC, HC } from '../example-measurements.ts';
import { RESULT } from '../example-result.ts';
import { SUBJECT } from '../example-subject.ts';

/**
 * Returns a structure on the first frame of head.dcm. By default it is a square of 11 by 11 pixels.
 */
const listed = (changes: Partial<LocatedStructure>): LocatedStructure => ({
  file: 'head.dcm',
  sop_instance_uid: '2.25.2001',
  frame: 1,
  structure: 'symphysis',
  confidence: 0.9,
  accepted: true,
  place: {
    type: 'polygon',
    points: [
      [100, 100],
      [110.5, 100],
      [110.5, 110.5],
      [100, 110.5],
    ],
  },
  ...changes,
});

const CIRCLE = {
  type: 'ellipse',
  points: [
    [200, 200],
    [300, 200],
    [250, 150],
    [250, 250],
  ],
} as const satisfies { type: 'ellipse'; points: [number, number][] };

function resultWith(
  section: string,
  structures: LocatedStructure[],
  measurements: Measurement[] = [],
): Result {
  const data = { structures };
  const own = {
    id: section,
    title: section,
    status: 'complete',
    reason: null,
    summary: '',
  } as const;
  return { ...RESULT, measurements, sections: [{ ...own, data, artifacts: [] }] };
}

async function overlaysOf(result: Result, regions?: []): Promise<Overlays> {
  const clip = sampleClip('head.dcm', 1, regions && { regions });
  let text = '';
  await writeDisplay(
    {
      result,
      study: { clips: [clip], refused: [], files: 1, series: 1 },
      shown: createShownFrames(),
      gaDays: null,
      curves: [],
    },
    async (name, _, content) => {
      if (name === 'overlays.json') text = content.toString();
    },
  );
  return overlaysSchema.parse(JSON.parse(text));
}

describe('symphysis and fetal head', () => {
  const both = resultWith('labor-progress', [
    listed({}),
    listed({ structure: 'fetal-head', place: CIRCLE }),
  ]);

  test('become masks and contours in overlays.json, even without a measurement or a scale', async () => {
    const [clip] = (await overlaysOf(both, [])).clips;
    expect(clip?.scales).toEqual([]);
    expect(
      clip?.masks.map(({ label, measurement, section }) => [label, measurement, section]),
    ).toEqual([
      ['Pubic symphysis', null, 'labor-progress'],
      ['Fetal head', null, 'labor-progress'],
    ]);
    expect(clip?.masks[0]?.runs[0]).toEqual([100, 100, 110]);
    expect(clip?.contours.map(({ structure, measured }) => [structure, measured])).toEqual([
      ['symphysis', true],
      ['fetal-head', true],
    ]);
    expect(clip?.structures).toMatchObject([
      { structure: 'symphysis', label: 'Pubic symphysis', type: 'polygon', accepted: true },
      { structure: 'fetal-head', label: 'Fetal head', type: 'ellipse' },
    ]);
  });

  test('become coded segments of the DICOM Segmentation, with the pixels of the masks', () => {
    const [image] = outlinedStructures(both, SUBJECT);
    expect(image?.source.file).toBe('head.dcm');
    expect(image?.segments.map(({ label, type }) => [label, type.scheme, type.code])).toEqual([
      ['Pubic symphysis', 'SCT', '82561000'],
      ['Fetal head', 'SCT', '69536005'],
    ]);
    const area = (at: number) =>
      image?.segments[at]?.frames[0]?.pixels.reduce((sum, pixel) => sum + pixel, 0);
    expect(area(0)).toBe(11 * 11);
    expect((area(1) ?? 0) / (Math.PI * 50 * 50)).toBeCloseTo(1, 2);
    expect(buildSegmentations(both, SUBJECT)).toHaveLength(1);
  });

  test.each([
    ['accepted', true, 1, true],
    ['below its gate', false, 0, false],
  ])('are listed if %s, and become a mask: %s', async (_, accepted, masks, measured) => {
    const result = resultWith('labor-progress', [listed({ accepted })]);
    const [clip] = (await overlaysOf(result)).clips;
    expect(clip?.structures).toMatchObject([{ accepted }]);
    expect(clip?.masks).toHaveLength(masks);
    expect(clip?.contours).toMatchObject([{ measured }]);
    expect(outlinedStructures(result, SUBJECT)).toHaveLength(masks);
  });

  test('do not become a Segmentation if their file is not a DICOM image', () => {
    const png = resultWith('labor-progress', [
      listed({ file: 'scan.png', sop_instance_uid: null }),
    ]);
    expect(outlinedStructures(png, SUBJECT)).toEqual([]);
  });
});

describe('structures without a closed border', () => {
  test('such as a box and a femur are listed by name, without mask or contour', async () => {
    const points: [number, number][] = [
      [10, 10],
      [40, 30],
    ];
    const result = resultWith('nt', [
      listed({ structure: 'nuchal-translucency', place: { type: 'rectangle', points } }),
      listed({ structure: 'fetal-femur', place: { type: 'line', points } }),
    ]);
    const [clip] = (await overlaysOf(result)).clips;
    expect(clip?.structures).toMatchObject([
      { label: 'Nuchal translucency', type: 'rectangle', points },
      { label: 'Fetal femur', type: 'line', points },
    ]);
    expect([clip?.masks, clip?.contours]).toEqual([[], []]);
    expect(outlinedStructures(result, SUBJECT)).toEqual([]);
  });
});

describe('the labels of the segments of one image', () => {
  const onFrame = (of: Measurement, id: string, frame: number): Measurement => ({
    ...of,
    id,
    source: { ...of.source, frame },
  });

  test('state the frame of a cine, so all of them differ', () => {
    const cine = [onFrame(AC, 'ac-1', 2), onFrame(AC, 'ac-2', 5)];
    const [image] = outlinedStructures({ ...RESULT, measurements: cine }, SUBJECT);
    expect(image?.segments.map(({ label }) => label)).toEqual([
      'Fetal abdomen, frame 2',
      'Fetal abdomen, frame 5',
    ]);
  });

  test('of a heart are those of the value, which state view and phase', () => {
    const chamber = (key: string, label: string, frame: number): Measurement => ({
      ...onFrame(AC, key, frame),
      label,
      concept: { ...AC.concept, key },
    });
    const measurements = [
      chamber('lv-ed-area-4c', 'LV area, end-diastolic, A4C', 1),
      chamber('lv-es-area-4c', 'LV area, end-systolic, A4C', 2),
    ];
    const [image] = outlinedStructures({ ...RESULT, measurements }, SUBJECT);
    expect(image?.segments.map(({ label }) => label)).toEqual([
      'LV area, end-diastolic, A4C, frame 1',
      'LV area, end-systolic, A4C, frame 2',
    ]);
  });

  test('are numbered if two structures on one still have the same name', () => {
    const twice = [HC, { ...HC, id: 'hc-2' }];
    const [image] = outlinedStructures({ ...RESULT, measurements: twice }, SUBJECT);
    expect(image?.segments.map(({ label }) => label)).toEqual(['Fetal head', 'Fetal head (2)']);
  });
});
