import { afterEach, describe, expect, it, vi } from 'vitest';
import type {
  FlowTrace,
  OverlayClip,
  Overlays,
  Position,
  Shape,
} from '../../../../../../pipelines/artifacts/display/overlay-contract.ts';
import { bullsEye } from '../../../../../../pipelines/artifacts/drawing/bulls-eye.ts';
import {
  lit,
  moved,
  UNCHANGED,
  zoomedAt,
} from '../../../../../../src/doors/console/pages/adjustment.ts';
import {
  middleOf,
  SEGMENTS,
  sectorOf,
  segmentValues,
} from '../../../../../../src/doors/console/pages/bulls-eye.ts';
import {
  displayMilliseconds,
  firstFrame,
  framesOf,
  phaseText,
  stepped,
} from '../../../../../../src/doors/console/pages/cine.ts';
import { traceContent } from '../../../../../../src/doors/console/pages/doppler-trace.ts';
import { ImageViewer } from '../../../../../../src/doors/console/pages/image-viewer.ts';
import {
  ellipseOf,
  pathOf,
  placeMarks,
  runsPath,
} from '../../../../../../src/doors/console/pages/overlay-drawing.ts';
import { aligned } from '../../../../../../src/doors/console/pages/plot-content.ts';
import {
  dragged,
  handlesOf,
  insideFrame,
} from '../../../../../../src/doors/console/pages/shape-editing.ts';
import { inWords } from '../../../../../../src/doors/console/pages/study.ts';

const frameOfCine = (frame: number, time: number) => ({ frame, time, offset: 0, bytes: 1 });
const keyFrame = (frame: number, sections: string[] = []) => ({
  frame,
  time: frame / 10,
  artifact: 'key-frame-1.jpg',
  width: 10,
  height: 10,
  sections,
  view: null,
});

const CINE = {
  artifact: 'cine-1.mjpeg',
  width: 10,
  height: 10,
  timed: true,
  frames: [frameOfCine(1, 0), frameOfCine(2, 0.05), frameOfCine(3, 0.3)],
};

const CLIP: OverlayClip = {
  file: 'object-0001.dcm',
  view: 'A4C',
  mode: '2d',
  columns: 800,
  rows: 600,
  frames: 20,
  scales: [],
  sweeps: [],
  beats: [{ end_diastole: 2, end_systole: 3 }],
  key_frames: [keyFrame(9), keyFrame(3, ['lvef'])],
  cine: CINE,
  calipers: [],
  contours: [],
  masks: [],
  structures: [],
  traces: [],
};

const shape = (type: Shape['type'], ...points: Position[]) => ({ shapes: [{ type, points }] });

describe("a clip's frames", () => {
  it('are those of the cine and the separate key frames, each once and in order', () => {
    expect(framesOf(CLIP).map(({ frame }) => frame)).toEqual([1, 2, 3, 9]);
  });

  it('begin with the first measured one', () => {
    expect(firstFrame(CLIP)).toBe(3);
    expect(firstFrame({ ...CLIP, key_frames: [] })).toBe(1);
  });

  it('wrap around in both directions', () => {
    const frames = framesOf(CLIP);
    expect(stepped(frames, 9, 1)).toBe(1);
    expect(stepped(frames, 1, -1)).toBe(9);
  });

  it('are shown for the time between them', () => {
    expect(displayMilliseconds(framesOf(CLIP), 2)).toBeCloseTo(250);
    expect(displayMilliseconds(framesOf(CLIP), 9)).toBeCloseTo(40);
  });

  it('state their cardiac phase', () => {
    expect(phaseText(CLIP, 2)).toBe('end-diastole');
    expect(phaseText(CLIP, 3)).toBe('end-systole');
    expect(phaseText(CLIP, 1)).toBe('');
  });
});

