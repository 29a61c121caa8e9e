/** A chart in the colours of the page; a colour names a token of tokens.css. */
export interface PlotContent {
  /** A description in words, because the drawing cannot be read aloud. */
  label: string;
  height: number;
  series: readonly PlotSeries[];
  xText: string;
  yText: string;
  /** Whether the axis of values begins or ends at 0. */
  fromZero?: boolean;
  /** Positions of vertical lines, in seconds or weeks. */
  marks?: readonly number[];
}

export interface PlotSeries {
  name: string;
  colour: '--accent' | '--ink' | '--ink-soft' | '--critical';
  width: number;
  dash?: readonly number[];
  /** Whether dots are drawn instead of a line. */
  dots?: boolean;
  points: readonly (readonly [x: number, y: number])[];
}

/**
 * Pure: returns the points of several series over one axis in the form of the library: x, then each
 * series.
 */
export function aligned(series: readonly PlotSeries[]): [number[], ...(number | undefined)[][]] {
  const places = [...new Set(series.flatMap(({ points }) => points.map(([x]) => x)))].sort(
    (one, other) => one - other,
  );
  const columns = series.map(({ points }) => {
    const at = new Map(points);
    return places.map((x) => at.get(x));
  });
  return [places, ...columns];
}
