import { inParallel } from '../../src/platform/in-parallel.ts';
import { DECODING } from '../input/decode-frames.ts';

/** The members of a reader that `runReaders` uses, for any endpoint. */
interface RunnableReader<Input, T = unknown> {
  /** Suffix of the stage name, after `inference.`. */
  stage: string;
  label: string;
  /**
   * Reads the input for its sections.
   * @param known is called with the readings so far, whenever partial readings are worth showing.
   */
  read(input: Input, known?: (soFar: T) => void): Promise<T>;
}

/**
 * Readings of each reader; null if the reader failed, in which case only the sections that use it
 * fail.
 */
export type ReadingsOf<Readers> = {
  [Name in keyof Readers]: Readers[Name] extends RunnableReader<never, infer Found>
    ? Found | null
    : never;
};

/**
 * Runs the readers, several at a time: while a model works for one reader, another can decode and
 * measure. If a reader throws, the error is passed to `failed`, and only the sections that use the
 * reader fail. An abort ends all readers. `progress` receives each reader as it starts, with the
 * share of readers started before it; `known` receives all partial readings reported so far.
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
  const update = (name: string, reading: unknown) => {
    soFar.set(name, reading);
    known(Object.fromEntries(soFar) as Partial<ReadingsOf<Readers>>);
  };
  const found = await inParallel(all, DECODING.clips, async ([name, reader]) => {
    input.signal.throwIfAborted();
    progress(reader, begun++ / all.length);
    const reading = await reader
      .read(input, (part) => update(name, part))
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
