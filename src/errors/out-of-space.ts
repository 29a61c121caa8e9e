/** The system call that found the disk full, and PostgreSQL on a server whose disk is (`disk_full`). */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', '53100']);

/** Whether an error says that a disk of the site is full: what failed can be done once there is room. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.has(error.code);
}
