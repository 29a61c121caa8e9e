import { z } from 'zod';
import { MODEL_TASKS } from '../inference/model-registry.ts';
import { resultSchema, sectionSchema } from '../result/envelope.ts';
import { REPORT_SECTION } from '../run/sections.ts';
import { echoInputSchema } from './input.ts';
import { ECHO } from './interpret-study.ts';
import { SECTIONS } from './sections.ts';
import { viewsDataSchema } from './views/section.ts';

/** Prices in USD, as decimal strings, by number of frames in the upload (api 1). */
const ECHO_PRICE_TIERS = [
  { up_to_frames: 1000, price: '0.06' },
  { up_to_frames: 8000, price: '0.15' },
  { up_to_frames: null, price: '0.25' },
] as const;

const REPORT_PRICE = '0.02';

const line = (item: string, price: string) => ({
  item,
  quantity: 1,
  unit_price: price,
  amount: price,
});

function echoPrice(id: string, frames: number, withReport: boolean) {
  const tier =
    ECHO_PRICE_TIERS.find(({ up_to_frames: most }) => most === null || frames <= most) ??
    ECHO_PRICE_TIERS[2];
  return [line(id, tier.price), ...(withReport ? [line('report', REPORT_PRICE)] : [])];
}

/**
 * Schema of the result envelope, with a schema for the data of the section `views`. The data of
 * other sections has no fixed schema, and a section that was not assessed has no data.
 */
const echoResultSchema = resultSchema.extend({
  sections: z
    .array(
      z.union([
        sectionSchema.extend({
          id: z.literal('views'),
          data: viewsDataSchema.meta({ description: 'What the section `views` found' }),
        }),
        sectionSchema,
      ]),
    )
    .meta({ description: 'Every section of the endpoint' }),
});

/** The endpoint us/echo/interpret, in the form that the request core requires. */
export const echoEndpoint = {
  ...ECHO,
  input: echoInputSchema,
  output: echoResultSchema,
  /**
   * Returns the price. Until the files have been read, the number of frames is unknown and the
   * price of the lowest tier is returned.
   */
  price(input: { options?: Record<string, unknown> | undefined }, frames = 0) {
    return echoPrice(ECHO.id, frames, input.options?.report === true);
  },
  priceTiers: ECHO_PRICE_TIERS,
  modelTasks: MODEL_TASKS.echo,
  sections: [...SECTIONS.map(({ id, title }) => ({ id, title })), REPORT_SECTION],
} as const;
