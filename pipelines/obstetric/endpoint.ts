import { z } from 'zod';
import { MODEL_TASKS } from '../inference/model-registry.ts';
import { maybeNumber, resultSchema, sectionSchema } from '../result/envelope.ts';
import { locatedStructureSchema } from '../result/measured.ts';
import { REPORT_SECTION } from '../run/sections.ts';
import { type ObstetricInput, obstetricInputSchema } from './input.ts';
import { OBSTETRIC } from './interpret-study.ts';
import { criterionSchema, planesDataSchema } from './planes/section.ts';
import { SECTIONS } from './sections.ts';

const structures = z
  .array(locatedStructureSchema)
  .meta({ description: 'Structures that were found, with their places in pixels' })
  .optional();

/** Fields in the `data` of section `nt` that clients may rely on. */
const nuchalDataSchema = z.looseObject({
  plane_adequacy: z
    .array(criterionSchema)
    .meta({ description: 'Criteria for an adequate plane, and whether each is met' })
    .optional(),
  crl_mm: maybeNumber('Crown-rump length in mm', 62.1).optional(),
  mom: maybeNumber(
    'Multiple of the median for the CRL; null without a CRL in the window',
    1.04,
  ).optional(),
  structures,
});

const withData = <Id extends string, Data extends z.ZodType>(id: Id, data: Data) =>
  sectionSchema.extend({
    id: z.literal(id),
    data: data.meta({ description: `Further data of the section \`${id}\`` }),
  });

/**
 * Result envelope with the section data that clients read. The last alternative matches sections
 * that have no data because they were not assessed, and sections whose data have no fixed schema.
 */
const obstetricResultSchema = resultSchema.extend({
  sections: z
    .array(
      z.union([
        withData('planes', planesDataSchema),
        withData('nt', nuchalDataSchema),
        withData('biometry', z.looseObject({ structures })),
        withData('labor-progress', z.looseObject({ structures })),
        sectionSchema,
      ]),
    )
    .meta({ description: 'All sections of the endpoint, in the order of the report' }),
});

/**
 * Prices in USD, as decimal strings (api 1) because binary floating point cannot represent all
 * amounts of money exactly.
 */
const PRICE = { run: '0.08', report: '0.02' } as const;

const line = (item: string, price: string) => ({
  item,
  quantity: 1,
  unit_price: price,
  amount: price,
});

/** The endpoint us/obstetric/interpret in the form that the request core expects. */
export const obstetricEndpoint = {
  ...OBSTETRIC,
  input: obstetricInputSchema,
  output: obstetricResultSchema,
  price(input: { options?: Record<string, unknown> | undefined }) {
    const run = line(OBSTETRIC.id, PRICE.run);
    return input.options?.report === true ? [run, line('report', PRICE.report)] : [run];
  },
  modelTasks: MODEL_TASKS.obstetric,
  sections: [...SECTIONS.map(({ id, title }) => ({ id, title })), REPORT_SECTION],
} as const;

export type { ObstetricInput };
