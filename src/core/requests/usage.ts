import type { Queryable } from '../../platform/database/port.ts';

/** The requests made with one key that ended in one month (UTC), and their cost. */
interface UsageRow {
  /** Month, such as `2026-11`. */
  month: string;
  /** Id of the API key; null for studies received by DICOM. */
  key_id: string | null;
  /** Number of requests that ended, whatever the outcome. */
  requests: number;
  succeeded: number;
  /** Exact decimal amount in USD. */
  total: string;
}

/**
 * Returns the usage of an account by month and key, newest month first; only one month if `month`
 * is given. The totals are the sums of the costs recorded for the requests.
 */
export async function monthlyUsage(
  database: Queryable,
  {
    accountId,
    month,
    key,
    testOnly = false,
  }: {
    accountId: string;
    month?: string | undefined;
    key?: string | undefined;
    testOnly?: boolean;
  },
): Promise<UsageRow[]> {
  const { rows } = await database.query<UsageRow>(
    `SELECT to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, key_id,
       count(*)::int AS requests,
       (count(*) FILTER (WHERE status IN ('succeeded', 'expired')))::int AS succeeded,
       sum((cost->>'total')::numeric)::text AS total
     FROM requests
     WHERE account_id = $1 AND ended_at IS NOT NULL AND ($3::text IS NULL OR key_id = $3)
       AND (test OR NOT $4)
       AND ($2::text IS NULL OR to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM') = $2)
     GROUP BY 1, 2 ORDER BY 1 DESC, 2`,
    [accountId, month ?? null, key ?? null, testOnly],
  );
  return rows;
}
