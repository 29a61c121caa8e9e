/**
 * What reading a file or folder gives, or `fallback` when it is not there (ENOENT).
 * @throws every other error: a folder that may not be read is not an empty one.
 */
export async function ifMissing<Found, Fallback>(
  reading: Promise<Found>,
  fallback: Fallback,
): Promise<Found | Fallback> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return fallback;
    throw error;
  }
}

/** The system call that found the disk full, and PostgreSQL on a server whose disk is (`disk_full`). */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', '53100']);

/** Whether an error says that a disk of the site is full: what failed can be done once there is room. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.has(error.code);
}
