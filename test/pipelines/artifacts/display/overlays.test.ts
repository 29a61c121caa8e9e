import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import type { Overlays } from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import { writeDisplay } from '../../../../pipelines/artifacts/display/write-display.ts';
import { createShownFrames } from '../../../../pipelines/artifacts/previews/shown-frames.ts';
import { outlinedStructures } from '../../../../pipelines/artifacts/seg/outlined-structures.ts';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import { INTERGROWTH_CURVES } from '../../../../pipelines/obstetric/growth/curves.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { AC, HC, OFD_NOT_ACCEPTED } from '../example-measurements.ts';
import { RESULT } from '../example-result.ts';
import { SUBJECT } from '../example-subject.ts';
import { overlaysSchema } from './overlay-schema.ts';
import { COLUMNS, ROWS, sampleClip } from './sample-clip.ts';

const HEAD = sampleClip('head.dcm', 1);
const ABDOMEN = sampleClip('abdomen.dcm', 9, { sopInstanceUid: '2.25.2002' });
const FEMUR = sampleClip('femur.dcm', 1, { sopInstanceUid: '2.25.2003' });

interface Shown {
  overlays: Overlays;
  files: Map<string, Buffer>;
}

async function shownOf(
  clips: readonly Clip[],
  result: Result = RESULT,
  wholeFrames = false,
): Promise<Shown> {
  const files = new Map<string, Buffer>();
  await writeDisplay(
    {
      result,
      study: { clips, refused: [], files: clips.length, series: 1 },
      shown: createShownFrames(wholeFrames),
      gaDays: 196,
      curves: INTERGROWTH_CURVES,
    },
    async (name, _, content) => {
      files.set(name, content);
    },
  );
  const text = files.get('overlays.json')?.toString() ?? '';
  return { overlays: overlaysSchema.parse(JSON.parse(text)), files };
}

const withData = (section: string, data: Record<string, unknown>): Result => ({
  ...RESULT,
  sections: [
    {
      id: section,
      title: section,
      status: 'complete',
      reason: null,
      summary: '',
      data,
      artifacts: [],
    },
  ],
});

describe('measurements of a clip', () => {
  test('are drawn where the result has them, with value, unit, concept and section', async () => {
    const { overlays } = await shownOf([HEAD, ABDOMEN, FEMUR]);
    const drawn = overlays.clips.flatMap(({ calipers }) => calipers);
    const calipers = RESULT.measurements.filter(({ source }) => source.calipers.length > 0);
    expect(drawn).toHaveLength(calipers.length);
    for (const one of calipers) {
      expect(drawn.find(({ measurement }) => measurement === one.id)).toMatchObject({
        section: one.section,
        concept: one.concept.key,
        value: one.value,
        unit: one.unit,
        frame: one.source.frame,
        shapes: one.source.calipers,
      });
    }
  });

  test('that were not accepted are drawn, but without their number', async () => {
    const { overlays } = await shownOf([HEAD]);
    const ofd = overlays.clips[0]?.calipers.find(
      ({ measurement }) => measurement === OFD_NOT_ACCEPTED.id,
    );
    expect(ofd).toMatchObject({ quality: 'low', text: 'OFD not accepted' });
  });

  test('have masks with the same pixels as the DICOM Segmentation', async () => {
    const { overlays } = await shownOf([HEAD, ABDOMEN, FEMUR]);
    const segments = outlinedStructures(RESULT, SUBJECT).flatMap(({ segments: own }) => own);
    const masks = overlays.clips.flatMap((clip) => clip.masks);
    expect(masks.map(({ measurement }) => measurement)).toEqual([HC.id, AC.id]);
    for (const [index, mask] of masks.entries()) {
      const painted = new Uint8Array(COLUMNS * ROWS);
      for (const [row, first, last] of mask.runs) {
        painted.fill(1, row * COLUMNS + first, row * COLUMNS + last + 1);
      }
      const segment = segments[index];
      expect(segment?.label.replace(/, frame \d+$/, '')).toBe(mask.label);
      expect(mask.frame).toBe(segment?.frames[0]?.frame);
      expect(Buffer.from(painted).equals(segment?.frames[0]?.pixels ?? Buffer.alloc(0))).toBe(true);
    }
  });
});

