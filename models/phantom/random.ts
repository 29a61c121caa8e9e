/** A seeded random source. The same seed always produces the same phantom. */
export interface Random {
  /** Uniform in [0, 1). */
  unit(): number;
  /** Uniform in [low, high). */
  range(low: number, high: number): number;
  /** Whole number in [low, high]. */
  integer(low: number, high: number): number;
  normal(mean: number, standardDeviation: number): number;
  chance(probability: number): boolean;
  /** Picks one element of a list, which must not be empty. */
  pick<T>(choices: readonly T[]): T;
  /**
   * Returns an independent stream that depends only on this seed and the name, not on the numbers
   * generated so far.
   */
  fork(name: string): Random;
}

/**
 * Creates a uniform source using mulberry32 (Tommy Ettinger, public domain). Its 32 bits of state
 * are enough for a simulated image.
 */
function uniformSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** Hashes the name with FNV-1a, starting from the seed. */
function derivedSeed(seed: number, name: string): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (let i = 0; i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  }
  return hash;
}

export function createRandom(seed: number): Random {
  const next = uniformSource(seed);
  const unit = () => next() / 0x100000000;
  const range = (low: number, high: number) => low + (high - low) * unit();
  return {
    unit,
    range,
    integer: (low, high) => Math.floor(range(low, high + 1)),
    normal: (mean, standardDeviation) =>
      mean +
      standardDeviation * Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit()),
    chance: (probability) => unit() < probability,
    pick: <T>(choices: readonly T[]) => choices[Math.floor(unit() * choices.length)] as T,
    fork: (name) => createRandom(derivedSeed(seed, name)),
  };
}

/**
 * Fills `field` with scatterer strengths of zero mean and unit variance. Each strength is the sum
 * of the four bytes of one random number. This is close enough to a normal distribution, because
 * the point spread function adds up many strengths.
 */
export function fillScatterers(field: Float32Array, seed: number): void {
  const next = uniformSource(seed);
  const byteSumMean = 510;
  const byteSumDeviation = Math.sqrt((4 * (256 * 256 - 1)) / 12);
  for (let i = 0; i < field.length; i++) {
    const bits = next();
    const sum = (bits & 255) + ((bits >>> 8) & 255) + ((bits >>> 16) & 255) + (bits >>> 24);
    field[i] = (sum - byteSumMean) / byteSumDeviation;
  }
}

/** Returns smooth noise over the plane, about -1 to 1, with a correlation length of `cellMm`. */
export function createNoise(random: Random, cellMm: number): (x: number, y: number) => number {
  const size = 64;
  const lattice = Float32Array.from({ length: size * size }, () => random.range(-1, 1));
  const mask = size - 1;
  return (x, y) => {
    const u = x / cellMm + 1000;
    const v = y / cellMm + 1000;
    const column = Math.floor(u);
    const row = Math.floor(v);
    const fu = u - column;
    const fv = v - row;
    const su = fu * fu * (3 - 2 * fu);
    const sv = fv * fv * (3 - 2 * fv);
    const left = column & mask;
    const right = (column + 1) & mask;
    const top = (row & mask) * size;
    const bottom = ((row + 1) & mask) * size;
    const a = lattice[top + left] ?? 0;
    const b = lattice[top + right] ?? 0;
    const c = lattice[bottom + left] ?? 0;
    const d = lattice[bottom + right] ?? 0;
    return (a + (b - a) * su) * (1 - sv) + (c + (d - c) * su) * sv;
  };
}
