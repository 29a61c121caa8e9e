import { z } from 'zod';

/**
 * The review of a result: the decisions of a person on its values. Changes are data. The reviewed
 * result is always calculated from the evidence of the study and the changes that were not undone.
 */

/** Maximum length in characters of a line that a person writes, and of a reason. */
export const LONGEST_NOTE = 500;
/** Maximum number of changes in one call, and of points in one outline. */
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

/** One change, in the form in which a client sends it. Its members depend on `kind`. */
export const changeSchema = z.discriminatedUnion('kind', [
  /** The value is right. It is used from now on, even if its method needed a review. */
  z.strictObject({ kind: z.literal('accept'), measurement }),
  /** The value is wrong or not wanted. It is no longer used. */
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
  /** Selects this value of several values of one quantity. */
  z.strictObject({ kind: z.literal('choose-repeat'), measurement }),
  /**
   * Shows the same structure on another frame of the clip, with the calipers that were drawn there.
   */
  z.strictObject({
    kind: z.literal('choose-frame'),
    measurement,
    frame,
    points: points.optional(),
  }),
  /** Names the view of a clip of the heart. */
  z.strictObject({
    kind: z.literal('name-view'),
    file,
    view: z
      .string()
      .min(1)
      .max(40)
      .meta({ description: 'Name of the view', examples: ['A4C'] }),
  }),
  /**
   * Names the plane of a frame of an obstetric study; `other` is a plane on which nothing is
   * measured.
   */
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
  /** Adds a line that the reader wrote to the end of the impression. */
  z.strictObject({
    kind: z.literal('note'),
    text: words.meta({ description: 'The line', examples: ['Compare with the scan of 20 weeks.'] }),
  }),
  /** Undoes an earlier change. An undo can itself be undone. */
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

/** State before or after a change, which the review shows: a value, a name or a line. */
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
