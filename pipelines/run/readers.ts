import { inParallel } from '../../src/platform/in-parallel.ts';
import { DECODING } from '../input/decode-frames.ts';

/** The part of a reader, of either endpoint, that is needed to run it. */
interface RunnableReader<Input, T = unknown> {
  /** Part of the stage name after `inference.`. */
  stage: string;
  label: string;
  /**
   * Reads what its sections need.
   * @param known is called with what has been read so far, by a reader that has parts worth
   *   showing.
   */
  read(input: Input, known?: (soFar: T) => void): Promise<T>;
}

/** Readings of each reader; null if the reader failed. Only the sections that use it fail then. */
export type ReadingsOf<Readers> = {
  [Name in keyof Readers]: Readers[Name] extends RunnableReader<never, infer Found>
    ? Found | null
    : never;
};

/**
 * Runs the readers, some in parallel: while a model works for one reader, the next one decodes and
 * measures. If a reader throws, it is reported to `failed`, and only the sections that use it fail,
 * not the study. An abort ends all readers. `progress` gets the reader and the share that is done
 * before it; `known` gets what all readers have read so far.
 */
export async function runReaders<
  Input extends { signal: AbortSignal },
  Readers extends Readonly<Record<string, RunnableReader<Input>>>,
>(
  readers: Readers,
  input: Input,
  progress: (reader: RunnableReader<Input>, share: number) => void,
  failed: (reader: string, error: unknown) => void,
  known: (soFar: Partial<ReadingsOf<Readers>>) => void = () => {},
): Promise<ReadingsOf<Readers>> {
  const all = Object.entries(readers);
  let begun = 0;
  const soFar = new Map<string, unknown>();
  const tell = (name: string, reading: unknown) => {
    soFar.set(name, reading);
    known(Object.fromEntries(soFar) as Partial<ReadingsOf<Readers>>);
  };
  const found = await inParallel(all, DECODING.batches, async ([name, reader]) => {
    input.signal.throwIfAborted();
    progress(reader, begun++ / all.length);
    const reading = await reader
      .read(input, (part) => tell(name, part))
      .catch((error: unknown) => {
        input.signal.throwIfAborted();
        failed(name, error);
        return null;
      });
    input.signal.throwIfAborted();
    return [name, reading] as const;
  });
  return Object.fromEntries(found) as ReadingsOf<Readers>;
}
