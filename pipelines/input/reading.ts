import { channel } from 'node:diagnostics_channel';

/** A file, or a frame of it, that begins or has ended to be read. `id` is the same for both. */
export interface Reading {
  id: number;
  file: string;
  state: 'begun' | 'ended';
}

/**
 * Publishes what is being read, so that a watch outside this process can name the file on which a
 * decoder hangs; usually nobody subscribes.
 */
export const READING = channel('sonogate:reading');

let count = 0;

/** Reads, and publishes when that begins and ends. */
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
