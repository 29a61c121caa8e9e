/**
 * Limits on what a file may demand of this process; a file beyond one is refused with a sentence.
 */
export const LIMITS = {
  /** Data elements before the pixel data; real ultrasound headers have some hundred. */
  headerElements: 50_000,
  sequenceDepth: 16,
  /** Bytes of one kept value; the largest are palettes of 65536 16-bit entries. */
  valueBytes: 131_072,
  regions: 64,
  framesPerClip: 20_000,
  pixelsPerFrame: 40_000_000,
  /** Compressed bytes of one frame. */
  frameBytes: 256 * 1024 * 1024,
  /** Pixels of all frames of a GIF or WebP; 1,300 frames of 640 x 480. */
  pixelsPerAnimation: 400_000_000,
  /** Decoded frames of one GIF or WebP that are kept at a time. */
  animationRunBytes: 32 * 1024 * 1024,
  /** The largest frame of H.264 level 5.2, 4096 x 2304; a decoder keeps some twenty of them. */
  pixelsPerVideoFrame: 9_437_184,
  /** Decoded frames of one video that are kept at a time; at least one. */
  videoCacheBytes: 16 * 1024 * 1024,
  /** Time to list the frames of one video; most are listed without being decoded. */
  videoListSeconds: 120,
  /** Time to decode one frame and those that it depends on. */
  videoFrameSeconds: 60,
  /** An idle decoder is closed after this long, because it holds native memory. */
  videoIdleSeconds: 2,
} as const;

/**
 * Limits on what archives may demand of this machine; they are unpacked to disk, never whole to
 * memory.
 */
export const CONTAINER_LIMITS = {
  /** Nested archives, including the outermost. */
  nesting: 3,
  /** Members of all archives of a study, without folders. */
  members: 10_000,
  /** Unpacked bytes of all archives of a study. */
  unpackedBytes: 8 * 1024 ** 3,
  /** Unpacked bytes per byte of the outermost archive; grey images reach some tens. */
  ratio: 200,
  /** Below this size the ratio is not checked: a small file of one colour is no bomb. */
  ratioFreeBytes: 64 * 1024 ** 2,
  /** Bytes that must stay free on the disk, so that the rest of the machine can go on working. */
  freeBytes: 64 * 1024 ** 2,
  /** Characters of a member's path. */
  pathLength: 512,
  /** Components of a member's path. */
  pathDepth: 32,
} as const;

export type ContainerLimits = Readonly<Record<keyof typeof CONTAINER_LIMITS, number>>;
