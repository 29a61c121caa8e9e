/**
 * Internal endpoint that returns the values in the machine's structured reports as a result,
 * without using images or models. Clients cannot call it.
 */
export const TRANSLATE_ENDPOINT = 'us/report/translate';

/** Returns true if a result only repeats the machine's reports. */
export const isTranslation = ({ endpoint }: { endpoint: string }): boolean =>
  endpoint === TRANSLATE_ENDPOINT;
