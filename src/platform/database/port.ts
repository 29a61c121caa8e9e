/** The part of `pg.Pool` that the project uses. PGlite is used through the same interface. */
export interface Queryable {
  /**
   * Runs a statement. With a `name`, the session keeps the statement prepared; this is meant for
   * statements that are run often and outside transactions. Such a statement must list its columns,
   * because `*` fails after a migration.
   */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<{ rows: Row[]; rowCount: number | null }>;
}

/** Writes something in the transaction of a change, such as its audit entry. */
export type AlsoStored = (tx: Queryable) => Promise<void>;

export interface Database extends Queryable {
  /** Runs `work` in one transaction, which is rolled back if it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Returns a database whose statements and transactions are all part of one transaction. */
export function withinTransaction(tx: Queryable): Database {
  return { query: tx.query, transaction: (work) => work(tx), close: async () => {} };
}
