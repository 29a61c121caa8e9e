/** A chart. Its colours are names of tokens in tokens.css. */
export interface PlotContent {
  /** A description in words, because the drawing cannot be read aloud. */
  label: string;
  height: number;
  series: readonly PlotSeries[];
  xText: string;
  yText: string;
  fromZero?: boolean;
  /** Positions of vertical lines, in the unit of the x axis. */
  marks?: readonly number[];
}

export interface PlotSeries {
  name: string;
  colour: '--accent' | '--ink' | '--ink-soft' | '--critical';
  width: number;
  dash?: readonly number[];
  /** Whether to draw dots instead of a line. */
  dots?: boolean;
  points: readonly (readonly [x: number, y: number])[];
}

/**
 * Returns the points of several series in the library's form: the x values of all series, then the
 * values of each series.
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
