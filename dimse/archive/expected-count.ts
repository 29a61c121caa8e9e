import type { Source } from '../../config/schema.ts';
import {
  type ArchiveCount,
  expectedCountSettings,
  explainWait,
  secondsAfter,
} from '../../src/core/studies/archive-count.ts';
import { expectedDeadline, hastenCompletion } from '../../src/core/studies/completion.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { ERRORS, SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { Archive } from './archive.ts';
import { objectsWeAccept, receivedUids, requestRetrieval } from './retrievals.ts';

interface DueCount {
  study_id: string;
  revision: number;
  study_instance_uid: string;
  source: string;
}

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
  const { database, now } = parts;
  // Stop asking about studies that are no longer receiving objects or have a later revision.
  await database.query(
    `UPDATE archive_counts c SET ask_at = 'infinity'
     WHERE c.archive = $1 AND c.state <> 'complete' AND c.ask_at <= $2 AND NOT EXISTS (
       SELECT 1 FROM studies s
       WHERE s.id = c.study_id AND s.revision = c.revision AND s.state = 'receiving')`,
    [archive.name, now()],
  );
  const { rows } = await database.query<DueCount>(
    `UPDATE archive_counts c SET ask_at = $2 FROM studies s
     WHERE s.id = c.study_id AND (c.study_id, c.revision) IN (
       SELECT due.study_id, due.revision FROM archive_counts due
         JOIN studies d ON d.id = due.study_id AND d.revision = due.revision
       WHERE due.archive = $1 AND due.state <> 'complete' AND due.ask_at <= $3
         AND d.state = 'receiving'
       ORDER BY due.ask_at LIMIT $4 FOR UPDATE OF due SKIP LOCKED)
     RETURNING c.study_id, c.revision, s.study_instance_uid, s.source`,
    [archive.name, secondsAfter(now(), ASKING_SECONDS), now(), AT_A_TIME],
  );
  await Promise.all(rows.map((due) => askCount(due, archive, parts, signal)));
  return rows.length;
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
    await database.query(
      'UPDATE archive_counts SET ask_at = $3 WHERE study_id = $1 AND revision = $2',
      [due.study_id, due.revision, now()],
    );
    return;
  }
  await database.query(
    `UPDATE archive_counts SET state = $3, expected = $4, missing = $5, detail = $6, ask_at = $7
     WHERE study_id = $1 AND revision = $2`,
    [due.study_id, due.revision, count.state, count.expected, count.missing, count.detail, again],
  );
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
