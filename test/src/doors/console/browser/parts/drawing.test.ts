import { describe, expect, it } from 'vitest';
import type {
  FlowTrace,
  OverlayClip,
  Overlays,
} from '../../../../../../pipelines/artifacts/display/overlay-contract.ts';
import { bullsEye } from '../../../../../../pipelines/artifacts/drawing/bulls-eye.ts';
import {
  middleOf,
  SEGMENTS,
  sectorOf,
  segmentValues,
} from '../../../../../../src/doors/console/pages/bulls-eye.ts';
import {
  firstFrame,
  framesOf,
  phaseText,
  stayOf,
  stepped,
} from '../../../../../../src/doors/console/pages/cine.ts';
import { traceContent } from '../../../../../../src/doors/console/pages/doppler-trace.ts';
import {
  ellipseOf,
  pathOf,
  placeLabels,
  runsPath,
} from '../../../../../../src/doors/console/pages/overlay-drawing.ts';
import { aligned } from '../../../../../../src/doors/console/pages/plot-content.ts';
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
  cine: {
    artifact: 'cine-1.mjpeg',
    width: 10,
    height: 10,
    timed: true,
    frames: [frameOfCine(1, 0), frameOfCine(2, 0.05), frameOfCine(3, 0.3)],
  },
  calipers: [],
  contours: [],
  masks: [],
  structures: [],
  traces: [],
};

describe('frames of a clip', () => {
  it('are those of the cine and the key frames beside it, each once and in order', () => {
    expect(framesOf(CLIP).map(({ frame }) => frame)).toEqual([1, 2, 3, 9]);
  });

  it('begin with the first that was measured', () => {
    expect(firstFrame(CLIP)).toBe(3);
    expect(firstFrame({ ...CLIP, key_frames: [] })).toBe(1);
  });

  it('go around the end in both directions', () => {
    const frames = framesOf(CLIP);
    expect(stepped(frames, 9, 1)).toBe(1);
    expect(stepped(frames, 1, -1)).toBe(9);
  });

  it('stay as long as they were apart', () => {
    expect(stayOf(framesOf(CLIP), 2)).toBeCloseTo(250);
    expect(stayOf(framesOf(CLIP), 9)).toBeCloseTo(40);
  });

  it('say their phase of the beat', () => {
    expect(phaseText(CLIP, 2)).toBe('end-diastole');
    expect(phaseText(CLIP, 3)).toBe('end-systole');
    expect(phaseText(CLIP, 1)).toBe('');
  });
});

describe('what is drawn over a picture', () => {
  it('is an ellipse about the middle of its axes', () => {
    const found = ellipseOf([
      [0, 10],
      [20, 10],
      [10, 5],
      [10, 15],
    ]);
    expect(found).toEqual({ cx: 10, cy: 10, rx: 10, ry: 5, turn: 0 });
    expect(ellipseOf([[0, 0]])).toBeNull();
  });

  it('is closed only where the outline is', () => {
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

  it('has labels that do not cover each other and stay inside', () => {
    const line = (y: number) => ({
      text: 'HC 262.4 mm',
      shapes: [
        {
          type: 'line' as const,
          points: [
            [700, y],
            [790, y],
          ] as [number, number][],
        },
      ],
    });
    const labels = placeLabels([line(300), line(302), line(598)], CLIP);
    const [first, second, last] = labels;
    expect(Math.abs((first?.y ?? 0) - (second?.y ?? 0))).toBeGreaterThan(600 * 0.03);
    expect(last?.y).toBeLessThan(600);
    for (const { anchor, x } of labels) {
      expect(anchor).toBe('end');
      expect(x).toBeLessThan(800);
    }
  });

  it('has labels that start close together on separate lines, on every side of the first', () => {
    const at = (x: number, y: number) => ({
      text: 'LV wall (A4C) 21.8 cm²',
      shapes: [{ type: 'polygon' as const, points: [[x, y]] as [number, number][] }],
    });
    const labels = placeLabels([at(100, 300), at(250, 304), at(120, 302), at(420, 303)], CLIP);
    const near = labels.slice(0, 3).map(({ y }) => y);
    for (const [n, y] of near.entries()) {
      for (const other of near.slice(n + 1))
        expect(Math.abs(y - other)).toBeGreaterThan(600 * 0.03);
    }
    expect(Math.min(...near)).toBeLessThan(300);
    expect(labels[3]?.y).toBe(303);
  });
});

describe("the bull's-eye", () => {
  it('puts each value where the report puts it', () => {
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
    const centre = labels.get((-SEGMENTS).toFixed(1));
    const basal = labels.get('-1.0');
    const radius = ((centre?.y ?? 0) - (basal?.y ?? 0)) / -middleOf(sectorOf(1))[1];
    for (let segment = 1; segment <= SEGMENTS; segment += 1) {
      const there = labels.get((-segment).toFixed(1));
      const [x, y] = middleOf(sectorOf(segment));
      expect(((there?.x ?? 0) - (centre?.x ?? 0)) / radius, `segment ${segment}`).toBeCloseTo(x);
      expect(((there?.y ?? 0) - (centre?.y ?? 0)) / radius, `segment ${segment}`).toBeCloseTo(y);
    }
  });

  it('leaves segments without a value out', () => {
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

  it('is in seconds and in the unit of its axis, from its baseline', () => {
    const content = traceContent({ ...CLIP, sweeps: [sweep] }, trace);
    expect(content?.series[0]?.points).toEqual([
      [0, 0],
      [0.01, 10],
    ]);
    expect(content?.marks).toEqual([0.01]);
  });

  it('points down where the display grows downwards', () => {
    const content = traceContent({ ...CLIP, sweeps: [{ ...sweep, direction: 'down' }] }, trace);
    expect(content?.series[0]?.points[1]).toEqual([0.01, -10]);
  });

  it('is not drawn where the display has no scale', () => {
    expect(
      traceContent({ ...CLIP, sweeps: [{ ...sweep, value_per_pixel: null }] }, trace),
    ).toBeNull();
    expect(traceContent(CLIP, trace)).toBeNull();
  });
});

describe('what an image shows', () => {
  const names = { 'tricuspid-regurgitation': 'tricuspid regurgitation', rvot: 'RVOT' };
  const shown = (view: string | null) => {
    const clip = { ...CLIP, view, key_frames: [{ ...keyFrame(3), view }] };
    const overlays = { schema: 'sonogate.overlays/1', draft: true, clips: [clip], growth: null };
    const [worded] = inWords(overlays as Overlays, names).clips;
    expect(worded?.key_frames[0]?.view).toBe(worded?.view);
    return worded?.view;
  };

  it.each([
    ['tricuspid-regurgitation', 'Tricuspid regurgitation'],
    ['rvot', 'RVOT'],
  ])('is %s in the result and %s on the page', (id, words) => {
    expect(shown(id)).toBe(words);
  });

  it('is left as it is where the result has a name already, or none', () => {
    expect(shown('A4C')).toBe('A4C');
    expect(shown(null)).toBeNull();
  });
});

describe('several series in one chart', () => {
  it('share one axis; where a series has no point it has a gap', () => {
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
