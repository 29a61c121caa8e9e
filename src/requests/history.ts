import type { Queryable } from '../database/port.ts';
import type { RequestStatus } from './port.ts';
import type { StoredRequest } from './row.ts';

/** Filters of `GET /v1/requests`; `model` is a model or an endpoint id. */
export interface HistoryQuery {
  accountId: string | null;
  model?: string | undefined;
  status?: RequestStatus[] | undefined;
  key?: string | undefined;
  since?: Date | undefined;
  limit: number;
  /** `nextCursor` of the page before: the id of its last request. */
  cursor?: string | undefined;
}

export interface HistoryPage {
  rows: StoredRequest[];
  nextCursor: string | null;
}

/** Newest first. Ids sort by time, so a page is stable under inserts. */
export async function listHistory(database: Queryable, query: HistoryQuery): Promise<HistoryPage> {
  const { rows } = await database.query<StoredRequest>(
    `SELECT * FROM requests
     WHERE ($1::text IS NULL OR account_id = $1)
       AND ($2::text IS NULL OR model = $2 OR endpoint = $2)
       AND ($3::text[] IS NULL OR status = ANY ($3::text[]))
       AND ($4::text IS NULL OR key_id = $4)
       AND ($5::timestamptz IS NULL OR created_at >= $5)
       AND ($6::text IS NULL OR id < $6)
     ORDER BY id DESC LIMIT $7`,
    [
      query.accountId,
      query.model ?? null,
      query.status?.length ? query.status : null,
      query.key ?? null,
      query.since ?? null,
      query.cursor ?? null,
      query.limit + 1,
    ],
  );
  const page = rows.slice(0, query.limit);
  return { rows: page, nextCursor: rows.length > page.length ? (page.at(-1)?.id ?? null) : null };
}
