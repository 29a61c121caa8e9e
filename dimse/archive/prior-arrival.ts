import type { Queryable } from '../../src/database/port.ts';

/** How a study stands that is here only because it was fetched to be compared with another. */
export const PRIOR_STUDY = {
  state: 'ignored',
  tag: 'prior',
  reason:
    'Fetched to be compared with a later study; `npx sonogate studies release` interprets it.',
} as const;

/**
 * Whether objects of a study that arrive now were fetched as a prior, by whatever way they come: over
 * our own association, or over one of the archive (C-MOVE), which tells nothing of it.
 */
export async function isArrivingAsPrior(
  database: Queryable,
  studyInstanceUid: string,
  at: Date,
): Promise<boolean> {
  const { rows } = await database.query<{ prior: boolean }>(
    `SELECT COALESCE(bool_and(purpose = 'prior'), false) AS prior FROM retrievals
     WHERE study_instance_uid = $1 AND taken_until > $2`,
    [studyInstanceUid, at],
  );
  return rows[0]?.prior ?? false;
}
