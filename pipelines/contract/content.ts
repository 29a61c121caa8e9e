import { z } from 'zod';

/**
 * An endpoint for the gateway itself: routing rules ask it what a study shows. Clients cannot call
 * it.
 */
export const CONTENT_ENDPOINT = 'us/content/look';

/** What most of the recognised clips of a study show. */
const ANATOMIES = ['fetus', 'adult heart'] as const;

const named = z.array(z.strictObject({ name: z.string(), clips: z.number().int().positive() }));

export const contentSchema = z.strictObject({
  /** Null where no clip was recognised, or where both anatomies have the same number of clips. */
  anatomy: z.enum(ANATOMIES).nullable(),
  /** Obstetric planes and views of the heart, with the number of clips that show each. */
  planes: named,
  views: named,
  clips: z.strictObject({
    looked_at: z.number().int().nonnegative(),
    of: z.number().int().nonnegative(),
  }),
  artifacts: z.tuple([]),
});
export type Content = z.infer<typeof contentSchema>;

/** The endpoint as the request core describes it. */
export const contentEndpoint = {
  id: CONTENT_ENDPOINT,
  model: 'us/content',
  version: '1.0.0',
  title: 'What the images show, for routing',
  internal: true,
  input: z.strictObject({ files: z.array(z.string()).min(1) }),
  output: contentSchema,
  price: () => [],
} as const;
