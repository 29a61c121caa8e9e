import { z } from 'zod';
import { TRANSLATE_ENDPOINT } from '../contract/translate.ts';
import { resultSchema } from '../result/envelope.ts';

/** The endpoint in the form that the request core expects. */
export const translateEndpoint = {
  id: TRANSLATE_ENDPOINT,
  model: 'us/report',
  version: '1.0.0',
  title: 'Values of the report of the ultrasound machine',
  operation: 'TranslateReport',
  internal: true,
  input: z.strictObject({
    files: z.array(z.string()).min(1),
    options: z.strictObject({}).optional(),
    clinical_context: z.strictObject({}).optional(),
  }),
  output: resultSchema,
  price: () => [],
} as const;
