import { migrate } from './migrate.ts';
import type { PooledDatabase } from './pooled.ts';
import type { Queryable } from './port.ts';

/** Number of rows held in memory at a time. */
const BATCH = 1000;

/** SQL settings under which rows have the same text in both databases. */
const SAME_TEXT = `SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres';
  SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'`;

/**
 * The only table in which the schema itself inserts a row. A row in any other table was written by
 * a gateway.
 */
const SEEDED_TABLE = 'accounts';

/** Thrown if the target database already belongs to a gateway. */
export class DatabaseNotEmptyError extends Error {
  override name = 'DatabaseNotEmptyError';
  constructor(table: string) {
    super(
      `The target database already contains rows (${table}), so nothing was copied. Use an empty database.`,
    );
  }
}

/** Thrown if the written rows differ from those that were read. The copy has been rolled back. */
class CopyDiffersError extends Error {
  override name = 'CopyDiffersError';
  constructor(table: string) {
    super(`The copy of ${table} differs from its source; nothing was kept. Please report this.`);
  }
}

interface Table {
  name: string;
  /** Column names in the order of the target database. */
  columns: string[];
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

const rowOf = ({ columns }: Table) => `ROW(${columns.map(quoted).join(', ')})::text`;

/**
 * Returns the tables in the current schema, except the list of migrations. The tables of the queue
 * are in another schema.
 */
async function tablesOf(database: Queryable): Promise<Table[]> {
  const { rows } = await database.query<Table>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
       AND c.relname <> 'schema_migrations'
     GROUP BY c.relname ORDER BY c.relname`,
  );
  return rows;
}

async function requireEmpty(to: Queryable, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    if (name === SEEDED_TABLE) continue;
    const { rows } = await to.query(`SELECT 1 FROM ${quoted(name)} LIMIT 1`);
    if (rows.length > 0) throw new DatabaseNotEmptyError(name);
  }
}

/**
 * Defers the foreign key checks to the end, because rows may refer to later rows in the same table.
 */
async function deferForeignKeys(to: Queryable, clause: string): Promise<void> {
  const { rows } = await to.query<{ name: string; table: string }>(
    `SELECT conname AS name, conrelid::regclass::text AS "table" FROM pg_constraint
     WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`,
  );
  for (const { name, table } of rows) {
    await to.query(`ALTER TABLE ${table} ALTER CONSTRAINT ${quoted(name)} ${clause}`);
  }
}

/** Returns the number of rows, and an order-independent sum of their digests. */
async function digestOf(database: Queryable, table: Table): Promise<{ rows: number; sum: string }> {
  const { rows } = await database.query<{ count: number; sum: string | null }>(
    `SELECT count(*)::int AS count,
       sum(('x' || substr(md5(${rowOf(table)}), 1, 16))::bit(64)::bigint::numeric)::text AS sum
     FROM ${quoted(table.name)}`,
  );
  return { rows: rows[0]?.count ?? 0, sum: rows[0]?.sum ?? '' };
}

async function copyTable(from: Queryable, to: Queryable, table: Table): Promise<void> {
  const name = quoted(table.name);
  const columns = table.columns.map(quoted).join(', ');
  await from.query(
    `DECLARE rows_to_copy NO SCROLL CURSOR FOR SELECT ${rowOf(table)} AS row FROM ${name}`,
  );
  for (;;) {
    const { rows } = await from.query<{ row: string }>(`FETCH ${BATCH} FROM rows_to_copy`);
    if (rows.length === 0) break;
    await to.query(
      `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE
       SELECT (row::${name}).* FROM unnest($1::text[]) AS row`,
      [rows.map(({ row }) => row)],
    );
  }
  await from.query('CLOSE rows_to_copy');
}

/**
 * Makes identity columns continue after the source's last number, even if the row with that number
 * was removed.
 */
async function continueSequences(from: Queryable, to: Queryable): Promise<void> {
  const { rows } = await to.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace`,
  );
  for (const { name } of rows) {
    const { rows: last } = await from.query<{ value: string; called: boolean }>(
      `SELECT last_value::text AS value, is_called AS called FROM ${quoted(name)}`,
    );
    await to.query('SELECT setval($1::regclass, $2::bigint, $3)', [
      quoted(name),
      last[0]?.value,
      last[0]?.called,
    ]);
  }
}

/**
 * Copies every row of one database into an empty one, in one transaction on each side. Either all
 * rows are copied and compared, or none. The jobs of the queue are not copied, because the gateway
 * recreates them from the requests.
 * @returns the number of rows in each table.
 * @throws DatabaseNotEmptyError, CopyDiffersError
 */
export async function copyDatabase(
  from: PooledDatabase,
  to: PooledDatabase,
): Promise<{ table: string; rows: number }[]> {
  await migrate(from);
  await migrate(to);
  return from.transaction((source) =>
    to.transaction(async (target) => {
      for (const database of [source, target]) {
        for (const statement of SAME_TEXT.split(';')) await database.query(statement);
      }
      const tables = await tablesOf(target);
      await requireEmpty(target, tables);
      await deferForeignKeys(target, 'DEFERRABLE INITIALLY DEFERRED');
      for (const { name } of tables) {
        await target.query(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`);
      }
      await target.query(`DELETE FROM ${quoted(SEEDED_TABLE)}`);
      for (const table of tables) await copyTable(source, target, table);
      await continueSequences(source, target);
      await target.query('SET CONSTRAINTS ALL IMMEDIATE');
      for (const { name } of tables) {
        await target.query(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`);
      }
      await deferForeignKeys(target, 'NOT DEFERRABLE');
      const copied: { table: string; rows: number }[] = [];
      for (const table of tables) {
        const [read, written] = [await digestOf(source, table), await digestOf(target, table)];
        if (read.rows !== written.rows || read.sum !== written.sum) {
          throw new CopyDiffersError(table.name);
        }
        copied.push({ table: table.name, rows: written.rows });
      }
      return copied;
    }),
  );
}
