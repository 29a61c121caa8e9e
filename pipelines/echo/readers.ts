import type { ReadingsOf } from '../run-readers.ts';
import { apicalReader } from './read/apical.ts';
import { parasternalReader } from './read/parasternal.ts';
import type { EchoReader } from './reader.ts';

/** Every reader by the name under which sections find what it read. A new one is one line here. */
export const READERS = {
  apical: apicalReader,
  parasternal: parasternalReader,
} as const satisfies Record<string, EchoReader<unknown>>;

export type ReaderName = keyof typeof READERS;

export type Readings = ReadingsOf<typeof READERS>;
