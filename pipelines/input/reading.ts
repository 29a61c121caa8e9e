import { channel } from 'node:diagnostics_channel';

/**
 * Published when the reading of a file or of one of its frames begins or ends. `id` is the same for
 * both.
 */
export interface Reading {
  id: number;
  file: string;
  state: 'begun' | 'ended';
}

/**
 * Channel that publishes what is being read, so that a watch outside this process can name the file
 * on which a decoder hangs. Usually nobody subscribes.
 */
export const READING = channel('sonogate:reading');

let count = 0;

/** Calls `read`, and publishes when it begins and ends. */
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
