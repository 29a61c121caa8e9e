import { z } from 'zod';

/**
 * The review of a result: what a person decided about its values. Changes are data; the reviewed
 * result at any time follows from the evidence of the study and the changes that were not undone.
 */

/** Longest line that a person writes, and longest reason, in characters. */
export const LONGEST_NOTE = 500;
/** Most changes in one call, and most points in one outline. */
export const MOST_CHANGES = 50;
const MOST_POINTS = 500;

const measurement = z
  .string()
  .min(1)
  .max(200)
  .meta({
    description: 'Id of a measurement, as the reviewed result or the original lists it',
    examples: ['fl-1'],
  });
const point = z.tuple([z.number(), z.number()]);
const PIXELS =
  'pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result';
const frame = z
  .number()
  .int()
  .positive()
  .meta({ description: 'Frame of the clip, from 1', examples: [12] });
const file = z
  .string()
  .min(1)
  .max(255)
  .meta({ description: 'File of the request', examples: ['scan.dcm'] });
const words = z.string().trim().min(1).max(LONGEST_NOTE);
const points = z.union([z.array(point).length(2), z.array(point).length(4)]).meta({
  description: `Both ends of a line, or both ends of both axes of an ellipse: ${PIXELS}`,
  examples: [
    [
      [212.5, 301],
      [388, 296.5],
    ],
  ],
});

/** One change by its kind, as a client sends it. */
export const changeSchema = z.discriminatedUnion('kind', [
  /** The value is right: it counts from now on, also if its method needed a review. */
  z.strictObject({ kind: z.literal('accept'), measurement }),
  /** The value is wrong or unwanted: nothing uses it. */
  z.strictObject({
    kind: z.literal('reject'),
    measurement,
    reason: words.meta({ description: 'Why, in words', examples: ['Oblique plane'] }).optional(),
  }),
  /** A value that a person typed, in the unit of the measurement. */
  z.strictObject({
    kind: z.literal('set-value'),
    measurement,
    value: z
      .number()
      .meta({ description: 'The value, in the unit of the measurement', examples: [52.4] }),
  }),
  /** New calipers: both ends of a line, or both ends of both axes of an ellipse. */
  z.strictObject({ kind: z.literal('move-calipers'), measurement, points }),
  /** A new closed outline, its first point not repeated. */
  z.strictObject({
    kind: z.literal('set-outline'),
    measurement,
    points: z
      .array(point)
      .min(3)
      .max(MOST_POINTS)
      .meta({
        description: `The outline: ${PIXELS}`,
        examples: [
          [
            [212.5, 301],
            [300, 180],
            [388, 296.5],
          ],
        ],
      }),
  }),
  /** Of several values of one quantity, this one counts. */
  z.strictObject({ kind: z.literal('choose-repeat'), measurement }),
  /** The same structure on another frame of the clip, with the calipers drawn there. */
  z.strictObject({
    kind: z.literal('choose-frame'),
    measurement,
    frame,
    points: points.optional(),
  }),
  /** The view of a clip of the heart. */
  z.strictObject({
    kind: z.literal('name-view'),
    file,
    view: z
      .string()
      .min(1)
      .max(40)
      .meta({ description: 'Name of the view', examples: ['A4C'] }),
  }),
  /** The plane that a frame of an obstetric study shows; `other`: none that is measured. */
  z.strictObject({
    kind: z.literal('name-plane'),
    file,
    frame,
    plane: z
      .string()
      .min(1)
      .max(40)
      .meta({ description: 'Name of the plane', examples: ['transthalamic'] }),
  }),
  /** A line of the reader's own, at the end of the impression. */
  z.strictObject({
    kind: z.literal('note'),
    text: words.meta({ description: 'The line', examples: ['Compare with the scan of 20 weeks.'] }),
  }),
  /** Takes an earlier change back; an undo can itself be undone. */
  z.strictObject({
    kind: z.literal('undo'),
    change: z
      .number()
      .int()
      .positive()
      .meta({ description: 'Number of the change to take back', examples: [3] }),
  }),
]);
export type Change = z.infer<typeof changeSchema>;
export type ChangeKind = Change['kind'];

/** What the review shows before or after a change: a value, a name or a line. */
export const changedSchema = z.strictObject({
  value: z
    .number()
    .nullable()
    .default(null)
    .meta({ description: 'Value of the measurement', examples: [52.4] }),
  unit: z
    .string()
    .nullable()
    .default(null)
    .meta({ description: 'Its unit, UCUM', examples: ['mm'] }),
  quality: z
    .string()
    .nullable()
    .default(null)
    .meta({ description: 'Quality of the measurement: `accepted` counts', examples: ['accepted'] }),
  text: z
    .string()
    .nullable()
    .default(null)
    .meta({ description: 'A view, a plane or a note', examples: [null] }),
  frame: frame
    .nullable()
    .default(null)
    .meta({ description: 'Frame of the clip, from 1', examples: [12] }),
  points: z
    .array(point)
    .nullable()
    .default(null)
    .meta({ description: `Calipers or outline: ${PIXELS}`, examples: [null] }),
});
export type Changed = z.infer<typeof changedSchema>;
