/** An object as its row names it. */
export interface KeptObject {
  /** Below the data folder of the machine that received it. */
  path: string;
  /** SHA-256 of the whole file. */
  fileSha256: string;
}

/**
 * The objects that came by DICOM, wherever in the site they were received. They lie in the data
 * folder of the listener's machine and, where the site has a bucket, under their SHA-256 in it too:
 * then any machine has them, and the data folders are caches.
 */
export interface ReceivedObjects {
  /** Whether the site has a bucket. */
  shared: boolean;
  /**
   * Makes an object that lies synced in the data folder safe for the whole site.
   * @throws SonogateError `storage_unreachable`
   */
  keep(object: KeptObject & { bytes: number }): Promise<void>;
  has(object: KeptObject): Promise<boolean>;
  /**
   * Removes the bytes of an object that no row names from where machines share them; those
   * written within the last hour stay.
   */
  remove(fileSha256: string, now: Date): Promise<void>;
  /** Path on this machine, fetched when another one received it; null when it is nowhere to be found. */
  locate(object: KeptObject): Promise<string | null>;
}
