import type { Source } from '../../config/schema.ts';
import {
  type ArchiveCount,
  claimDueCounts,
  type DueCount,
  expectedCountSettings,
  explainWait,
  recordCount,
  releaseCount,
} from '../../src/core/studies/archive-count.ts';
import { expectedDeadline, hastenCompletion } from '../../src/core/studies/completion.ts';
import { receivedUids } from '../../src/core/studies/study-store.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { ERRORS, SonogateError } from '../../src/platform/errors/catalogue.ts';
import { secondsAfter } from '../../src/platform/time.ts';
import type { Archive } from './archive.ts';
import { objectsWeAccept, requestRetrieval } from './retrievals.ts';

interface CountParts {
  database: Database;
  sources: readonly Source[];
  now: () => Date;
}

const AT_A_TIME = 8;
/**
 * Seconds after which another process may ask the archive about a study, if the process that
 * claimed the study has not done so.
 */
const ASKING_SECONDS = 60;

/**
 * Asks an archive how many objects it has of each study whose count is due.
 * @returns the number of studies asked about.
 */
export async function askDueCounts(
  archive: Archive,
  parts: CountParts,
  signal: AbortSignal,
): Promise<number> {
  const at = parts.now();
  const claimedUntil = secondsAfter(at, ASKING_SECONDS);
  const counts = { at, claimedUntil, limit: AT_A_TIME };
  const due = await claimDueCounts(parts.database, archive.name, counts);
  await Promise.all(due.map((one) => askCount(one, archive, parts, signal)));
  return due.length;
}

async function askCount(
  due: DueCount,
  archive: Archive,
  { database, sources, now }: CountParts,
  signal: AbortSignal,
): Promise<void> {
  const settings = expectedCountSettings(sources, due.source);
  const again = secondsAfter(now(), settings?.askEverySeconds ?? ASKING_SECONDS);
  const count = await countOf(due, archive, database, signal);
  if (signal.aborted) {
    // The query may have failed only because the gateway is stopping, so another process may repeat
    // it at once.
    await releaseCount(database, due, now());
    return;
  }
  await recordCount(database, due, count, again);
  if (count.state === 'complete') {
    const deadline = expectedDeadline(sources, due.source, now());
    const completion = { studyId: due.study_id, completeAfter: deadline };
    await hastenCompletion(database, [completion], 'expected-count');
    return;
  }
  await explainWait(database, { study: due.study_id, revision: due.revision }, count.detail);
  if (count.state === 'missing' && settings?.fetchMissing) {
    const { study_instance_uid: studyInstanceUid } = due;
    const wanted = { archive: archive.name, studyInstanceUid, purpose: 'missing' } as const;
    await requestRetrieval(database, wanted, now());
  }
}

async function countOf(
  { study_instance_uid: study }: DueCount,
  { name, objects }: Archive,
  database: Database,
  signal: AbortSignal,
): Promise<ArchiveCount> {
  try {
    const there = await objectsWeAccept(database, study, await objects(study, { signal }));
    return compareWithArchive(
      name,
      there.map(({ sopInstanceUid }) => sopInstanceUid),
      await receivedUids(database, study),
    );
  } catch (error) {
    const title = ERRORS[error instanceof SonogateError ? error.code : 'internal'].title;
    const detail = `${name} could not list its objects for the study: ${title}.`;
    return { archive: name, state: 'unknown', expected: null, missing: null, detail };
  }
}

/**
 * Compares the SOP Instance UIDs that an archive has of a study (`there`) with those that we have
 * received (`here`).
 */
export function compareWithArchive(
  archive: string,
  there: readonly string[],
  here: ReadonlySet<string>,
): ArchiveCount {
  const known = new Set(there);
  const missing = [...known].filter((uid) => !here.has(uid)).length;
  const behind = [...here].filter((uid) => !known.has(uid)).length;
  const counts = { archive, expected: known.size, missing };
  if (missing > 0) {
    const detail = `${archive} has ${known.size} objects, of which ${missing} have not been received.`;
    return { ...counts, state: 'missing', detail };
  }
  if (behind > 0) {
    const detail = `${archive} has ${known.size} objects, and does not yet have ${behind} of those received.`;
    return { ...counts, state: 'behind', detail };
  }
  return {
    ...counts,
    state: 'complete',
    detail: `All ${known.size} objects in ${archive} have been received.`,
  };
}
