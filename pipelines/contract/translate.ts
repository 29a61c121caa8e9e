/**
 * Endpoint for the gateway itself. It returns the values of the machine's structured reports as a
 * result, without images and without models. Clients cannot call it.
 */
export const TRANSLATE_ENDPOINT = 'us/report/translate';

/** Returns true if a result only repeats the machine's reports. */
export const isTranslation = ({ endpoint }: { endpoint: string }): boolean =>
  endpoint === TRANSLATE_ENDPOINT;
