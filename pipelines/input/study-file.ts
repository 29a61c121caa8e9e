/** A file of a study on the disk of this machine. */
export interface StudyFile {
  /** As the request knows it; for a member of an archive `archive.zip/path/in/it`. */
  name: string;
  path: string;
}