describe('key frames', () => {
  test('are the frames with calipers, or the middle frame of a clip without any', async () => {
    const other = sampleClip('other.dcm', 4);
    const { overlays } = await shownOf([HEAD, ABDOMEN, other]);
    expect(
      overlays.clips.map(({ key_frames: frames }) =>
        frames.map(({ frame, time, artifact, sections }) => [frame, time, artifact, sections]),
      ),
    ).toEqual([
      [[1, 0, 'key-frame-1.jpg', ['biometry']]],
      [[5, 0.2, 'key-frame-2.jpg', ['biometry']]],
      [[3, 0.1, 'key-frame-3.jpg', []]],
    ]);
  });

  test('include the best frame of a plane, with the name of that plane', async () => {
    const result = withData('planes', {
      key_frames: [{ file: 'abdomen.dcm', frame: 2, plane: 'abdominal' }],
      frames: [
        { file: 'abdomen.dcm', frame: 1, plane: 'other' },
        { file: 'abdomen.dcm', frame: 2, plane: 'abdominal' },
      ],
    });
    const { overlays } = await shownOf([ABDOMEN], { ...result, measurements: [] });
    expect(overlays.clips[0]).toMatchObject({
      view: 'abdominal',
      key_frames: [{ frame: 2, view: 'abdominal', sections: ['planes'] }],
    });
  });

  test("are JPEGs of the frame's size, scaled down to 1024 pixels if larger", async () => {
    const large = { ...HEAD, width: 1280, height: 960 };
    const data = new Uint8Array(3 * 1280 * 960).fill(90);
    const rgb = async () => ({ width: 1280, height: 960, data });
    const frames = large.frames.map((frame) => ({ ...frame, rgb }));
    for (const [clip, width, height] of [
      [HEAD, 640, 480],
      [{ ...large, frames }, 1024, 768],
    ] as const) {
      const { overlays, files } = await shownOf([clip]);
      const { format, ...size } = await sharp(files.get('key-frame-1.jpg')).metadata();
      expect({ format, width: size.width, height: size.height }).toEqual({
        format: 'jpeg',
        width,
        height,
      });
      expect(overlays.clips[0]?.key_frames[0]).toMatchObject({ width, height });
    }
  });
});

describe('cines', () => {
  test('contain each frame as a JPEG at its position, with its time', async () => {
    const { overlays, files } = await shownOf([ABDOMEN]);
    const cine = overlays.clips[0]?.cine;
    const bytes = files.get('cine-1.mjpeg') ?? Buffer.alloc(0);
    expect(cine).toMatchObject({ artifact: 'cine-1.mjpeg', width: 640, height: 480, timed: true });
    expect(cine?.frames.map(({ frame }) => frame)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(cine?.frames.map(({ time }) => time)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => n / 20),
    );
    for (const { offset, bytes: length } of cine?.frames ?? []) {
      const jpeg = bytes.subarray(offset, offset + length);
      expect(await sharp(jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 640 });
    }
    const last = cine?.frames.at(-1);
    expect((last?.offset ?? 0) + (last?.bytes ?? 0)).toBe(bytes.length);
  });

  test('of a file without times count frames, and state this', async () => {
    const { overlays } = await shownOf([{ ...ABDOMEN, timing: 'none' }]);
    expect(overlays.clips[0]?.cine).toMatchObject({
      timed: false,
      frames: { 1: { time: 1 / 25 } },
    });
  });

  test('are not made of stills or of clips on which nothing was measured', async () => {
    const { files } = await shownOf([HEAD, sampleClip('other.dcm', 4)]);
    expect([...files.keys()].filter((name) => name.startsWith('cine'))).toEqual([]);
  });
});

