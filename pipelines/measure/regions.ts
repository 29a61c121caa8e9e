/** Neighbouring pixels of one row and one value. */
export interface Run {
  value: number;
  /** Index of the first pixel, and of the one behind the last. */
  start: number;
  end: number;
}

/** Pixels of one value that hang together by their edges. */
export interface Region {
  value: number;
  /** Pixels. */
  size: number;
  /** In the order of their pixels. */
  runs: readonly Run[];
  /** Whether it reaches the border of the image. */
  open: boolean;
}

/** The runs of a row that are not 0. */
function runsOfRow(values: Uint8Array, from: number, to: number): Run[] {
  const runs: Run[] = [];
  for (let start = from; start < to; ) {
    const value = values[start] ?? 0;
    let end = start + 1;
    while (end < to && values[end] === value) end += 1;
    if (value !== 0) runs.push({ value, start, end });
    start = end;
  }
  return runs;
}

/** The first run of the tree in which a run hangs; the way there is made shorter. */
function rootOf(parents: number[], run: number): number {
  let root = run;
  while (parents[root] !== root) root = parents[root] ?? root;
  for (let at = run; at !== root; ) {
    const next = parents[at] ?? root;
    parents[at] = root;
    at = next;
  }
  return root;
}

/** Hangs together the runs of two neighbouring rows that touch, numbered from `above` and `below`. */
function joinRows(
  runs: readonly Run[],
  parents: number[],
  above: number,
  below: number,
  width: number,
): void {
  let [upper, lower] = [above, below];
  while (upper < below && lower < runs.length) {
    const one = runs[upper] as Run;
    const other = runs[lower] as Run;
    const touch = one.start + width < other.end && other.start < one.end + width;
    if (touch && one.value === other.value) {
      const [a, b] = [rootOf(parents, upper), rootOf(parents, lower)];
      parents[Math.max(a, b)] = Math.min(a, b);
    }
    if (one.end + width < other.end) upper += 1;
    else lower += 1;
  }
}

/**
 * The connected regions of every value but 0, in the order of their first pixels: runs of each row
 * are joined with those above (Rosenfeld and Pfaltz 1966), so that the time goes with the rows and
 * not with the pixels of a large region.
 * @param values row by row, `width` to a row.
 */
export function regionsOf(values: Uint8Array, width: number): Region[] {
  const runs: Run[] = [];
  const parents: number[] = [];
  let above = 0;
  for (let row = 0; row < values.length; row += width) {
    const below = runs.length;
    for (const run of runsOfRow(values, row, row + width)) parents.push(runs.push(run) - 1);
    joinRows(runs, parents, above, below, width);
    above = below;
  }
  const regions = new Map<number, Run[]>();
  for (const [number, run] of runs.entries()) {
    const root = rootOf(parents, number);
    const own = regions.get(root);
    if (own) own.push(run);
    else regions.set(root, [run]);
  }
  const lastRow = values.length - width;
  return Array.from(regions.values(), (own) => ({
    value: own[0]?.value ?? 0,
    size: own.reduce((sum, { start, end }) => sum + end - start, 0),
    runs: own,
    open: own.some(
      ({ start, end }) =>
        start < width || start >= lastRow || start % width === 0 || end % width === 0,
    ),
  }));
}

/** The largest region, of several the first; null where there is none. */
export function largestOf(regions: readonly Region[]): Region | null {
  return regions.reduce<Region | null>(
    (best, region) => (region.size > (best?.size ?? 0) ? region : best),
    null,
  );
}

/** Indices of the pixels of a region, row by row. */
export function pixelsOf({ runs, size }: Region): number[] {
  const pixels = new Array<number>(size);
  let count = 0;
  for (const { start, end } of runs) {
    for (let at = start; at < end; at += 1) pixels[count++] = at;
  }
  return pixels;
}

/** Writes a value to every pixel of a region. */
export function paint(values: Uint8Array, { runs }: Region, value: number): void {
  for (const { start, end } of runs) values.fill(value, start, end);
}
