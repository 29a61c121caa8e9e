import type { Queryable } from '../database/port.ts';

/** The name that a key was made with; '' when there is no such key. */
export async function keyName(database: Queryable, id: string): Promise<string> {
  const { rows } = await database.query<{ name: string }>(
    'SELECT name FROM api_keys WHERE id = $1',
    [id],
  );
  return rows[0]?.name ?? '';
}
