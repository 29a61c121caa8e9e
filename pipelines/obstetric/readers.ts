import { amnioticFluidReader } from './read/amniotic-fluid.ts';
import { cervixReader } from './read/cervix.ts';
import { earlyPregnancyReader } from './read/early-pregnancy.ts';
import { fetalBrainReader } from './read/fetal-brain.ts';
import { fetalHeartReader } from './read/fetal-heart.ts';
import { laborProgressReader } from './read/labor-progress.ts';
import { nuchalReader } from './read/nuchal.ts';
import { placentaReader } from './read/placenta.ts';
import { presentationReader } from './read/presentation.ts';
import { spectraReader } from './read/spectra.ts';
import type { Reader, ReaderInput } from './reader.ts';

/** Every reader by the name under which sections find what it read. A new one is one line here. */
export const READERS = {
  amnioticFluid: amnioticFluidReader,
  placenta: placentaReader,
  cervix: cervixReader,
  earlyPregnancy: earlyPregnancyReader,
  laborProgress: laborProgressReader,
  nuchal: nuchalReader,
  presentation: presentationReader,
  spectra: spectraReader,
  fetalHeart: fetalHeartReader,
  fetalBrain: fetalBrainReader,
} as const satisfies Record<string, Reader<unknown>>;

type Readers = typeof READERS;
export type ReaderName = keyof Readers;

/** What every reader found; null where it failed, which then fails its sections only. */
export type Readings = {
  [Name in ReaderName]: Awaited<ReturnType<Readers[Name]['read']>> | null;
};

/**
 * Runs every reader in turn. One that throws costs its own sections, not the study, and is told to
 * `failed`; an abort ends all. `progress` is told the reader and the share that is done before it.
 */
export async function readViews(
  input: ReaderInput,
  progress: (reader: Reader<unknown>, share: number) => void,
  failed: (reader: string, error: unknown) => void,
): Promise<Readings> {
  const entries: [string, unknown][] = [];
  const readers = Object.entries<Reader<unknown>>(READERS);
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
