import { CommanderError, InvalidArgumentError } from 'commander';
import { ApiError, NoAnswerError } from '../../../clients/typescript/src/transport.ts';
import { ConfigError } from '../../../config/load.ts';
import { NoGatewayError } from '../../operations/socket.ts';
import { DatabaseUnreachableError, whyDatabaseRefuses } from '../../platform/database/pooled.ts';
import { catalogueEntry, type ErrorCode, SonogateError } from '../../platform/errors/catalogue.ts';
import { connectionFailure, withMeaning } from '../../platform/errors/connection-failures.ts';

/**
 * Exit status of a command, so that a script can react to the kind of failure (docs/operations.md).
 * `doctor` uses other statuses, listed in its help.
 */
export const EXIT = {
  success: 0,
  /** A fault in the program itself, which should be reported. */
  unexpected: 1,
  /** Invalid arguments or settings: the command must be changed. */
  usage: 2,
  /** The gateway or the peer responded with a refusal. */
  refused: 3,
  /** No peer responded. Trying again later may help. */
  unreachable: 4,
  /** The work was accepted but failed. */
  failed: 5,
} as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

export class UsageError extends Error {
  override name = 'UsageError';
}

/** Errors that mean that the peer did not respond. */
const UNANSWERED: ReadonlySet<ErrorCode> = new Set([
  'peer_unreachable',
  'peer_connection_lost',
  'ehr_unavailable',
  'database_unreachable',
  'storage_unreachable',
]);

/** Lowest HTTP status for a failure that is the server's fault (RFC 9110 15.6). */
const SERVER_ERROR = 500;

/**
 * Returns the exit status of a failure, and a line for a person; null if the line was already
 * printed.
 */
export function explainFailure(error: unknown): { status: ExitStatus; line: string | null } {
  // This error comes from our own option parser; commander throws its own errors and prints them
  // itself.
  if (error instanceof InvalidArgumentError) return { status: EXIT.usage, line: error.message };
  if (error instanceof CommanderError) {
    return { status: error.exitCode === 0 ? EXIT.success : EXIT.usage, line: null };
  }
  if (error instanceof UsageError || error instanceof ConfigError) {
    return { status: EXIT.usage, line: error.message };
  }
  if (error instanceof NoAnswerError || error instanceof NoGatewayError) {
    return { status: EXIT.unreachable, line: withMeaning(error.message) };
  }
  if (error instanceof ApiError) {
    const refused = error.problem.status < SERVER_ERROR;
    return { status: refused ? EXIT.refused : EXIT.failed, line: error.message };
  }
  if (error instanceof SonogateError) {
    return { status: statusOf(error.code), line: `${error.code}: ${inWords(error)}` };
  }
  if (error instanceof DatabaseUnreachableError) {
    return { status: EXIT.unreachable, line: withMeaning(`database: ${error.message}`) };
  }
  const refusal = whyDatabaseRefuses(error);
  if (refusal !== null) return { status: EXIT.usage, line: `database: ${refusal}` };
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (path !== undefined && code !== undefined && code in FILE_ERRORS) {
    const line = `${FILE_ERRORS[code as keyof typeof FILE_ERRORS]}: ${path}`;
    return { status: EXIT.usage, line };
  }
  if (code === 'EADDRINUSE') return { status: EXIT.usage, line: withMeaning(message) };
  return { status: EXIT.unexpected, line: message };
}

/**
 * Returns the detail of an error, with a failed connection described in words rather than as a
 * system call.
 */
export function inWords({ detail, cause }: SonogateError): string {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return (code && connectionFailure(code)) || detail;
}

const FILE_ERRORS = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied for this file or folder',
  EISDIR: 'this is a folder, not a file',
  ENOTDIR: 'this is a file, not a folder',
  EEXIST: 'there is already a file with this name',
} as const;

export function statusOf(code: ErrorCode): ExitStatus {
  if (UNANSWERED.has(code)) return EXIT.unreachable;
  if (code === 'invalid_config') return EXIT.usage;
  const { http = 0 } = catalogueEntry(code);
  return http < SERVER_ERROR ? EXIT.refused : EXIT.failed;
}
