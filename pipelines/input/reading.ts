import { channel } from 'node:diagnostics_channel';

/**
 * Start or end of reading a file or decoding one of its frames. The two events have the same `id`.
 */
export interface Reading {
  id: number;
  file: string;
  state: 'begun' | 'ended';
}

/**
 * Channel on which we publish what is being read, so that a watchdog outside this process can
 * identify the file on which a decoder hangs. Usually the channel has no subscribers.
 */
export const READING = channel('sonogate:reading');

let count = 0;

/** Runs `read`, and publishes an event before and after it. */
export async function published<T>(file: string, read: () => Promise<T>): Promise<T> {
  count += 1;
  const id = count;
  READING.publish({ id, file, state: 'begun' } satisfies Reading);
  try {
    return await read();
  } finally {
    READING.publish({ id, file, state: 'ended' } satisfies Reading);
  }
}
