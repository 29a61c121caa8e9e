import type { Source } from '../../../config/schema.ts';

/** Creates a source that admits every caller on this machine, with the changes in `over`. */
export const source = (name: string, over: Partial<Source>): Source => ({
  name,
  callingAeTitles: ['*'],
  addresses: ['127.0.0.0/8', '::1'],
  idleTimeoutSeconds: 300,
  completion: { signal: 'quiet-time', quietSeconds: 30, afterReleaseSeconds: 5 },
  rerun: 'when-content-changed',
  apiKeys: [],
  consoleUploads: false,
  ...over,
});
