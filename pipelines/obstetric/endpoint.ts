import { MODEL_TASKS } from '../inference/model-registry.ts';
import { REPORT_SECTION } from '../result/draft-report.ts';
import { type ObstetricInput, obstetricInputSchema } from './input.ts';
import { OBSTETRIC } from './interpret-study.ts';
import { obstetricResultSchema } from './result-schema.ts';
import { SECTIONS } from './sections/index.ts';

/** Prices in USD as decimal strings (service.md 1): money is never a binary fraction. */
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
