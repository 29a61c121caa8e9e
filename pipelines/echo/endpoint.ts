import { MODEL_TASKS } from '../inference/model-registry.ts';
import { REPORT_SECTION } from '../result/draft-report.ts';
import { echoInputSchema } from './input.ts';
import { ECHO } from './interpret-study.ts';
import { ECHO_PRICE_TIERS, echoPrice } from './price.ts';
import { echoResultSchema } from './result-schema.ts';
import { SECTIONS } from './sections/index.ts';

/** us/echo/interpret as the request core knows it. */
export const echoEndpoint = {
  ...ECHO,
  input: echoInputSchema,
  output: echoResultSchema,
  /** The frames are known once the files are read; until then the smallest tier stands. */
  price(input: { options?: Record<string, unknown> | undefined }, frames = 0) {
    return echoPrice(ECHO.id, frames, input.options?.report === true);
  },
  priceTiers: ECHO_PRICE_TIERS,
  modelTasks: MODEL_TASKS.echo,
  sections: [...SECTIONS.map(({ id, title }) => ({ id, title })), REPORT_SECTION],
} as const;
