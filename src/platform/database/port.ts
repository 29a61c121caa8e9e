/** The part of `pg.Pool` that the project uses; PGlite has the same shape here. */
export interface Queryable {
  /**
   * With a `name`, the session of a server keeps the statement prepared: for statements that many
   * calls make outside transactions. Such a statement lists its columns: `*` fails after a
   * migration.
   */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<{ rows: Row[]; rowCount: number | null }>;
}

export interface Database extends Queryable {
  /** Runs `work` in one transaction; rolled back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
