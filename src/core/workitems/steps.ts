import type { Queryable } from '../../platform/database/port.ts';
import { firstId } from '../../platform/ids.ts';
import { COLUMNS, type Finder, VISIBLE, visibleTo } from './find.ts';
import { DELIVERING, type WorkitemRow } from './workitem.ts';

/** Returns the steps that have not ended, and the steps that were created after a time. */
export async function openSteps(
  database: Queryable,
  finder: Finder,
  since: Date,
): Promise<WorkitemRow[]> {
  const { rows } = await database.query<WorkitemRow>(
    `SELECT ${COLUMNS} ${VISIBLE} AND (r.status IN ('queued', 'preparing', 'running')
       OR (r.ended_at > now() - interval '1 day' AND ${DELIVERING}) OR r.id >= $4)
     ORDER BY r.id`,
    [...visibleTo(finder), firstId('req', since)],
  );
  return rows;
}

/**
 * Returns the steps with these ids, and the steps that were created after a time, oldest first.
 */
export async function stepsChanged(
  database: Queryable,
  finder: Finder,
  { ids, since }: { ids: readonly string[]; since: Date },
): Promise<WorkitemRow[]> {
  const { rows } = await database.query<WorkitemRow>(
    `SELECT ${COLUMNS} ${VISIBLE} AND (r.id = ANY ($4::text[]) OR r.id >= $5) ORDER BY r.id`,
    [...visibleTo(finder), ids, firstId('req', since)],
  );
  return rows;
}
