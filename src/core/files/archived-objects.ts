/** An object in an archive, fetched when its request starts. */
export interface ArchivedObject {
  archive: string;
  studyInstanceUid: string;
  seriesInstanceUid: string;
  sopInstanceUid: string;
  /** '' if the archive does not report the class. */
  sopClassUid: string;
}

/** An object to fetch, and the path under which it is to be stored. */
interface WantedObject {
  object: ArchivedObject;
  path: string;
}

/**
 * Fetches objects of one study from its archive.
 * @returns the paths of those that the archive did not send.
 * @throws SonogateError if the archive fails; the system error if a file cannot be written; the
 * abort reason of `signal`.
 */
export type FetchArchivedObjects = (
  wanted: readonly WantedObject[],
  signal: AbortSignal,
) => Promise<string[]>;
