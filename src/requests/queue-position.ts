import type { Queryable } from '../database/port.ts';
import type { RequestRow } from './row.ts';

const RANK = `array_position(ARRAY['high', 'normal', 'low'], priority)`;

/** How many queued requests are taken up before this one: by priority, then by age. */
export async function queuePosition(
  database: Queryable,
  { id }: Pick<RequestRow, 'id'>,
): Promise<number> {
  const { rows } = await database.query<{ ahead: number }>(
    `SELECT count(*)::int AS ahead FROM requests
     WHERE status = 'queued' AND (${RANK}, id) < (SELECT ${RANK}, id FROM requests WHERE id = $1)`,
    [id],
  );
  return rows[0]?.ahead ?? 0;
}
