import { resolve } from 'node:path';
import type { PriorsSettings } from '../../../config/peers.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { secondsAfter } from '../../platform/time.ts';
import type { RequestFile } from '../requests/request.ts';
import { fileName, type InstanceRow, type StudyRow } from './study-store.ts';

/**
 * The search for earlier examinations of one study under one rule.
 *
 *   searching ──▶ found        some are added to the request
 *       │     ──▶ none         the archives have none that can be used
 *       └─────▶ unavailable    no answer in time: the request runs without them, and reports it
 */
export interface PriorSearch {
  rule: string;
  state: 'searching' | 'found' | 'none' | 'unavailable';
  /**
   * The outcome as text for a person; null while the search is running. Contains no identity and no
   * date.
   */
  detail: string | null;
}

export interface Priors {
  files: RequestFile[];
  /** The outcome of the search as text for a person. */
  note: string;
}

const TOO_LATE = 'Not available: no response in time.';

/**
 * Returns the earlier examinations for a revision under a rule. The first call starts the search.
 * @returns the earlier examinations or, while the search is running, the time until which the study
 * waits.
 */
export async function priorsFor(
  database: Database,
  study: Pick<StudyRow, 'id' | 'revision'>,
  rule: { name: string; priors: PriorsSettings },
  { dataDir, at }: { dataDir: string; at: Date },
): Promise<Priors | { waitsUntil: Date }> {
  const { id, revision } = study;
  const key = [id, revision, rule.name];
  await database.query(
    `INSERT INTO prior_searches (study_id, revision, rule, state, settings, deadline)
     VALUES ($1, $2, $3, 'searching', $4, $5) ON CONFLICT DO NOTHING`,
    [...key, JSON.stringify(rule.priors), secondsAfter(at, rule.priors.waitSeconds)],
  );
  await database.query(
    `UPDATE prior_searches SET state = 'unavailable', detail = $5
     WHERE study_id = $1 AND revision = $2 AND rule = $3 AND state = 'searching' AND deadline <= $4`,
    [...key, at, TOO_LATE],
  );
  const { rows } = await database.query<PriorSearch & { deadline: Date; instances: string[] }>(
    `SELECT state, deadline, instances, detail FROM prior_searches
     WHERE study_id = $1 AND revision = $2 AND rule = $3`,
    key,
  );
  const [search] = rows;
  if (!search) throw new Error('the row of the search for priors disappeared');
  if (search.state === 'searching') return { waitsUntil: search.deadline };
  const files = await priorFiles(database, search.instances, dataDir);
  return { files, note: search.detail ?? '' };
}

/** A claimed search, with the settings of the rule for which it is made. */
interface ClaimedSearch {
  study: string;
  revision: number;
  rule: string;
  settings: PriorsSettings;
  deadline: Date;
  identity: DicomIdentity;
}

type SearchKey = Pick<ClaimedSearch, 'study' | 'revision' | 'rule'>;

/**
 * Claims the search whose deadline is next. Until `claimedUntil` no other process searches.
 * @returns null if no search is due.
 */
export async function claimPriorSearch(
  database: Queryable,
  at: Date,
  claimedUntil: Date,
): Promise<ClaimedSearch | null> {
  const { rows } = await database.query<ClaimedSearch>(
    `UPDATE prior_searches p SET taken_until = $2 FROM studies s
     WHERE s.id = p.study_id AND (p.study_id, p.revision, p.rule) = (
       SELECT study_id, revision, rule FROM prior_searches
       WHERE state = 'searching' AND deadline > $1 AND (taken_until IS NULL OR taken_until < $1)
       ORDER BY deadline LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING p.study_id AS study, p.revision, p.rule, p.settings, p.deadline, s.identity`,
    [at, claimedUntil],
  );
  return rows[0] ?? null;
}

