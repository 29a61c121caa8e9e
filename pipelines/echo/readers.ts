import { apicalReader } from './read/apical.ts';
import { parasternalReader } from './read/parasternal.ts';
import type { EchoReader, EchoReaderInput } from './reader.ts';

/** Every reader by the name under which sections find what it read. A new one is one line here. */
export const READERS = {
  apical: apicalReader,
  parasternal: parasternalReader,
} as const satisfies Record<string, EchoReader<unknown>>;

type Readers = typeof READERS;
export type ReaderName = keyof Readers;

/** What every reader found; null where it failed, which then costs its sections only. */
export type Readings = {
  [Name in ReaderName]: Awaited<ReturnType<Readers[Name]['read']>> | null;
};

/**
 * Runs every reader in turn. One that throws costs its own sections, not the study, and is told to
 * `failed`; an abort ends all. `progress` is told the reader and the share that is done before it.
 */
export async function readViews(
  input: EchoReaderInput,
  progress: (reader: EchoReader<unknown>, share: number) => void,
  failed: (reader: string, error: unknown) => void,
): Promise<Readings> {
  const entries: [string, unknown][] = [];
  const readers = Object.entries<EchoReader<unknown>>(READERS);
  for (const [index, [name, reader]] of readers.entries()) {
    input.signal.throwIfAborted();
    progress(reader, index / readers.length);
    const found = await reader.read(input).catch((error: unknown) => {
      input.signal.throwIfAborted();
      failed(name, error);
      return null;
    });
    input.signal.throwIfAborted();
    entries.push([name, found]);
  }
  return Object.fromEntries(entries) as Readings;
}
