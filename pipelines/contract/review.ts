import { z } from 'zod';

/**
 * The review of a result: a person's decisions about its values. Changes are data. The reviewed
 * result is always recalculated from the evidence of the study and the changes that were not
 * undone.
 */

/** Maximum length, in characters, of a note or a reason. */
const LONGEST_NOTE = 500;
/** Maximum number of changes in one request. */
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

/** One change, as sent by a client. Its members depend on `kind`. */
export const changeSchema = z.discriminatedUnion('kind', [
  /** The value is correct. From now on it is used, even if its method needs review. */
  z.strictObject({ kind: z.literal('accept'), measurement }),
  /** The value is wrong or unwanted. It is no longer used. */
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
  /** A new closed outline; its first point is not repeated. */
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
  /** Selects this value among several values of one quantity. */
  z.strictObject({ kind: z.literal('choose-repeat'), measurement }),
  /** Moves the value to another frame of the clip, with calipers drawn there if sent. */
  z.strictObject({
    kind: z.literal('choose-frame'),
    measurement,
    frame,
    points: points.optional(),
  }),
  /** Sets the view of a cardiac clip. */
  z.strictObject({
    kind: z.literal('name-view'),
    file,
    view: z
      .string()
      .min(1)
      .max(40)
      .meta({ description: 'Name of the view', examples: ['A4C'] }),
  }),
  /** Sets the plane of a frame in an obstetric study; on `other`, nothing is measured. */
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
  /** Appends a line written by the reader to the impression. */
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

/** State before or after a change, as shown in the review: a value, a name or a line. */
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
