import { describe, expect, it } from 'vitest';
import type { Ellipse, Point } from '../../../../pipelines/contract/image.ts';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import { parseOptions } from '../../../../pipelines/obstetric/input.ts';
import type { TransperinealReading } from '../../../../pipelines/obstetric/labor-progress/evidence.ts';
import {
  descentBand,
  headDirection,
} from '../../../../pipelines/obstetric/labor-progress/guideline.ts';
import { laborProgressReader } from '../../../../pipelines/obstetric/labor-progress/read.ts';
import { laborProgress } from '../../../../pipelines/obstetric/labor-progress/section.ts';
import { clip, evidenceWith, MM_PER_PIXEL, runSection } from '../evidence-sample.ts';

/** On an image 800 pixels wide, the lower edge is at (250, 150). */
const SYMPHYSIS: Ellipse = { centre: { x: 200, y: 150 }, a: 50, b: 20, angle: 0 };

interface Shot {
  degrees?: number;
  accepted?: boolean;
  clip?: Partial<Clip>;
  head?: Ellipse;
}

/** Returns a reading whose structures are this many pixels further to the right. */
function movedRight(reading: TransperinealReading, pixels: number): TransperinealReading {
  const { located } = reading;
  if (!located) throw new Error('nothing was located');
  const right = ({ x, y }: Point) => ({ x: x + pixels, y });
  const { symphysis, head, skull } = located;
  return {
    ...reading,
    located: {
      ...located,
      symphysis: { ...symphysis, centre: right(symphysis.centre) },
      head: { ...head, centre: right(head.centre) },
      skull: skull.map(right),
    },
  };
}

let shots = 0;

/**
 * Returns a head whose leading part is at this angle of progression. Its long axis is at -20
 * degrees.
 */
function transperineal({ degrees = 120, accepted = true, clip: changes, head }: Shot = {}) {
  shots += 1;
  const taken = clip(`transperineal-${shots}.dcm`, changes);
  const angle = (degrees * Math.PI) / 180;
  const outline = head ?? { centre: { x: 260, y: 330 }, a: 130, b: 100, angle: Math.PI / 9 };
  const leading = { x: 250 - 200 * Math.cos(angle), y: 150 + 200 * Math.sin(angle) };
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  const reading: TransperinealReading = {
    clip: taken,
    frame,
    estimate: { label: 'transperineal', confidence: 0.95 },
    located: {
      symphysis: SYMPHYSIS,
      head: outline,
      skull: [leading, { x: 240, y: 150 }],
      confidence: 0.9,
      accepted,
    },
    borders: {},
  };
  return reading;
}

function run(frames: readonly TransperinealReading[] | null | undefined) {
  const views = frames === undefined ? {} : { laborProgress: { uncertainty: 6, frames } };
  return runSection(laborProgress, evidenceWith({ views }), []);
}

const value = (outcome: ReturnType<typeof run>, id: string) =>
  outcome.measurements?.find((one) => one.id === id);

describe('distance and direction that were measured but are not used, because they need review', () => {
  it('are not said to be impossible to measure', () => {
    const frames = [transperineal({ degrees: 125 })];
    const readings = { uncertainty: 6, frames, values: ['angle-of-progression'] as const };
    const views = { laborProgress: readings };
    const { statements } = laborProgress.run(evidenceWith({ views }), []);
    const codes = statements.map(({ code }) => code);
    expect(codes).not.toContain('labor.line-misses-skull');
    expect(codes).not.toContain('labor.no-direction');
  });
});

