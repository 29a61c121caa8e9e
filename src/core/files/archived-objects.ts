/** An object in an archive of the site, which is fetched when its request starts. */
export interface ArchivedObject {
  /** Name of the archive in the configuration. */
  archive: string;
  studyInstanceUid: string;
  seriesInstanceUid: string;
  sopInstanceUid: string;
  /** '' if the archive does not report the class. */
  sopClassUid: string;
}

/** An object to fetch, with the path under which it is stored. */
export interface WantedObject {
  object: ArchivedObject;
  path: string;
}

/**
 * Fetches objects of one study from its archive.
 * @returns the paths of those that the archive did not send.
 * @throws SonogateError of the archive; the system's error when a file cannot be written; the reason
 * of `signal` when it aborts.
 */
export type FetchArchivedObjects = (
  wanted: readonly WantedObject[],
  signal: AbortSignal,
) => Promise<string[]>;
