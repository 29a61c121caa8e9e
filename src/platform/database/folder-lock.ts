import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';

/**
 * The lock on the embedded database, held by the operating system. SQLite, which is part of
 * Node.js, locks a file next to the database (fcntl). The lock ends with its process, even if the
 * process is killed, and excludes every other process that can access the file. Process ids would
 * not work: in two containers sharing a data folder, both gateways are process 1.
 */

/** Thrown if another process has the database open. The message is for the operator. */
export class DatabaseLockedError extends Error {
  override name = 'DatabaseLockedError';

  constructor(who: string) {
    super(
      `The database is in use by ${who}. One process at a time may open the embedded database; ` +
        'stop the other one, or set DATABASE_URL to a PostgreSQL server.',
    );
  }
}

/** Thrown if the lock file cannot be opened or written. */
export class LockFileError extends Error {
  override name = 'LockFileError';

  constructor(path: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`The lock of the embedded database, ${path}, cannot be acquired: ${why}.`, { cause });
  }
}

/** SQLITE_BUSY: another connection holds the lock. */
const BUSY = 5;

/**
 * Locks a file.
 * @param path the file's path. A second file with the suffix `.owner` identifies the process for
 * the operator.
 * @returns a function that releases the lock.
 * @throws DatabaseLockedError while another process, or another part of this one, holds the lock.
 * @throws LockFileError if the disk is full or the folder is not writable.
 */
export function takeLock(path: string): () => void {
  const ownerPath = `${path}.owner`;
  const lock = lockFile(path);
  try {
    // An exclusive transaction that writes nothing locks the file. The file stays empty and has no
    // journal.
    lock.exec('BEGIN EXCLUSIVE');
    writeFileSync(ownerPath, `process ${process.pid} on ${hostname()}`, { mode: 0o600 });
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw new LockFileError(path, error);
    throw new DatabaseLockedError(`${ownerIn(ownerPath)} (${path})`);
  }
  return () => {
    rmSync(ownerPath, { force: true });
    // The file is not deleted, because a process that has already opened it could then lock a
    // deleted file.
    lock.close();
  };
}

function lockFile(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw new LockFileError(path, error);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === BUSY;
}

function ownerIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return 'another process';
  }
}
