/** What the system says of a connection that could not be made, or broke. */
const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/** SQLSTATE of PostgreSQL: connection exceptions, shutdown, start-up, too many connections. */
const SQLSTATE = /^(08...|57P0[123]|53300)$/;

/** node-postgres gives a session that died under a statement no code. */
const DIED = /^(Connection terminated|Client has encountered a connection error)/;

/** The server is away: nobody's fault but its own, so that nothing may be judged by it. */
export class DatabaseUnreachableError extends Error {
  override name = 'DatabaseUnreachableError';
}

/**
 * The error of a statement as its caller is to meet it: told apart where the server is away, so that
 * a door answers "not now"; any other as it is.
 */
export function asUnreachable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  const away = SYSTEM_CODES.has(code) || SQLSTATE.test(code) || DIED.test(error.message);
  if (!away) return error;
  return new DatabaseUnreachableError(error.message, { cause: error });
}
