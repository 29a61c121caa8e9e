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
