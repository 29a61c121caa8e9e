import type { ReadingsOf } from '../run/readers.ts';
import { apicalReader } from './chambers/read.ts';
import type { EchoReader } from './locate/reader.ts';
import { parasternalReader } from './parasternal/read.ts';

/**
 * All readers of echo images, by the key under which their readings are stored. To add a reader,
 * add a line here.
 */
export const READERS = {
  apical: apicalReader,
  parasternal: parasternalReader,
} as const satisfies Record<string, EchoReader<unknown>>;

export type Readings = ReadingsOf<typeof READERS>;