/** Renews the claim on a search; null ends it, so that another process can search at once. */
export async function renewPriorSearch(
  database: Queryable,
  { study, revision, rule }: SearchKey,
  claimedUntil: Date | null,
): Promise<void> {
  await database.query(
    `UPDATE prior_searches SET taken_until = $4 WHERE study_id = $1 AND revision = $2
       AND rule = $3 AND state = 'searching' AND taken_until IS NOT NULL`,
    [study, revision, rule, claimedUntil],
  );
}

/**
 * Records the outcome of a search, and lets its study continue at once. Nothing is recorded if the
 * search has already ended because its deadline had passed.
 */
export async function endPriorSearch(
  database: Database,
  { study, revision, rule }: SearchKey,
  found: Pick<PriorSearch, 'state' | 'detail'> & { instances: readonly string[] },
  at: Date,
): Promise<void> {
  await database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `UPDATE prior_searches SET state = $4, detail = $5, instances = $6
       WHERE study_id = $1 AND revision = $2 AND rule = $3 AND state = 'searching'`,
      [study, revision, rule, found.state, found.detail, found.instances],
    );
    if (rowCount !== 1) return;
    await tx.query(
      `UPDATE studies SET next_attempt_at = $3
       WHERE id = $1 AND revision = $2 AND state = 'complete' AND next_attempt_at > $3`,
      [study, revision, at],
    );
  });
}

/**
 * Returns priors as request files. Their names never collide with those of the study or of other
 * priors.
 */
async function priorFiles(
  database: Queryable,
  ids: readonly string[],
  dataDir: string,
): Promise<RequestFile[]> {
  const { rows } = await database.query<
    Pick<InstanceRow, 'ordinal' | 'path' | 'file_sha256'> & { study_id: string }
  >(
    `SELECT study_id, ordinal, path, file_sha256 FROM instances
     WHERE id = ANY ($1::uuid[]) ORDER BY study_id, ordinal`,
    [ids],
  );
  const studies = [...new Set(rows.map(({ study_id }) => study_id))];
  return rows.map((row) => ({
    name: `prior-${studies.indexOf(row.study_id) + 1}-${fileName(row)}`,
    path: resolve(dataDir, row.path),
    sha256: row.file_sha256,
  }));
}

/** Returns every search for a revision, for `explain`. */
export async function priorSearches(
  database: Queryable,
  { id, revision }: Pick<StudyRow, 'id' | 'revision'>,
): Promise<PriorSearch[]> {
  const { rows } = await database.query<PriorSearch>(
    `SELECT rule, state, detail FROM prior_searches WHERE study_id = $1 AND revision = $2
     ORDER BY rule`,
    [id, revision],
  );
  return rows;
}

/** State, tag and reason of a study that was received only as a prior of another study. */
export const PRIOR_STUDY = {
  state: 'ignored',
  tag: 'prior',
  reason:
    'Retrieved for comparison with a later study; `npx sonogate studies release` interprets it.',
} as const;

/** Allows a study retrieved as a prior to be interpreted, because a person asked for it. */
export async function reopenPrior(
  database: Queryable,
  studyInstanceUid: string,
  at: Date,
): Promise<void> {
  await database.query(
    `UPDATE studies SET state = 'receiving', reason = NULL, complete_after = $2,
       complete_because = 'command', tags = array_remove(tags, $4)
     WHERE study_instance_uid = $1 AND state = $3 AND $4 = ANY (tags)`,
    [studyInstanceUid, at, PRIOR_STUDY.state, PRIOR_STUDY.tag],
  );
}

/**
 * Returns those of the given studies whose arriving objects count as retrieved priors. The
 * association cannot show this: with C-MOVE, the archive opens it, just as for objects that we did
 * not request.
 */
export async function arrivingAsPriors(
  database: Queryable,
  studyInstanceUids: readonly string[],
  at: Date,
): Promise<Set<string>> {
  const { rows } = await database.query<{ uid: string }>(
    `SELECT study_instance_uid AS uid FROM retrievals
     WHERE study_instance_uid = ANY ($1::text[]) AND taken_until > $2
     GROUP BY study_instance_uid HAVING bool_and(purpose = 'prior')`,
    [studyInstanceUids, at],
  );
  return new Set(rows.map(({ uid }) => uid));
}
