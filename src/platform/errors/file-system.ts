/**
 * Returns the result of reading a file or folder, or `fallback` if it does not exist (ENOENT).
 * @throws every other error: an unreadable folder is not an empty folder.
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

/** Error codes for a full disk: from the system call, and from PostgreSQL (`disk_full`). */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', '53100']);

/**
 * Returns true if an error means that a disk is full. The work can be repeated once there is space.
 */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.has(error.code);
}
