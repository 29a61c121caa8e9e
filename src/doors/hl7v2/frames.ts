/**
 * Minimal Lower Layer Protocol (MLLP, release 1), which encloses a message between a start and an
 * end mark.
 */
const START = 0x0b;
const END = 0x1c;
const CARRIAGE_RETURN = 0x0d;

export const framed = (message: Buffer): Buffer =>
  Buffer.concat([Buffer.from([START]), message, Buffer.from([END, CARRIAGE_RETURN])]);

/** What was read from a connection: a message, or the reason why there is none. */
export type Frame =
  | { message: Buffer }
  /** A frame without its end, or bytes outside a frame. The sender will repeat the message. */
  | { broken: 'no-end' | 'no-start' }
  /** The beginning of a message that is too large. Nothing more can be read from the connection. */
  | { tooLarge: Buffer };

const FIRST_BYTES = 4096;

/**
 * Extracts messages from the bytes of a connection. After a broken frame it resumes at the next
 * start mark, so that one lost byte does not cost the following messages. It buffers at most one
 * message of the maximum size.
 */
export class FrameReader {
  readonly #most: number;
  #held: Buffer = Buffer.alloc(FIRST_BYTES);
  #size = 0;
  /**
   * outside: no message has begun; inside: its bytes are arriving; ending: its end mark has
   * arrived.
   */
  #state: 'outside' | 'inside' | 'ending' | 'stopped' = 'outside';
  /** Whether bytes outside a message have been reported since the last message. */
  #strayed = false;

  constructor(most: number) {
    this.#most = most;
  }

  /** True while a message has begun but not ended. */
  get isInside(): boolean {
    return this.#state === 'inside' || this.#state === 'ending';
  }

  push(bytes: Buffer): Frame[] {
    const frames: Frame[] = [];
    let at = 0;
    while (at < bytes.length && this.#state !== 'stopped') at = this.#step(bytes, at, frames);
    return frames;
  }

  /**
   * Reads up to the next mark.
   * @returns the position at which to continue.
   */
  #step(bytes: Buffer, at: number, frames: Frame[]): number {
    const byte = bytes[at];
    if (this.#state === 'ending') {
      this.#state = 'outside';
      if (byte === CARRIAGE_RETURN) {
        frames.push({ message: Buffer.from(this.#held.subarray(0, this.#size)) });
        this.#strayed = false;
        return at + 1;
      }
      frames.push({ broken: 'no-end' });
    }
    if (byte === START) {
      if (this.#state === 'inside') frames.push({ broken: 'no-end' });
      this.#state = 'inside';
      this.#size = 0;
      return at + 1;
    }
    if (this.#state === 'outside') return this.#stray(bytes, at, frames);
    if (byte === END) {
      this.#state = 'ending';
      return at + 1;
    }
    const next = nextMark(bytes, at);
    if (this.#size + next - at > this.#most) {
      this.#append(bytes.subarray(at, at + this.#most - this.#size));
      frames.push({ tooLarge: Buffer.from(this.#held.subarray(0, this.#size)) });
      this.#state = 'stopped';
      return bytes.length;
    }
    this.#append(bytes.subarray(at, next));
    return next;
  }

  /** Skips bytes outside a message. Line ends are harmless; any other bytes are reported once. */
  #stray(bytes: Buffer, at: number, frames: Frame[]): number {
    const start = bytes.indexOf(START, at);
    const next = start === -1 ? bytes.length : start;
    const isHarmless = bytes
      .subarray(at, next)
      .every((one) => one === CARRIAGE_RETURN || one === 10);
    if (!isHarmless && !this.#strayed) {
      frames.push({ broken: 'no-start' });
      this.#strayed = true;
    }
    return next;
  }

  #append(bytes: Buffer): void {
    const wanted = this.#size + bytes.length;
    if (wanted > this.#held.length) {
      const larger = Buffer.alloc(Math.max(wanted, this.#held.length * 2));
      this.#held.copy(larger, 0, 0, this.#size);
      this.#held = larger;
    }
    bytes.copy(this.#held, this.#size);
    this.#size = wanted;
  }
}

function nextMark(bytes: Buffer, from: number): number {
  const marks = [bytes.indexOf(START, from), bytes.indexOf(END, from)].filter((at) => at !== -1);
  return marks.length > 0 ? Math.min(...marks) : bytes.length;
}
