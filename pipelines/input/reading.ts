import { channel } from 'node:diagnostics_channel';

/**
 * Event that the reading of a file or of one of its frames begins or ends. Both events have the
 * same `id`.
 */
export interface Reading {
  id: number;
  file: string;
  state: 'begun' | 'ended';
}

/**
 * Channel that publishes what is being read. A watchdog outside this process can then name the file
 * on which a decoder hangs. Usually the channel has no subscriber.
 */
export const READING = channel('sonogate:reading');

let count = 0;

/** Calls `read`, and publishes an event before and after. */
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
