/** Mutations of a file, deterministic for a given seed. */

export type Random = () => number;

/** Mulberry32 (Tommy Ettinger 2017): generates numbers in [0, 1) from a 32-bit seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Extreme values for lengths and counts. */
const BOUNDARIES = [
  0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xfffe, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
  0xfffffffe, 0xffffffff,
];

/**
 * Number of bytes at the start of a file that receive most of the damage. Beyond them, real files
 * are mostly pixels.
 */
const HEADER = 4096;

type Mutation = (bytes: Buffer, random: Random, other: Buffer) => Buffer;

const below = (random: Random, limit: number) => Math.floor(random() * limit);

/** Picks an offset. Two thirds of the offsets are in the header. */
function offset(bytes: Buffer, random: Random): number {
  const end = random() < 2 / 3 ? Math.min(HEADER, bytes.length) : bytes.length;
  return below(random, Math.max(1, end));
}

function span(bytes: Buffer, random: Random): { from: number; to: number } {
  const from = offset(bytes, random);
  const length = 1 + below(random, 2 ** below(random, 12));
  return { from, to: Math.min(bytes.length, from + length) };
}

function overwritten(bytes: Buffer, at: number, patch: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  patch.copy(copy, Math.max(0, Math.min(at, bytes.length - patch.length)));
  return copy;
}

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  bit: (bytes, random) => {
    const at = offset(bytes, random);
    return overwritten(bytes, at, Buffer.from([(bytes[at] ?? 0) ^ (1 << below(random, 8))]));
  },
  byte: (bytes, random) =>
    overwritten(bytes, offset(bytes, random), Buffer.from([below(random, 256)])),
  boundary: (bytes, random) => {
    const value = BOUNDARIES[below(random, BOUNDARIES.length)] ?? 0;
    const patch = Buffer.alloc(value > 0xffff || random() < 0.5 ? 4 : 2);
    if (patch.length === 4 && random() < 0.8) patch.writeUInt32LE(value);
    else if (patch.length === 4) patch.writeUInt32BE(value);
    else patch.writeUInt16LE(value);
    return overwritten(bytes, offset(bytes, random), patch);
  },
  cut: (bytes, random) => bytes.subarray(0, below(random, bytes.length)),
  remove: (bytes, random) => {
    const { from, to } = span(bytes, random);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  repeat: (bytes, random) => {
    const { from, to } = span(bytes, random);
    const times = 1 + below(random, 4);
    const again = Array.from({ length: times }, () => bytes.subarray(from, to));
    return Buffer.concat([bytes.subarray(0, to), ...again, bytes.subarray(to)]);
  },
  move: (bytes, random) => {
    const { from, to } = span(bytes, random);
    return overwritten(bytes, offset(bytes, random), bytes.subarray(from, to));
  },
  digits: (bytes, random) => {
    const digits = [...bytes.subarray(0, HEADER).entries()].filter(
      ([, byte]) => byte >= 0x30 && byte <= 0x39,
    );
    const [at] = digits[below(random, digits.length)] ?? [0];
    return overwritten(bytes, at, Buffer.from('0123456789-.e\\ '[below(random, 15)] ?? '9'));
  },
  splice: (bytes, random, other) => {
    const { from, to } = span(other, random);
    return overwritten(bytes, offset(bytes, random), other.subarray(from, to));
  },
};

const NAMES = Object.keys(MUTATIONS);
const MOST_MUTATIONS = 4;

/** Applies one to four mutations to `bytes`; `other` provides the bytes for `splice`. */
export function mutated(bytes: Buffer, other: Buffer, seed: number): Buffer {
  const random = randomOf(seed);
  let result = bytes;
  const count = 1 + below(random, MOST_MUTATIONS);
  for (let step = 0; step < count && result.length > 0; step += 1) {
    const mutation = MUTATIONS[NAMES[below(random, NAMES.length)] ?? 'byte'];
    if (mutation) result = mutation(result, random, other);
  }
  return result;
}
