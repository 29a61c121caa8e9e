/** The part of `pg.Pool` that the project uses; PGlite is given the same shape. */
export interface Queryable {
  /**
   * With a `name` a session of a server keeps the statement prepared: for those that many calls
   * make outside transactions. Such a statement spells its columns out: `*` fails after a migration.
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