describe('what is drawn over an image', () => {
  it('is an ellipse centred on the middle of its axes', () => {
    const found = ellipseOf([
      [0, 10],
      [20, 10],
      [10, 5],
      [10, 15],
    ]);
    expect(found).toEqual({ cx: 10, cy: 10, rx: 10, ry: 5, turn: 0 });
    expect(ellipseOf([[0, 0]])).toBeNull();
  });

  it('is a closed path only for an outline', () => {
    expect(
      pathOf(
        [
          [1, 2],
          [3, 4],
        ],
        true,
      ),
    ).toBe('M1 2L3 4Z');
    expect(
      pathOf(
        [
          [1, 2],
          [3, 4],
        ],
        false,
      ),
    ).toBe('M1 2L3 4');
    expect(pathOf([], true)).toBe('');
  });

  it('covers whole pixels of a mask', () => {
    expect(runsPath([[5, 2, 4]])).toBe('M1.5 4.5h3v1h-3z');
  });

  it('has numbers beyond the ends of its calipers, outside the measured head', () => {
    const head = shape('ellipse', [200, 300], [600, 300], [400, 150], [400, 450]);
    const marks = placeMarks(
      [head, shape('line', [200, 300], [600, 300]), shape('line', [400, 150], [400, 450])],
      CLIP,
    );
    expect(marks.map(({ number }) => number)).toEqual([1, 2, 3]);
    for (const { x, y } of marks) {
      expect(((x - 400) / 200) ** 2 + ((y - 300) / 150) ** 2).toBeGreaterThan(1);
    }
  });

  it('has numbers that do not overlap and stay inside the image', () => {
    const line = (y: number) => shape('line', [10, y], [790, y]);
    const marks = placeMarks([line(300), line(302), line(598)], CLIP);
    const [first, second] = marks;
    const apart = Math.hypot(
      (first?.x ?? 0) - (second?.x ?? 0),
      (first?.y ?? 0) - (second?.y ?? 0),
    );
    expect(apart).toBeGreaterThan(600 * 0.03);
    const short = placeMarks([shape('line', [700, 300], [799, 300])], CLIP);
    expect(short[0]?.x).toBeLessThan(700);
  });

  it('has numbers beside the calipers, not on them, if several are in one line', () => {
    const wall = (from: number, to: number) => shape('line', [400, from], [400, to]);
    const marks = placeMarks([wall(100, 150), wall(150, 400), wall(400, 440)], CLIP);
    expect(marks.every(({ x, y }) => Math.abs(x - 400) > 12 || y < 88 || y > 452)).toBe(true);
  });
});

describe('a shape that a person corrects', () => {
  it('is a line with one end moved', () => {
    const [line] = shape('line', [1, 2], [3, 4]).shapes;
    expect(line && dragged(line, 1, [9, 8]).points).toEqual([
      [1, 2],
      [9, 8],
    ]);
  });

  it.each([
    [1, [620, 300]],
    [2, [400, 100]],
    [0, [190, 280]],
  ] as const)('is an ellipse whose axes bisect each other, end %d', (index, to) => {
    const [ellipse] = shape('ellipse', [200, 300], [600, 300], [400, 150], [400, 450]).shapes;
    if (!ellipse) throw new Error('no ellipse');
    const after = dragged(ellipse, index, [...to]);
    expect(after.points[index]).toEqual(to);
    expect(after.points[index ^ 1]).toEqual(ellipse.points[index ^ 1]);
    const [a, b, c, d] = after.points as [Position, Position, Position, Position];
    expect((a[0] + b[0]) / 2).toBeCloseTo((c[0] + d[0]) / 2);
    expect((a[1] + b[1]) / 2).toBeCloseTo((c[1] + d[1]) / 2);
    expect((b[0] - a[0]) * (d[0] - c[0]) + (b[1] - a[1]) * (d[1] - c[1])).toBeCloseTo(0);
    // The other axis keeps its length.
    const kept = index < 2 ? [c, d, 300] : [a, b, 400];
    const [p, q, length] = kept as [Position, Position, number];
    expect(Math.hypot(q[0] - p[0], q[1] - p[1])).toBeCloseTo(length);
  });

  it('is an outline whose neighbouring points follow, while its far side stays', () => {
    const circle = Array.from({ length: 40 }, (_, n): Position => {
      const angle = (2 * Math.PI * n) / 40;
      return [400 + 100 * Math.cos(angle), 300 + 100 * Math.sin(angle)];
    });
    const [outline] = shape('polygon', ...circle).shapes;
    const after = outline ? dragged(outline, 0, [540, 300]).points : [];
    expect(after[0]).toEqual([540, 300]);
    expect(after[39]?.[0]).toBeGreaterThan(circle[39]?.[0] ?? 0);
    expect(after[20]).toEqual(circle[20]);
    expect(outline && handlesOf(outline).length).toBeLessThanOrEqual(16);
  });

  it('stays inside its frame', () => {
    expect(insideFrame([-5, 900], CLIP)).toEqual([0, 599]);
  });
});

