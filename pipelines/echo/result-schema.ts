import { z } from 'zod';
import { resultSchema, sectionSchema } from '../result/envelope.ts';
import { viewsDataSchema } from './views-data.ts';

/**
 * The envelope with the data of the section `views`; a section that was not assessed has none of it,
 * and every other section any.
 */
export const echoResultSchema = resultSchema.extend({
  sections: z.array(
    z.union([
      sectionSchema.extend({ id: z.literal('views'), data: viewsDataSchema }),
      sectionSchema,
    ]),
  ),
});
