/**
 * Limits on the resources of this process that one file may use. A file beyond a limit is refused
 * with a sentence.
 */
export const LIMITS = {
  /** Data elements before the pixel data. Real ultrasound headers have a few hundred. */
  headerElements: 50_000,
  sequenceDepth: 16,
  /** Bytes of a value that is read. The largest values are palettes of 65536 16-bit entries. */
  valueBytes: 131_072,
  regions: 64,
  framesPerClip: 20_000,
  pixelsPerFrame: 40_000_000,
  /** Compressed bytes of one frame. */
  frameBytes: 256 * 1024 * 1024,
  /** Pixels of all frames of a GIF or WebP, enough for 1,300 frames of 640 x 480. */
  pixelsPerAnimation: 400_000_000,
  /** Bytes of decoded frames of one GIF or WebP that are in memory at a time. */
  animationRunBytes: 32 * 1024 * 1024,
  /**
   * Pixels of the largest frame of H.264 level 5.2, 4096 x 2304. A decoder holds about twenty such
   * frames in memory.
   */
  pixelsPerVideoFrame: 9_437_184,
  /** Bytes of decoded frames of one video that are in memory at a time; at least one frame. */
  videoCacheBytes: 16 * 1024 * 1024,
  /**
   * Time to list the frames of one video, in seconds. The frames of most videos are listed without
   * decoding.
   */
  videoListSeconds: 120,
  /** Time in seconds to decode one frame and the frames that it depends on. */
  videoFrameSeconds: 60,
  /** Seconds after which an idle decoder is closed, because it holds native memory. */
  videoIdleSeconds: 2,
} as const;

/**
 * Limits on the resources of this machine that archives may use. Archives are unpacked to disk,
 * never as a whole to memory.
 */
export const CONTAINER_LIMITS = {
  /** Number of nested archives, including the outermost. */
  nesting: 3,
  /** Members of all archives of a study, without folders. */
  members: 10_000,
  /** Unpacked bytes of all archives of a study. */
  unpackedBytes: 8 * 1024 ** 3,
  /** Unpacked bytes per byte of the outermost archive. Grey images reach a few tens. */
  ratio: 200,
  /**
   * Number of unpacked bytes below which the ratio is not checked. A small file of one colour has a
   * high ratio but is harmless.
   */
  ratioFreeBytes: 64 * 1024 ** 2,
  /** Bytes that must stay free on the disk, so that other programs on the machine can continue. */
  freeBytes: 64 * 1024 ** 2,
  /** Characters of a member's path. */
  pathLength: 512,
  /** Number of components of a member's path. */
  pathDepth: 32,
} as const;

export type ContainerLimits = Readonly<Record<keyof typeof CONTAINER_LIMITS, number>>;