describe('the images of a study', () => {
  const HEAD = {
    ...CLIP,
    file: 'object-0002.dcm',
    view: 'head',
    key_frames: [keyFrame(1, ['hc'])],
  };
  const viewerOf = (clips: OverlayClip[]) =>
    new ImageViewer({
      ...{ requestId: 'req_1', clips, redraw: () => undefined, name: 'images' },
      sections: [
        { id: 'hc', title: 'Biometry' },
        { id: 'nt', title: 'NT' },
      ],
    });

  afterEach(() => vi.useRealTimers().unstubAllGlobals());

  it('are listed by section, with their numbers in the study', () => {
    vi.stubGlobal('requestAnimationFrame', () => 0);
    const viewer = viewerOf([CLIP, HEAD]);
    expect(viewer.sections.map(({ title }) => title)).toEqual(['Biometry']);
    viewer.list('hc');
    expect(viewer.listed).toEqual([HEAD]);
    expect(viewer.clip && viewer.numberOf(viewer.clip)).toBe(2);
    viewer.list(null);
    expect(viewer.listed).toHaveLength(2);
  });

  it('are listed whole if an image outside the chosen section is shown for comparison', () => {
    vi.stubGlobal('requestAnimationFrame', () => 0);
    const plane = (file: string, view: string, section: string) => ({
      ...{ ...HEAD, file, view },
      key_frames: [keyFrame(1, [section])],
    });
    const clips = [
      plane('1.dcm', 'head', 'hc'),
      plane('2.dcm', 'abdomen', 'hc'),
      plane('3.dcm', 'profile', 'nt'),
      plane('4.dcm', 'profile', 'nt'),
      plane('5.dcm', 'abdomen', 'nt'),
    ];
    const viewer = viewerOf(clips);
    viewer.list('hc');
    viewer.showLike('abdomen');
    expect([viewer.clip?.file, viewer.section]).toEqual(['2.dcm', 'hc']);
    viewer.showLike('profile');
    expect([viewer.clip?.file, viewer.section]).toEqual(['3.dcm', null]);
    viewer.turn(-1);
    expect(viewer.clip?.file).toBe('2.dcm');
    viewer.list('nt');
    viewer.showLike('abdomen');
    expect([viewer.clip?.file, viewer.section]).toEqual(['5.dcm', 'nt']);
  });

  it('report a picture that cannot be loaded, but not on the clip that is shown by then', async () => {
    vi.stubGlobal('requestAnimationFrame', () => 0);
    const { promise, reject } = Promise.withResolvers<Response>();
    vi.stubGlobal('fetch', () => promise);
    const [first, second] = [CLIP, { ...CLIP, file: 'object-0003.dcm' }];
    const viewer = viewerOf([first, second]);
    viewer.canvas = {
      getContext: () => ({ clearRect: () => undefined }),
    } as unknown as HTMLCanvasElement;
    const drawing = viewer.draw(first, 3);
    viewer.open(second);
    viewer.playOrPause();
    reject(new Error('HTTP 404'));
    await drawing;
    expect([viewer.problem, viewer.isPlaying]).toEqual([null, true]);
    viewer.open(first);
    viewer.playOrPause();
    await viewer.draw(first, 3);
    expect([viewer.problem, viewer.isPlaying]).toEqual(['HTTP 404', false]);
    viewer.close();
  });

  it('play as quickly as the reader chooses', async () => {
    vi.useFakeTimers();
    vi.stubGlobal('fetch', async () => new Response('jpeg'));
    vi.stubGlobal('createImageBitmap', async () => ({ close: () => undefined }));
    const framesIn = async (speed: number, milliseconds: number) => {
      const frames = Array.from({ length: 50 }, (_, n) => frameOfCine(n + 1, n / 10));
      const viewer = viewerOf([{ ...CLIP, key_frames: [], cine: { ...CINE, frames } }]);
      viewer.canvas = { getContext: () => null } as unknown as HTMLCanvasElement;
      if (viewer.clip) await viewer.draw(viewer.clip, 1);
      viewer.speed = speed;
      viewer.playOrPause();
      await vi.advanceTimersByTimeAsync(milliseconds);
      viewer.close();
      return viewer.frame - 1;
    };
    expect([await framesIn(1, 1050), await framesIn(2, 1050), await framesIn(0.5, 1050)]).toEqual([
      10, 21, 5,
    ]);
  });
});

describe('an enlarged image', () => {
  it('keeps the point under the pointer in place, and can be shown whole again', () => {
    const large = zoomedAt(UNCHANGED, 2, { x: 50, y: -20 });
    expect(large).toMatchObject({ scale: 2, x: -50, y: 20 });
    expect(zoomedAt(large, 0.1)).toEqual(UNCHANGED);
  });

  it('can be moved only while it is enlarged', () => {
    expect(moved(UNCHANGED, { x: 5, y: 5 })).toEqual(UNCHANGED);
    expect(moved({ ...UNCHANGED, scale: 2 }, { x: 5, y: 6 })).toMatchObject({ x: 5, y: 6 });
  });

  it('is never entirely black or white', () => {
    const dark = lit(UNCHANGED, { x: -10_000, y: 10_000 });
    expect([dark.contrast, dark.brightness]).toEqual([0.2, 0.2]);
  });
});

