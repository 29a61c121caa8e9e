import { z } from 'zod';
import { resultSchema, sectionSchema } from '../result/envelope.ts';
import { locatedStructureSchema } from '../result/located-structure.ts';
import { planesDataSchema } from './planes-data.ts';

const structures = z.array(locatedStructureSchema).optional();

/** `data` of the section `nt`, as far as a client may rely on it. */
const nuchalDataSchema = z.looseObject({
  /** Criteria of the plane; `met` null: nothing here looks at it. */
  plane_adequacy: z.array(z.object({ name: z.string(), met: z.boolean().nullable() })).optional(),
  crl_mm: z.number().nullable().optional(),
  /** Multiple of the median for the CRL. */
  mom: z.number().nullable().optional(),
  structures,
});

const withData = <Id extends string, Data extends z.ZodType>(id: Id, data: Data) =>
  sectionSchema.extend({ id: z.literal(id), data });

/**
 * The envelope with the data of sections that clients read. A section that was not assessed has none
 * of it, and every other section any: the last alternative holds for those.
 */
export const obstetricResultSchema = resultSchema.extend({
  sections: z.array(
    z.union([
      withData('planes', planesDataSchema),
      withData('nt', nuchalDataSchema),
      withData('biometry', z.looseObject({ structures })),
      withData('labor-progress', z.looseObject({ structures })),
      sectionSchema,
    ]),
  ),
});
