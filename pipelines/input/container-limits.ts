/** Bounds on what archives may ask of this machine; all of it goes to disk, never whole to memory. */
export const CONTAINER_LIMITS = {
  /** Archives inside archives, the outermost counted. */
  nesting: 3,
  /** Members of all archives of a study, folders not counted. */
  members: 10_000,
  /** Bytes that all archives of a study unpack to. */
  unpackedBytes: 8 * 1024 ** 3,
  /** Unpacked bytes for each byte of the outermost archive; grey images reach some tens. */
  ratio: 200,
  /** Below this the ratio is not looked at: a small file of one colour is no bomb. */
  ratioFreeBytes: 64 * 1024 ** 2,
  /** Bytes that stay free on the disk that is unpacked to: what else the machine does goes on. */
  freeBytes: 64 * 1024 ** 2,
  /** Characters of a member's path. */
  pathLength: 512,
  /** Folders and name of a member's path. */
  pathDepth: 32,
} as const;

export type ContainerLimits = Readonly<Record<keyof typeof CONTAINER_LIMITS, number>>;
