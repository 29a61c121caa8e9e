/** Bounds on what a file may ask of this process; a file beyond one is refused with a sentence. */
export const LIMITS = {
  /** Data elements before the pixel data; real ultrasound headers hold some hundred. */
  headerElements: 50_000,
  sequenceDepth: 16,
  /** Bytes of one value that is kept; the largest are palettes of 65536 16-bit entries. */
  valueBytes: 131_072,
  regions: 64,
  framesPerClip: 20_000,
  pixelsPerFrame: 40_000_000,
  /** Compressed bytes of one frame. */
  frameBytes: 256 * 1024 * 1024,
  /** Pixels of all frames of a GIF or WebP; 1,300 frames of 640 x 480. */
  pixelsPerAnimation: 400_000_000,
  /** Decoded frames of one GIF or WebP that are held at a time. */
  animationRunBytes: 32 * 1024 * 1024,
  /** The largest frame of H.264 level 5.2, 4096 x 2304: a decoder holds some twenty of them. */
  pixelsPerVideoFrame: 9_437_184,
  /** Decoded frames of one video that are held at a time; one at least. */
  videoCacheBytes: 16 * 1024 * 1024,
  /** To list the frames of one video; most are listed without being decoded. */
  videoListSeconds: 120,
  /** To decode one frame and those that it is made from. */
  videoFrameSeconds: 60,
  /** A decoder that nobody asks for frames is closed after this long; it holds native memory. */
  videoIdleSeconds: 2,
} as const;

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
