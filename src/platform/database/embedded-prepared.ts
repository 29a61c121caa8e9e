import { type messages, type PGlite, protocol, types } from '@electric-sql/pglite';
import type { QueryResult } from './embedded-thread.ts';

const { serialize } = protocol;

/** What the session answers when it prepares a statement. */
interface Prepared {
  text: string;
  /** OIDs of the types of its parameters. */
  parameters: readonly number[];
  columns: readonly messages.Field[];
}

/**
 * Returns a function that runs a named statement, which the session parses once and soon plans once.
 * `PGlite.query` would do both at every call, in six exchanges instead of one, and most statements
 * take longer to plan than to execute.
 */
export function preparedStatements(pglite: PGlite) {
  const known = new Map<string, Prepared>();

  const exchange = async (...sent: Uint8Array[]) =>
    (await pglite.execProtocol(Buffer.concat([...sent, serialize.sync()]))).messages;

  const prepare = async (name: string, text: string): Promise<Prepared> => {
    const answers = await exchange(
      serialize.parse({ name, text }),
      serialize.describe({ type: 'S', name }),
    );
    const parameters = answers.find(
      is<messages.ParameterDescriptionMessage>('parameterDescription'),
    );
    const columns = answers.find(is<messages.RowDescriptionMessage>('rowDescription'));
    const prepared = {
      text,
      parameters: parameters?.dataTypeIDs ?? [],
      columns: columns?.fields ?? [],
    };
    known.set(name, prepared);
    return prepared;
  };

  return (name: string, text: string, values: readonly unknown[]): Promise<QueryResult<unknown>> =>
    pglite.runExclusive(async () => {
      const prepared = known.get(name) ?? (await prepare(name, text));
      if (prepared.text !== text) throw new Error(`two statements have the name ${name}`);
      const { parameters, columns } = prepared;
      const asText = values.map((value, n) => {
        if (value === null || value === undefined) return null;
        return (pglite.serializers[parameters[n] ?? 0] ?? String)(value);
      });
      const answers = await exchange(
        serialize.bind({ statement: name, values: asText }),
        serialize.execute({}),
      );
      const rows = answers
        .filter(is<messages.DataRowMessage>('dataRow'))
        .map(({ fields }) =>
          Object.fromEntries(
            columns.map((column, n) => [
              column.name,
              types.parseType(fields[n] ?? null, column.dataTypeID, pglite.parsers),
            ]),
          ),
        );
      const complete = answers.find(is<messages.CommandCompleteMessage>('commandComplete'));
      // The tag ends with the number of rows: `UPDATE 1`, `INSERT 0 1`.
      const count = /\d+$/.exec(complete?.text ?? '')?.[0];
      return { rows, rowCount: count === undefined ? null : Number(count) };
    });
}

const is =
  <Message extends { name: string }>(name: Message['name']) =>
  (message: { name: string }): message is Message =>
    message.name === name;
