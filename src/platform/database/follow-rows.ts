import type { Queryable } from './port.ts';

/**
 * Maximum time in seconds between the end time in a row and the commit of the row. Each call reads
 * this period again, to find rows that were committed late.
 */
const OVERLAP_SECONDS = 120;
const BATCH = 5000;

/**
 * Follows rows that reach their end. Each call of the returned function calls `onRow` once for
 * every row that has ended since the previous call. A row that ends again is passed again.
 * @param query takes a time and a limit ($1 in Unix seconds, $2) and returns the rows that ended
 * after that time, ordered by `ended` in Unix seconds; it must use an index.
 * @param sinceSeconds rows that ended up to this many seconds before the first call are included.
 */
export function followRows<Row extends { id: string; ended: number }>(
  database: Queryable,
  query: string,
  onRow: (row: Row) => void,
  sinceSeconds = 0,
): () => Promise<void> {
  let begun: number | null = null;
  let latest = 0;
  /**
   * The end time of each row already passed to `onRow`, by the row's id. Later calls read these
   * rows again (`OVERLAP_SECONDS`) and skip those whose end time is unchanged.
   */
  const seen = new Map<string, number>();
  return async () => {
    begun ??= (await clockOf(database)) - sinceSeconds;
    let from = Math.max(begun, latest - OVERLAP_SECONDS);
    for (let whole = false; !whole; ) {
      const { rows } = await database.query<Row>(query, [from, BATCH]);
      for (const row of rows) {
        if (seen.get(row.id) === row.ended) continue;
        seen.set(row.id, row.ended);
        onRow(row);
      }
      from = rows.at(-1)?.ended ?? from;
      whole = rows.length < BATCH;
    }
    latest = Math.max(latest, from);
    for (const [id, ended] of seen) if (ended < latest - OVERLAP_SECONDS) seen.delete(id);
  };
}

/** Returns the database time in Unix seconds; all processes share this clock. */
async function clockOf(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ now: number }>(
    'SELECT EXTRACT(EPOCH FROM clock_timestamp())::float8 AS now',
  );
  return rows[0]?.now ?? 0;
}
