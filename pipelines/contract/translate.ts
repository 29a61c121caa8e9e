/**
 * An endpoint for the gateway itself: the values of the machine's own structured reports as a result,
 * without images and without models. Clients cannot call it.
 */
export const TRANSLATE_ENDPOINT = 'us/report/translate';

/** Whether a result only repeats what the machine reported. */
export const isTranslation = ({ endpoint }: { endpoint: string }): boolean =>
  endpoint === TRANSLATE_ENDPOINT;
