import type { Queryable } from '../../src/database/port.ts';
import { ownSeries } from '../own-results.ts';
import { ACCEPTED_STORAGE } from '../sop-classes.ts';
import type { FoundObject } from './archive.ts';

/** SOP Instance UIDs of a study that lie in the intake. */
export async function heldUids(
  database: Queryable,
  studyInstanceUid: string,
): Promise<Set<string>> {
  const { rows } = await database.query<{ uid: string }>(
    `SELECT DISTINCT i.sop_instance_uid AS uid FROM instances i JOIN studies s ON s.id = i.study_id
     WHERE s.study_instance_uid = $1`,
    [studyInstanceUid],
  );
  return new Set(rows.map(({ uid }) => uid));
}

/**
 * Of what an archive has of a study, the objects that could come to us: of a class that we take, and
 * no result of our own that was sent there.
 */
export async function comingToUs(
  database: Queryable,
  studyInstanceUid: string,
  objects: readonly FoundObject[],
): Promise<FoundObject[]> {
  const ours = await ownSeries(database, studyInstanceUid);
  return objects.filter(
    ({ sopClassUid, seriesInstanceUid }) =>
      (sopClassUid === '' || ACCEPTED_STORAGE.has(sopClassUid)) && !ours.has(seriesInstanceUid),
  );
}
