import type { Source } from '../../../config/schema.ts';

/** An entry of `sources` that takes everyone on this machine, but for `over`. */
export const source = (name: string, over: Partial<Source>): Source => ({
  name,
  callingAeTitles: ['*'],
  addresses: ['127.0.0.0/8', '::1'],
  idleTimeoutSeconds: 300,
  completion: { signal: 'quiet-time', quietSeconds: 30, afterReleaseSeconds: 5 },
  rerun: 'when-content-changed',
  apiKeys: [],
  ...over,
});
