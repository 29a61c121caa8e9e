/**
 * Limits on the resources that one file may use in this process. A file that exceeds a limit is
 * refused, and the message names the limit.
 */
export const LIMITS = {
  /** Data elements before the pixel data. Real ultrasound headers have a few hundred. */
  headerElements: 50_000,
  sequenceDepth: 16,
  /**
   * Maximum number of bytes in a value. The largest values are palettes with 65536 16-bit entries.
   */
  valueBytes: 131_072,
  regions: 64,
  framesPerClip: 20_000,
  /** Fragments of compressed pixel data. A fragment may be empty, so a small file can hold millions. */
  fragments: 500_000,
  pixelsPerFrame: 40_000_000,
  frameBytes: 256 * 1024 * 1024,
  /** Pixels in all frames of a GIF or WebP, enough for 1,300 frames of 640 x 480. */
  pixelsPerAnimation: 400_000_000,
  /** Bytes of decoded frames that are kept in memory at a time for one GIF or WebP. */
  animationRunBytes: 32 * 1024 * 1024,
  /**
   * Pixels of the largest frame in H.264 level 5.2, 4096 x 2304. A decoder keeps about twenty such
   * frames in memory.
   */
  pixelsPerVideoFrame: 9_437_184,
  /**
   * Bytes of decoded frames that are kept in memory at a time for one video. At least one frame is
   * kept, however large it is.
   */
  videoCacheBytes: 16 * 1024 * 1024,
  /**
   * Seconds allowed for listing the frames of one video. For most videos, this needs no decoding.
   */
  videoListSeconds: 120,
  /** Seconds allowed for decoding one frame and the frames on which it depends. */
  videoFrameSeconds: 60,
  /** Seconds after which an idle decoder is closed to free its native memory. */
  videoIdleSeconds: 2,
} as const;

/**
 * Limits on the resources of this host that archives may use. Archives are unpacked to disk, never
 * entirely into memory.
 */
export const CONTAINER_LIMITS = {
  /** Depth of nested archives, including the outermost. */
  nesting: 3,
  /** Members of all archives in a study, not counting folders. */
  members: 10_000,
  unpackedBytes: 8 * 1024 ** 3,
  /** Unpacked bytes per byte of the outermost archive. Grey images reach a few tens. */
  ratio: 200,
  /**
   * Number of unpacked bytes below which the ratio is not checked. A small single-colour file has a
   * high ratio but is harmless.
   */
  ratioFreeBytes: 64 * 1024 ** 2,
  /** Bytes that must stay free on the disk for other programs on the host. */
  freeBytes: 64 * 1024 ** 2,
  pathLength: 512,
  pathDepth: 32,
} as const;

export type ContainerLimits = Readonly<Record<keyof typeof CONTAINER_LIMITS, number>>;
