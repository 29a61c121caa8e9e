import sharp from 'sharp';
import { toSvg } from '../artifacts/drawing/draw.ts';
import { type Mark, rectangle } from '../artifacts/drawing/drawing.ts';
import type { Ellipse, Point } from '../contract/image.ts';
import type { Job } from '../contract/job.ts';
import {
  type Clip,
  type Frame,
  type RgbImage,
  type Study,
  UNDESCRIBED,
} from '../contract/study.ts';
import {
  INTERGROWTH_SIZE_WEEKS,
  type IntergrowthMeasure,
  intergrowthSizeAt,
} from '../obstetric/growth/charts.ts';
import { type ObstetricOptions, parseOptions } from '../obstetric/input.ts';
import { interpretStudy } from '../obstetric/interpret-study.ts';
import type { FrameReading } from '../obstetric/shared/plane.ts';
import type { Result } from '../result/envelope.ts';
import type { Seed } from './seed.ts';
import { MOCK, stamped } from './watermark.ts';

const FRAME = { width: 800, height: 600 } as const;

/** A frame that shows the shape of a sector and states that it is not an image. */
async function picture(): Promise<Buffer> {
  const sector: Mark = {
    kind: 'area',
    points: [
      { x: 340, y: 20 },
      { x: 460, y: 20 },
      { x: 780, y: 560 },
      { x: 20, y: 560 },
    ],
    colour: '#3a3f45',
  };
  const drawing = {
    ...FRAME,
    marks: [rectangle({ x: 0, y: 0 }, FRAME.width, FRAME.height, '#000000'), sector],
  };
  return stamped(
    await sharp(Buffer.from(toSvg(drawing)))
      .png()
      .toBuffer(),
  );
}

let drawn: Promise<RgbImage> | null = null;

/** Drawn once per process, because it never changes. */
function pixels(): Promise<RgbImage> {
  drawn ??= picture()
    .then((png) => sharp(png).removeAlpha().raw().toBuffer())
    .then((data) => ({ ...FRAME, data }));
  return drawn;
}

/** One frame of a mock clip; it has no anatomy, so nothing can be measured on it. */
function mockFrame(index: number): Frame {
  return {
    index,
    time: index,
    gray: () => Promise.reject(new Error(`the ${MOCK} frame is for showing only`)),
    rgb: pixels,
  };
}

const MM_PER_PIXEL = 0.3;
/** Gestational age whose sizes are used where none was given. */
const USUAL_GA_DAYS = 196;

const CENTRE: Point = { x: FRAME.width / 2, y: FRAME.height * 0.55 };

/** A clip of three frames under the name of the first file. */
function mockClip(file: string): Clip {
  const area = { minX: 0, minY: 0, maxX: FRAME.width - 1, maxY: FRAME.height - 1 };
  return {
    file,
    ...UNDESCRIBED,
    ultrasoundAreas: [area],
    burnedInAnnotation: false,
    ...FRAME,
    frames: [mockFrame(0), mockFrame(1), mockFrame(2)],
    regions: [{ area, scale: { x: MM_PER_PIXEL, y: MM_PER_PIXEL }, source: 'region' }],
    calibrationRefused: null,
    mode: '2d',
  };
}

function ellipse(longMm: number, shortMm: number, angle: number): Ellipse {
  const semiAxis = (mm: number) => mm / 2 / MM_PER_PIXEL;
  return { centre: CENTRE, a: semiAxis(longMm), b: semiAxis(shortMm), angle };
}

/** Outlines and ends as a locator would return them, for a fetus of average size for its age. */
function mockReadings(clip: Clip, options: ObstetricOptions, seed: Seed): FrameReading[] {
  const { from, to } = INTERGROWTH_SIZE_WEEKS;
  const weeks = Math.min(Math.max((options.dating?.ga_days ?? USUAL_GA_DAYS) / 7, from), to);
  const millimetres = (measure: IntergrowthMeasure, n: number) =>
    intergrowthSizeAt(measure, weeks, seed.share(n) - 0.5) ?? 0;
  const found = (n: number) => ({ confidence: 0.85 + seed.share(n) / 10, accepted: true });
  const on = (index: number, label: FrameReading['estimate']['label']) => ({
    clip,
    frame: clip.frames[index] ?? mockFrame(index),
    estimate: { label, confidence: 0.9 },
  });
  const diameter = millimetres('ac', 2) / Math.PI;
  const femur = millimetres('fl', 3) / 2 / MM_PER_PIXEL;
  const end = (side: number): Point => ({ x: CENTRE.x + side * femur, y: CENTRE.y });
  return [
    {
      ...on(0, 'transthalamic'),
      structure: 'head',
      located: {
        ellipse: ellipse(millimetres('ofd', 0), millimetres('bpd', 1), 0.2),
        ...found(4),
      },
    },
    {
      ...on(1, 'abdominal'),
      structure: 'abdomen',
      located: { ellipse: ellipse(diameter * 1.03, diameter * 0.97, 0.1), ...found(5) },
    },
    {
      ...on(2, 'femur'),
      structure: 'femur',
      located: { ends: [end(-1), end(1)], ...found(6) },
    },
  ];
}

/**
 * The real sections applied to made-up readings: the same envelope as for a live request; sections
 * that this release does not assess are left so.
 */
export function mockObstetric(
  job: Job,
  seed: Seed,
  generatedAt: Date,
): { result: Result; study: Study; options: ObstetricOptions } {
  const options = parseOptions(job.options);
  const clip = mockClip(job.files[0] ?? 'mock');
  const readings = mockReadings(clip, options, seed);
  const study: Study = { clips: [clip], refused: [], files: job.files.length, series: 1 };
  const result = interpretStudy(
    {
      study,
      options,
      planes: readings.map(({ frame, estimate }) => ({ clip, frame, estimate })),
      readings,
      withoutModel: [],
      views: {},
      uncertainty: { hcPercent: null, acPercent: null, flMm: null },
      priors: job.priorFiles,
    },
    [],
    [],
    generatedAt,
  );
  return { result, study, options };
}