describe('labor progress', () => {
  const outcome = run([transperineal({ degrees: 121 })]);

  it('has an angle of progression with its lines and its confidence', () => {
    const angle = value(outcome, 'angle-of-progression');
    expect(angle?.value).toBeCloseTo(121, 6);
    expect(angle).toMatchObject({ unit: 'deg', uncertainty: 6, quality: 'accepted' });
    expect(angle?.source.calipers.map(({ type }) => type)).toEqual(['line', 'line']);
  });

  it('has the station of Tutschek 2011', () => {
    expect(value(outcome, 'head-station')?.value).toBeCloseTo(0.0937 * 121 - 10.911, 9);
  });

  it('has the head-symphysis distance in millimetres along the infrapubic line', () => {
    const distance = value(outcome, 'head-symphysis-distance');
    const [line] = distance?.source.calipers ?? [];
    const [from, to] = line?.points ?? [];
    expect(from).toEqual([250, 150]);
    expect(to?.[0]).toBeCloseTo(250, 6);
    expect(distance?.value).toBeCloseTo(MM_PER_PIXEL * ((to?.[1] ?? 0) - 150), 6);
  });

  it('has the direction of the head with its reference line', () => {
    expect(value(outcome, 'head-direction')?.value).toBeCloseTo(-20, 6);
    expect(outcome.data).toMatchObject({
      head_direction_reference: 'long axis of the symphysis (ISUOG 2018)',
    });
    const bands = run([transperineal({ degrees: 130 })]).classifications;
    expect(bands?.map(({ value: band }) => band)).toEqual(['low-or-mid', 'down']);
    // An angle of 121 degrees, known to within 6, may be on either side of 120.
    expect(outcome.classifications?.map(({ value: band }) => band)).toEqual(['down']);
  });

  it('uses the median of three frames, and not the fourth', () => {
    const shown = [100, 110, 130, 170].map((degrees) => transperineal({ degrees }));
    const angle = value(run(shown), 'angle-of-progression');
    expect(angle?.value).toBeCloseTo(110, 6);
    expect(angle?.inputs).toHaveLength(3);
  });

  it('has no millimetres without a calibration, but the angles', () => {
    const uncalibrated = run([transperineal({ clip: { regions: [] } })]);
    expect(uncalibrated.status).toBe('partial');
    expect(uncalibrated.summary).toContain('no physical scale');
    expect(uncalibrated.measurements?.some(({ unit }) => unit === 'mm')).toBe(false);
    expect(value(uncalibrated, 'angle-of-progression')?.value).toBeCloseTo(120, 6);
  });

  it('recognises the side of the symphysis on a picture beside the controls of a screen', () => {
    // The middle of the picture is column 450. The symphysis, at 400, is left of it, but right of
    // the middle of the screen.
    const area = { minX: 200, minY: 0, maxX: 699, maxY: 599 };
    const shot = transperineal({ degrees: 130, clip: { width: 700, ultrasoundAreas: [area] } });
    const angle = value(run([movedRight(shot, 200)]), 'angle-of-progression');
    expect(angle?.value).toBeCloseTo(130, 6);
    expect(angle?.quality).toBe('accepted');
  });

  it.each([
    ['without regions', []],
    ['with one region that covers it', [{ minX: 0, minY: 0, maxX: 699, maxY: 599 }]],
  ])('recognises the side on the picture found on a screen %s', (_, ultrasoundAreas) => {
    const picture = { minX: 200, minY: 0, maxX: 699, maxY: 599 };
    const shot = transperineal({
      degrees: 130,
      clip: { width: 700, height: 600, ultrasoundAreas },
    });
    const angleOn = (reading: TransperinealReading) =>
      value(run([movedRight(reading, 200)]), 'angle-of-progression');
    expect(angleOn({ ...shot, picture })?.value).toBeCloseTo(130, 6);
    expect(angleOn({ ...shot, picture })?.quality).toBe('accepted');
    // On the whole screen the symphysis seems to be on the other side.
    expect(angleOn({ ...shot, picture: null })?.quality).not.toBe('accepted');
  });

  it.each([
    ['without regions', [], true],
    ['with one region that covers it', [{ minX: 0, minY: 0, maxX: 699, maxY: 599 }], true],
    ['whose regions delimit it', [{ minX: 210, minY: 0, maxX: 699, maxY: 599 }], false],
  ])('looks for the picture on a screen %s: %s', async (_, ultrasoundAreas, looked) => {
    const size = { width: 700, height: 600 };
    // Speckle from column 250 on, beside a black part of the screen.
    const data = Uint8Array.from({ length: size.width * size.height }, (_, i) =>
      i % size.width < 250 ? 0 : 60 + ((i * 7919) % 97),
    );
    const gray = async () => ({ ...size, data });
    const shown = { ...clip('screen.dcm', { ...size, ultrasoundAreas }) };
    const frame = { index: 0, time: 0, gray, rgb: gray };
    const { frames } = await laborProgressReader.read({
      study: { clips: [shown], refused: [], files: 1, series: 1 },
      options: parseOptions({}),
      planes: [{ clip: shown, frame, estimate: { label: 'transperineal', confidence: 0.9 } }],
      locator: { symphysisHead: async () => [{ pair: null, borders: {} }], uncertainty: {} },
      signal: new AbortController().signal,
    });
    const left = frames?.[0]?.picture?.minX ?? null;
    expect(left === null).toBe(!looked);
    if (left !== null) expect(Math.abs(left - 250)).toBeLessThan(20);
  });

  it('measures an angle in millimetres if the scale differs between the axes', () => {
    const [square] = clip('x').regions;
    if (!square) throw new Error('no region');
    const tall = [{ ...square, scale: { x: MM_PER_PIXEL, y: 2 * MM_PER_PIXEL } }];
    const angle = value(
      run([transperineal({ degrees: 120, clip: { regions: tall } })]),
      'angle-of-progression',
    );
    // An angle of 30 degrees beyond the vertical becomes atan(tan 30 / 2).
    expect(angle?.value).toBeCloseTo(
      90 + (Math.atan(Math.tan(Math.PI / 6) / 2) * 180) / Math.PI,
      6,
    );
  });

  it.each([
    [79.9, false],
    [80, true],
    [175, true],
    [175.1, false],
  ])('at %s degrees gives a station: %s', (degrees, given) => {
    const shown = run([
      transperineal({ degrees: degrees + (given ? Math.sign(120 - degrees) * 1e-9 : 0) }),
    ]);
    expect(value(shown, 'head-station') !== undefined).toBe(given);
  });

  it.each([
    [49.9, 'inadequate'],
    [50.1, 'accepted'],
    [199.9, 'accepted'],
    [200.1, 'inadequate'],
  ])('an angle of %s degrees is %s', (degrees, quality) => {
    const reading = transperineal({ degrees });
    const skull = reading.located?.skull.slice(0, 1) ?? [];
    const shown = run([{ ...reading, located: reading.located && { ...reading.located, skull } }]);
    const angle = shown.measurements?.find(({ concept }) => concept.key === 'angle-of-progression');
    expect(angle?.value).toBeCloseTo(degrees, 6);
    expect(angle?.quality).toBe(quality);
    expect(shown.status === 'inadequate').toBe(quality === 'inadequate');
  });

  it.each([
    [126.01, false],
    [125.9, true],
    [114.1, true],
  ])('an angle of %s degrees, known to 6, is undecided between bands: %s', (degrees, said) => {
    const { summary } = run([transperineal({ degrees })]);
    expect(summary?.includes('at the cut-off')).toBe(said);
  });

  it('lists a frame below the gate but does not use it', () => {
    const outlined = run([transperineal({ accepted: false })]);
    expect(outlined.status).toBe('inadequate');
    expect(outlined.summary).toContain('not assessable');
    expect(outlined.classifications).toEqual([]);
    expect(outlined.measurements?.every(({ quality }) => quality === 'low')).toBe(true);
  });

  it.each([
    ['no transperineal image', [], 'view_missing'],
    ['no reader', undefined, 'view_missing'],
    ['no permitted model', null, 'no_model'],
  ])('with %s is not assessed', (_, frames, code) => {
    expect(run(frames)).toMatchObject({ status: 'not_assessed', reason: { code } });
  });

  it('states that the direction of a round head cannot be determined', () => {
    const round = { centre: { x: 260, y: 330 }, a: 110, b: 105, angle: 0 };
    const outlined = run([transperineal({ head: round })]);
    expect(outlined.summary).toContain('Head direction was not assessable');
  });
});

