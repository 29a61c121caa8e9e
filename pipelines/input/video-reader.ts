import { LIMITS } from './limits.ts';
import type { Pixels } from './pixels.ts';
import { Refusal } from './refusal.ts';
import { VideoDecoder } from './video-decoder.ts';
import type { VideoListing } from './video-frames.ts';

/**
 * Decodes single frames of a video in any order, cheapest in their own: a frame is made from those
 * since the last key frame. It holds a few decoded frames and, while it is asked, one decoder.
 */
export class VideoReader {
  readonly #listing: VideoListing;
  readonly #numbers: ReadonlyMap<number, number>;
  readonly #cached = new Map<number, Pixels>();
  readonly #capacity: number;
  #decoder: VideoDecoder | null = null;
  /** The next frame in the order of the decoder, by its number. */
  #position = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;

  constructor(listing: VideoListing) {
    this.#listing = listing;
    this.#numbers = new Map(
      listing.frames.flatMap(({ stamp }, index) => (stamp === null ? [] : [[stamp, index]])),
    );
    const bytes = listing.width * listing.height * 3;
    this.#capacity = Math.max(1, Math.floor(LIMITS.videoCacheBytes / bytes));
  }

  /** The pixels of a frame by its number. Throws a Refusal where it is damaged or missing. */
  frame(index: number): Promise<Pixels> {
    const read = this.#turn.then(() => this.#read(index));
    this.#turn = read.catch(() => this.#close());
    return read;
  }

  async #read(index: number): Promise<Pixels> {
    clearTimeout(this.#idle);
    const pixels = this.#cached.get(index) ?? (await this.#decode(index));
    if (index === this.#listing.frames.length - 1) await this.#close();
    else this.#closeWhenIdle();
    return pixels;
  }

  async #decode(index: number): Promise<Pixels> {
    const deadline = performance.now() + LIMITS.videoFrameSeconds * 1000;
    let decoder = await this.#goTo(index);
    for (let restarted = false; ; ) {
      const number = await this.#next(decoder);
      if (performance.now() > deadline) throw new Refusal('the video takes too long to decode');
      if (number === index) return this.#keep(index, decoder);
      if (number !== null && number < index) continue;
      // The search went past the frame: from the begin it is certain to be met.
      if (restarted) throw new Refusal('a frame of the video is missing');
      decoder = await this.#restart();
      restarted = true;
    }
  }

  /** A decoder that comes to the frame as it goes on. */
  async #goTo(index: number): Promise<VideoDecoder> {
    const key = this.#listing.frames.findLastIndex(
      ({ seekTo }, number) => number <= index && seekTo !== null,
    );
    const ahead = index >= this.#position && key <= this.#position;
    if (this.#decoder && ahead) return this.#decoder;
    const seekTo = key > 0 ? this.#listing.frames[key]?.seekTo : null;
    if (typeof seekTo !== 'number') return this.#restart();
    this.#decoder ??= await VideoDecoder.open(this.#listing.bytes);
    if (!(await this.#decoder.seek(seekTo))) return this.#restart();
    this.#position = key;
    return this.#decoder;
  }

  async #restart(): Promise<VideoDecoder> {
    await this.#close();
    this.#decoder = await VideoDecoder.open(this.#listing.bytes);
    return this.#decoder;
  }

  /** Decodes one frame and gives its number; -1 for one that is not listed, null at the end. */
  async #next(decoder: VideoDecoder): Promise<number | null> {
    const stamp = await decoder.next();
    if (!stamp) return null;
    const number =
      this.#numbers.size === 0 ? this.#position : (this.#numbers.get(stamp.shown ?? -1) ?? -1);
    if (number >= 0) this.#position = number + 1;
    return number;
  }

  async #keep(index: number, decoder: VideoDecoder): Promise<Pixels> {
    const pixels = await decoder.pixels(this.#listing.width, this.#listing.height);
    this.#cached.set(index, pixels);
    const [oldest] = this.#cached.keys();
    if (this.#cached.size > this.#capacity && oldest !== undefined) this.#cached.delete(oldest);
    return pixels;
  }

  #closeWhenIdle(): void {
    const close = () => {
      this.#turn = this.#turn.then(() => this.#close());
    };
    this.#idle = setTimeout(close, LIMITS.videoIdleSeconds * 1000).unref();
  }

  async #close(): Promise<void> {
    const decoder = this.#decoder;
    this.#decoder = null;
    this.#position = 0;
    await decoder?.close();
  }
}
