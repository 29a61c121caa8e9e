import { z } from 'zod';
import { MODEL_TASKS } from '../inference/model-registry.ts';
import { resultSchema, sectionSchema } from '../result/envelope.ts';
import { locatedStructureSchema } from '../result/located-structure.ts';
import { REPORT_SECTION } from '../run/sections.ts';
import { type ObstetricInput, obstetricInputSchema } from './input.ts';
import { OBSTETRIC } from './interpret-study.ts';
import { planesDataSchema } from './planes/section.ts';
import { SECTIONS } from './sections.ts';

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

/** Prices in USD as decimal strings (api 1): money is never a binary fraction. */
const PRICE = { run: '0.08', report: '0.02' } as const;

const line = (item: string, price: string) => ({
  item,
  quantity: 1,
  unit_price: price,
  amount: price,
});

/** us/obstetric/interpret as the request core knows it. */
export const obstetricEndpoint = {
  ...OBSTETRIC,
  input: obstetricInputSchema,
  output: obstetricResultSchema,
  /** One line for the run, and one for the report where it is asked for. */
  price(input: { options?: Record<string, unknown> | undefined }) {
    const run = line(OBSTETRIC.id, PRICE.run);
    return input.options?.report === true ? [run, line('report', PRICE.report)] : [run];
  },
  modelTasks: MODEL_TASKS.obstetric,
  sections: [...SECTIONS.map(({ id, title }) => ({ id, title })), REPORT_SECTION],
} as const;

export type { ObstetricInput };
