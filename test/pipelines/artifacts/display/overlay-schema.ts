import { z } from 'zod';
import type { Overlays } from '../../../../pipelines/artifacts/display/overlay-contract.ts';

const count = z.number().int().positive();
const position = z.tuple([z.number(), z.number()]);
const box = z.strictObject({
  min_x: z.number(),
  min_y: z.number(),
  max_x: z.number(),
  max_y: z.number(),
});

const shape = z.strictObject({
  type: z.enum(['line', 'ellipse', 'polyline', 'polygon']),
  points: z.array(position),
});

const keyFrame = z.strictObject({
  frame: count,
  time: z.number(),
  view: z.string().nullable(),
  artifact: z.string(),
  width: count,
  height: count,
  sections: z.array(z.string()),
});

const cine = z.strictObject({
  artifact: z.string(),
  width: count,
  height: count,
  timed: z.boolean(),
  frames: z.array(
    z.strictObject({
      frame: count,
      time: z.number(),
      offset: z.number().int().nonnegative(),
      bytes: count,
    }),
  ),
});

const drawnMeasurement = z.strictObject({
  measurement: z.string(),
  section: z.string(),
  concept: z.string(),
  label: z.string(),
  value: z.number(),
  unit: z.string(),
  text: z.string(),
  quality: z.enum(['accepted', 'review', 'low', 'inadequate']),
  frame: count,
  shapes: z.array(shape),
});

const contour = z.strictObject({
  frame: count,
  structure: z.enum([
    'lv',
    'myocardium',
    'la',
    'rv',
    'ra',
    'symphysis',
    'fetal-head',
    'fetal-abdomen',
  ]),
  points: z.array(position),
  measured: z.boolean(),
});

const mask = z.strictObject({
  frame: count,
  label: z.string(),
  measurement: z.string().nullable(),
  section: z.string(),
  runs: z.array(z.tuple([z.number().int(), z.number().int(), z.number().int()])),
});

const structure = z.strictObject({
  frame: count,
  section: z.string(),
  structure: z.string(),
  label: z.string(),
  confidence: z.number(),
  accepted: z.boolean(),
  type: z.enum(['line', 'ellipse', 'polygon', 'rectangle']),
  points: z.array(position),
});

const flowTrace = z.strictObject({
  frame: count,
  section: z.string(),
  side: z.enum(['above', 'below']),
  baseline_row: z.number(),
  points: z.array(position),
  beats: z.array(z.number()),
});

const sweepAxes = z.strictObject({
  kind: z.enum(['pw', 'cw', 'doppler', 'm-mode', 'colour-m-mode']),
  area: box,
  seconds_per_pixel: z.number().nullable(),
  value_per_pixel: z.number().nullable(),
  unit: z.enum(['cm/s', 'cm', 'Hz']),
  zero_row: z.number().nullable(),
  direction: z.enum(['up', 'down']),
});

const overlayClip = z.strictObject({
  file: z.string(),
  view: z.string().nullable(),
  mode: z.enum(['2d', 'colour', 'spectral', 'm-mode', 'unknown']),
  columns: count,
  rows: count,
  frames: count,
  scales: z.array(
    z.strictObject({
      area: box,
      mm_per_pixel: z.strictObject({ x: z.number(), y: z.number() }),
    }),
  ),
  sweeps: z.array(sweepAxes),
  beats: z.array(z.strictObject({ end_diastole: count, end_systole: count })),
  key_frames: z.array(keyFrame),
  cine: cine.nullable(),
  calipers: z.array(drawnMeasurement),
  contours: z.array(contour),
  masks: z.array(mask),
  structures: z.array(structure),
  traces: z.array(flowTrace),
});

const growthChart = z.strictObject({
  concept: z.string(),
  label: z.string(),
  unit: z.string(),
  chart: z.string(),
  citation: z.string(),
  curves: z.array(z.strictObject({ centile: z.number(), points: z.array(position) })),
  measured: z.array(
    z.strictObject({
      measurement: z.string(),
      fetus: z.string().nullable(),
      weeks: z.number(),
      value: z.number(),
      centile: z.number().nullable(),
    }),
  ),
  earlier: z.array(z.strictObject({ weeks: z.number(), value: z.number() })),
});

/** Schema of `overlays.json`. `overlay-contract.ts` documents its fields. */
export const overlaysSchema: z.ZodType<Overlays> = z.strictObject({
  schema: z.literal('sonogate.overlays/1'),
  draft: z.literal(true),
  clips: z.array(overlayClip),
  growth: z
    .strictObject({ ga_days: z.number().int().nonnegative(), charts: z.array(growthChart) })
    .nullable(),
});
