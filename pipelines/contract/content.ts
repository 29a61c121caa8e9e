import { z } from 'zod';

/**
 * Internal endpoint that determines what a study shows, for routing rules. Clients cannot call it.
 */
export const CONTENT_ENDPOINT = 'us/content/look';

/** Anatomy shown by most of a study's recognised clips. */
const ANATOMIES = ['fetus', 'adult heart'] as const;

const named = z.array(z.strictObject({ name: z.string(), clips: z.number().int().positive() }));

export const contentSchema = z.strictObject({
  /** Null if no clip was recognised, or if both anatomies have the same number of clips. */
  anatomy: z.enum(ANATOMIES).nullable(),
  /** Obstetric planes and cardiac views, with the number of clips that show each. */
  planes: named,
  views: named,
  clips: z.strictObject({
    looked_at: z.number().int().nonnegative(),
    of: z.number().int().nonnegative(),
  }),
  artifacts: z.tuple([]),
});
export type Content = z.infer<typeof contentSchema>;

/** The endpoint in the form that the request core expects. */
export const contentEndpoint = {
  id: CONTENT_ENDPOINT,
  model: 'us/content',
  version: '1.0.0',
  title: 'What the images show, for routing',
  operation: 'ClassifyContent',
  internal: true,
  input: z.strictObject({ files: z.array(z.string()).min(1) }),
  output: contentSchema,
  price: () => [],
} as const;
