import { resultSchema } from '../result/envelope.ts';
import { echoInputSchema } from './input.ts';
import { ECHO_PRICE_TIERS, echoPrice } from './price.ts';
import { ECHO_SECTIONS } from './sections.ts';

const ECHO = {
  id: 'us/echo/interpret',
  model: 'us/echo',
  version: '1.0.0',
  title: 'Echocardiography',
} as const;

/**
 * us/echo/interpret as the request core knows it. Its pipeline is not part of this release: the mock
 * backend answers test keys, a live submit is refused.
 */
export const echoEndpoint = {
  ...ECHO,
  mockOnly: true,
  input: echoInputSchema,
  output: resultSchema,
  /** The frames are known once the files are read; until then the smallest tier stands. */
  price(input: { options?: Record<string, unknown> | undefined }, frames = 0) {
    return echoPrice(ECHO.id, frames, input.options?.report === true);
  },
  priceTiers: ECHO_PRICE_TIERS,
  sections: ECHO_SECTIONS,
} as const;
