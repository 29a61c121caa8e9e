import { taskThread } from '../../../platform/task-thread.ts';

/** What to read from the data set of a file. */
export type DataSetTask =
  /** The whole data set as DICOM JSON; `bulkData` is the address that precedes each tag. */
  | { file: string; bulkData: string }
  /** The bytes of a binary value; empty if the data set lacks it. */
  | { file: string; tag: string };

/**
 * Reads data sets on a separate thread, because one with 400,000 elements takes seconds. The
 * deadline leaves enough time for the largest permitted data set, which takes a few times as long
 * on a busy host.
 * @throws SonogateError `object_not_understood`, also for a data set that takes too long; the
 * system error if the file cannot be read.
 */
export const readOnThread = taskThread<DataSetTask, Uint8Array>(
  new URL('./data-set-thread.ts', import.meta.url),
  {
    deadlineMs: 60_000,
    heapMib: 1024,
    exceeded: 'Reading the data set takes too much time or memory.',
  },
);
