import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Thrown when another living process holds the lock; the message is for the operator. */
export class DatabaseLockedError extends Error {
  override name = 'DatabaseLockedError';
}

/** What a lock file says of its owner: a process id alone may be another process after a reboot. */
interface Owner {
  pid: number;
  started: string;
}

const heldHere = new Set<string>();

/**
 * Start time of a process in clock ticks since boot, with the boot's id, so that a reused process id
 * is not taken for the owner. Empty where /proc does not exist; then the id alone decides.
 */
function startOf(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc(5): field 22; the second field may hold spaces and ends with the last parenthesis.
    return `${boot}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return '';
  }
}

function isAlive({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return started === startOf(pid);
}

function readOwner(path: string): Owner | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof owner === 'object' && owner && 'pid' in owner && 'started' in owner
      ? { pid: Number(owner.pid), started: String(owner.started) }
      : null;
  } catch {
    return null;
  }
}

/** Creates the file with its content in one step; false when it exists. */
function create(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ pid: process.pid, started: startOf(process.pid) }));
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * Moves a dead owner's file out of the way. A second process that found the same dead owner may
 * have been faster: then the file moved is not the dead one's, and it is put back.
 */
function bury(path: string, dead: Owner | null): void {
  const grave = `${path}.dead.${process.pid}`;
  try {
    renameSync(path, grave);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const buried = readOwner(grave);
  const isOther = buried !== null && (buried.pid !== dead?.pid || buried.started !== dead.started);
  if (isOther && isAlive(buried)) linkSync(grave, path);
  rmSync(grave, { force: true });
}

/**
 * Takes the lock, over from a dead owner if need be (kill -9 leaves the file behind).
 * @returns a function that gives it back.
 * @throws DatabaseLockedError while a living process holds it.
 */
export function takeLock(path: string): () => void {
  const release = () => {
    heldHere.delete(path);
    rmSync(path, { force: true });
  };
  const owner = readOwner(path);
  if (heldHere.has(path) || (owner && owner.pid !== process.pid && isAlive(owner))) {
    throw new DatabaseLockedError(
      `The database is in use by process ${owner?.pid ?? process.pid} (${path}). ` +
        'One process at a time may open the embedded database; stop the other one, ' +
        'or set DATABASE_URL to a PostgreSQL server.',
    );
  }
  bury(path, owner);
  if (!create(path)) {
    throw new DatabaseLockedError(`Another process has just opened the database (${path}).`);
  }
  heldHere.add(path);
  return release;
}