describe("the bull's-eye", () => {
  it('places each value as the report does', () => {
    const segments = Array.from({ length: SEGMENTS }, (_, index) => ({
      segment: index + 1,
      name: `segment ${index + 1}`,
      strain: -(index + 1),
    }));
    const section = {
      id: 'lv-strain',
      title: '',
      status: 'complete' as const,
      reason: null,
      summary: '',
      data: { segments },
      artifacts: [],
    };
    const drawing = bullsEye({ sections: [section] });
    const labels = new Map(
      drawing?.marks.flatMap((mark) => (mark.kind === 'label' ? [[mark.text, mark.at]] : [])),
    );
    const centre = labels.get(`−${SEGMENTS}.0`);
    const basal = labels.get('−1.0');
    const radius = ((centre?.y ?? 0) - (basal?.y ?? 0)) / -middleOf(sectorOf(1))[1];
    for (let segment = 1; segment <= SEGMENTS; segment += 1) {
      const there = labels.get(`−${segment}.0`);
      const [x, y] = middleOf(sectorOf(segment));
      expect(((there?.x ?? 0) - (centre?.x ?? 0)) / radius, `segment ${segment}`).toBeCloseTo(x);
      expect(((there?.y ?? 0) - (centre?.y ?? 0)) / radius, `segment ${segment}`).toBeCloseTo(y);
    }
  });

  it('omits segments without a value', () => {
    const data = {
      segments: [{ segment: 1, name: 'basal', score: 1 }, { segment: 2, score: null }, null],
    };
    expect(segmentValues(data, 'score')).toEqual([{ segment: 1, name: 'basal', value: 1 }]);
    expect(segmentValues({}, 'score')).toEqual([]);
  });
});

describe('a traced flow', () => {
  const trace: FlowTrace = {
    frame: 1,
    section: 'doppler',
    side: 'above',
    baseline_row: 100,
    points: [
      [10, 100],
      [11, 80],
    ],
    beats: [11],
  };
  const sweep = {
    kind: 'pw' as const,
    area: { min_x: 10, min_y: 0, max_x: 110, max_y: 200 },
    seconds_per_pixel: 0.01,
    value_per_pixel: 0.5,
    unit: 'cm/s' as const,
    zero_row: 100,
    direction: 'up' as const,
  };

  it('is in seconds and in the unit of its axis, relative to its baseline', () => {
    const content = traceContent({ ...CLIP, sweeps: [sweep] }, trace);
    expect(content?.series[0]?.points).toEqual([
      [0, 0],
      [0.01, 10],
    ]);
    expect(content?.marks).toEqual([0.01]);
  });

  it("points down if the display's values increase downwards", () => {
    const content = traceContent({ ...CLIP, sweeps: [{ ...sweep, direction: 'down' }] }, trace);
    expect(content?.series[0]?.points[1]).toEqual([0.01, -10]);
  });

  it('is not drawn if the display has no scale', () => {
    expect(
      traceContent({ ...CLIP, sweeps: [{ ...sweep, value_per_pixel: null }] }, trace),
    ).toBeNull();
    expect(traceContent(CLIP, trace)).toBeNull();
  });
});

describe('what an image shows', () => {
  const names = { 'tricuspid-regurgitation': 'tricuspid regurgitation', rvot: 'RVOT' };
  const shown = (view: string | null, sides: Record<string, 'left' | 'right'> = {}) => {
    const clip = { ...CLIP, view, key_frames: [{ ...keyFrame(3), view }] };
    const overlays = { schema: 'sonogate.overlays/1', draft: true, clips: [clip], growth: null };
    const [worded] = inWords(overlays as Overlays, { viewNames: names, sides }).clips;
    expect(worded?.key_frames[0]?.view).toBe(worded?.view);
    return worded?.view;
  };

  it.each([
    ['tricuspid-regurgitation', 'Tricuspid regurgitation'],
    ['rvot', 'RVOT'],
  ])('is %s in the result and %s on the page', (id, words) => {
    expect(shown(id)).toBe(words);
  });

  it('has the side of a paired vessel', () => {
    expect(shown('rvot', { [CLIP.file]: 'left' })).toBe('RVOT, left');
  });

  it('is unchanged if it is already a name, or missing', () => {
    expect(shown('A4C')).toBe('A4C');
    expect(shown(null)).toBeNull();
  });
});

describe('several series in one chart', () => {
  it('share one axis, with a gap where a series has no point', () => {
    const series = { name: '', colour: '--ink', width: 1 } as const;
    const points = [
      {
        ...series,
        points: [
          [1, 10],
          [3, 30],
        ] as const,
      },
      { ...series, points: [[2, 20]] as const },
    ];
    expect(aligned(points)).toEqual([
      [1, 2, 3],
      [10, undefined, 30],
      [undefined, 20, undefined],
    ]);
  });
});