describe('of a heart', () => {
  const square = (side: number): [number, number][] => [
    [0, 0],
    [side, 0],
    [side, side],
    [0, side],
  ];
  const result = withData('segment-chambers', {
    clips: [
      {
        file: 'abdomen.dcm',
        beats: [{ end_diastole_frame: 2, end_systole_frame: 6 }],
        outlines: [
          { frame: 1, faults: [], lv: square(8), la: square(4) },
          { frame: 2, faults: ['area-jump'], lv: square(6) },
        ],
      },
    ],
  });

  test('contours of every outlined frame, and whether they were measured; end-diastole and -systole', async () => {
    const { overlays } = await shownOf([ABDOMEN], { ...result, measurements: [] });
    const [clip] = overlays.clips;
    expect(clip?.beats).toEqual([{ end_diastole: 2, end_systole: 6 }]);
    expect(
      clip?.contours.map(({ frame, structure, measured, points }) => [
        frame,
        structure,
        measured,
        points,
      ]),
    ).toEqual([
      [
        1,
        'lv',
        true,
        [
          [0, 0],
          [8, 8],
        ],
      ],
      [
        1,
        'la',
        true,
        [
          [0, 0],
          [4, 4],
        ],
      ],
      [
        2,
        'lv',
        false,
        [
          [0, 0],
          [6, 6],
        ],
      ],
    ]);
    expect(clip?.cine?.frames.map(({ frame }) => frame)).toEqual([1, 2]);
  });
});

describe('of a Doppler spectrum', () => {
  const trace = {
    frame: 1,
    side: 'above' as const,
    baseline_row: 350,
    points: [
      [50, 350],
      [51, 310],
    ] as [number, number][],
    beats: [50],
  };

  test.each([
    ['doppler', { vessel: 'umbilical-artery' }, 'umbilical-artery'],
    ['views', { shows: 'mitral-inflow' }, 'mitral-inflow'],
  ])('the trace that %s lists, and what it shows', async (section, named, view) => {
    const result = withData(section, { spectra: [{ file: 'head.dcm', ...named, trace }] });
    const { overlays } = await shownOf([HEAD], { ...result, measurements: [] });
    expect(overlays.clips[0]).toMatchObject({ view, traces: [{ section, ...trace }] });
  });

  test('one that was not traced has none', async () => {
    const result = withData('views', {
      spectra: [{ file: 'head.dcm', shows: null, trace: null }],
    });
    const { overlays } = await shownOf([HEAD], { ...result, measurements: [] });
    expect(overlays.clips[0]).toMatchObject({ view: null, traces: [] });
  });
});

describe('growth', () => {
  test('has the curves of the chart, on which each value is plotted', async () => {
    const { overlays } = await shownOf([HEAD]);
    expect(overlays.growth?.ga_days).toBe(196);
    const hc = overlays.growth?.charts.find(({ concept }) => concept === 'hc');
    expect(hc?.measured).toEqual([
      { measurement: HC.id, fetus: null, weeks: 28, value: HC.value, centile: 58.9 },
    ]);
    const at28 = hc?.curves.map(({ centile, points }) => [
      centile,
      points.find(([weeks]) => weeks === 28)?.[1].toFixed(1),
    ]);
    // Papageorghiou et al., Lancet 2014, HC table.
    expect(at28).toEqual([
      [3, '243.6'],
      [10, '248.9'],
      [50, '260.4'],
      [90, '271.8'],
      [97, '277.2'],
    ]);
  });

  test('is omitted if no value belongs to a chart', async () => {
    const { overlays } = await shownOf([HEAD], { ...RESULT, measurements: [OFD_NOT_ACCEPTED] });
    expect(overlays.growth).toBeNull();
  });
});

describe('a name burned in outside the picture', () => {
  test('changes no byte of key frames, cines or overlays', async () => {
    const [plain, named] = await Promise.all(
      [false, true].map((is) => shownOf([sampleClip('abdomen.dcm', 9, { named: is })])),
    );
    expect([...(named?.files.keys() ?? [])]).toEqual([
      'key-frame-1.jpg',
      'cine-1.mjpeg',
      'overlays.json',
    ]);
    for (const [name, bytes] of named?.files ?? []) {
      expect({ name, same: bytes.equals(plain?.files.get(name) ?? Buffer.alloc(0)) }).toEqual({
        name,
        same: true,
      });
    }
  });

  test('would change them if the site required whole frames', async () => {
    const [plain, named] = await Promise.all(
      [false, true].map((is) =>
        shownOf([sampleClip('abdomen.dcm', 9, { named: is })], RESULT, true),
      ),
    );
    const [one, other] = [plain, named].map((shown) => shown?.files.get('cine-1.mjpeg'));
    expect(one?.equals(other ?? Buffer.alloc(0))).toBe(false);
  });
});
