import type { Cine } from '../../../pipelines/artifacts/display/overlay-contract.ts';

/** Decoded frames that are kept; the others are decoded again when they are shown. */
const KEPT = 64;

export interface CineFrames {
  /** The picture of a frame; rejects where the file cannot be had. */
  picture(frame: number): Promise<ImageBitmap>;
  /** The file lies here, so that frames come at once. */
  ready(): boolean;
  close(): void;
}

/** Frames of a cine: the file is fetched once, when the first frame is asked for. */
export function openCine(cine: Cine, url: string): CineFrames {
  let file: Promise<Blob> | null = null;
  let arrived = false;
  const kept = new Map<number, Promise<ImageBitmap>>();

  async function fetchFile(): Promise<Blob> {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`the cine cannot be had: ${response.status}`);
    const blob = await response.blob();
    arrived = true;
    return blob;
  }

  async function decode(frame: number): Promise<ImageBitmap> {
    file ??= fetchFile();
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
