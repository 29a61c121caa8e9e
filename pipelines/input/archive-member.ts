/** One entry of an archive that is not a folder. */
export interface ArchiveMember {
  /** As the archive writes it: not yet safe to show or to use. */
  path: string;
  /** Why the entry is not read, in a sentence; null for a plain file. */
  refused: string | null;
  /** The bytes, unpacked as they are taken; they end before the next member is asked for. */
  content(): AsyncIterable<Buffer>;
}