describe('structures of a transperineal image', () => {
  const border = [
    { x: 10.04, y: 20 },
    { x: 30, y: 20 },
    { x: 30, y: 40.06 },
  ];
  const found = (accepted: boolean) => ({ border, confidence: 0.91234, accepted });

  it('are listed in pixels with file, frame and confidence, next to the angle', () => {
    const shot = transperineal({ clip: { regions: [] } });
    const borders = { symphysis: found(true), 'fetal-head': found(true) };
    const { data } = run([{ ...shot, borders }]);
    expect(data?.structures).toEqual(
      ['symphysis', 'fetal-head'].map((structure) => ({
        file: shot.clip.file,
        sop_instance_uid: shot.clip.sopInstanceUid,
        frame: 1,
        structure,
        confidence: 0.912,
        accepted: true,
        place: {
          type: 'polygon',
          points: [
            [10, 20],
            [30, 20],
            [30, 40.1],
          ],
        },
      })),
    );
  });

  it('are listed even without an angle: the head alone, or a border below its gate', () => {
    const shot = { ...transperineal(), located: null };
    const { status, data } = run([
      { ...shot, borders: { 'fetal-head': found(true) } },
      { ...shot, borders: { symphysis: found(false) } },
    ]);
    expect(status).toBe('inadequate');
    expect(data?.structures).toMatchObject([
      { structure: 'fetal-head', accepted: true },
      { structure: 'symphysis', accepted: false },
    ]);
  });
});

describe('bands', () => {
  it.each([
    [109.9, 'high'],
    [110, 'intermediate'],
    [119.9, 'intermediate'],
    [120, 'low-or-mid'],
    [144.9, 'low-or-mid'],
    [145, 'deeply-engaged'],
  ])('an angle of progression of %s degrees is %s', (degrees, band) => {
    expect(descentBand(degrees)).toBe(band);
  });

  it.each([
    [-0.1, 'down'],
    [0, 'horizontal'],
    [30, 'horizontal'],
    [30.1, 'up'],
  ])('a head direction of %s degrees is %s', (degrees, direction) => {
    expect(headDirection(degrees)).toBe(direction);
  });
});
