import type {
  Cine,
  OverlayClip,
} from '../../../../pipelines/artifacts/display/overlay-contract.ts';

/**
 * Maximum number of decoded frames kept in memory. Others are decoded again when they are shown.
 */
const KEPT = 64;

export interface CineFrames {
  /** Returns a frame's image; rejects if the file cannot be fetched. */
  picture(frame: number): Promise<ImageBitmap>;
  /** Whether the file has been fetched, so that frames can be shown without delay. */
  ready(): boolean;
  close(): void;
}

/**
 * Opens a cine's frames. The file is fetched once, when the first frame is needed; if that fails, it
 * is fetched again for the next frame.
 */
export function openCine(cine: Cine, url: string): CineFrames {
  let file: Promise<Blob> | null = null;
  let arrived = false;
  const kept = new Map<number, Promise<ImageBitmap>>();

  async function fetchFile(): Promise<Blob> {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`the cine could not be loaded: HTTP ${response.status}`);
    const blob = await response.blob();
    arrived = true;
    return blob;
  }

  async function decode(frame: number): Promise<ImageBitmap> {
    file ??= fetchFile().catch((error: unknown) => {
      file = null;
      throw error;
    });
    const blob = await file;
    const place = cine.frames.find((one) => one.frame === frame);
    if (!place) throw new Error(`the cine has no frame ${frame}`);
    return createImageBitmap(blob.slice(place.offset, place.offset + place.bytes, 'image/jpeg'));
  }

  function forget(frame: number): void {
    const picture = kept.get(frame);
    kept.delete(frame);
    picture?.then((bitmap) => bitmap.close()).catch(() => undefined);
  }

  return {
    picture(frame) {
      const known = kept.get(frame);
      if (known) return known;
      const picture = decode(frame);
      kept.set(frame, picture);
      picture.catch(() => {
        if (kept.get(frame) === picture) kept.delete(frame);
      });
      const [oldest] = kept.keys();
      if (kept.size > KEPT && oldest !== undefined) forget(oldest);
      return picture;
    },
    ready: () => arrived,
    close() {
      for (const frame of [...kept.keys()]) forget(frame);
    },
  };
}

/** A frame that can be shown, and its acquisition time in seconds from the start of the clip. */
interface ShownFrame {
  frame: number;
  time: number;
}

/** Returns a clip's frames that have images, in order. */
export function framesOf({ cine, key_frames }: OverlayClip): ShownFrame[] {
  const all = cine ? [...cine.frames, ...key_frames] : key_frames;
  const byFrame = new Map(all.map(({ frame, time }) => [frame, { frame, time }]));
  return [...byFrame.values()].sort((one, other) => one.frame - other.frame);
}

/**
 * Returns the frame to show first: the first measured key frame, otherwise the first key frame,
 * otherwise the first frame.
 */
export function firstFrame(clip: OverlayClip): number {
  const frames = framesOf(clip).map(({ frame }) => frame);
  const measured = clip.key_frames.find(({ sections }) => sections.length > 0)?.frame;
  return measured ?? clip.key_frames[0]?.frame ?? frames[0] ?? 1;
}

/** Returns the frame `step` places after this one, wrapping around. */
export function stepped(frames: readonly ShownFrame[], frame: number, step: number): number {
  const at = frames.findIndex((one) => one.frame === frame);
  const next = frames[(((at + step) % frames.length) + frames.length) % frames.length];
  return next?.frame ?? frame;
}

/** Returns how many milliseconds a frame is shown at the clip's original speed. */
export function displayMilliseconds(frames: readonly ShownFrame[], frame: number): number {
  const at = frames.findIndex((one) => one.frame === frame);
  const [here, next] = [frames[at], frames[at + 1]];
  const seconds = here && next ? next.time - here.time : 0.04;
  return Math.min(500, Math.max(15, seconds * 1000));
}

/** Returns the cardiac phase of a frame; '' if the frame has no phase. */
export function phaseText({ beats }: OverlayClip, frame: number): string {
  if (beats.some(({ end_diastole }) => end_diastole === frame)) return 'end-diastole';
  return beats.some(({ end_systole }) => end_systole === frame) ? 'end-systole' : '';
}
