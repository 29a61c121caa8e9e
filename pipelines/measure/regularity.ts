/** Coefficient of variation of the intervals from which a rhythm is irregular. */
const IRREGULAR = 0.1;

/** Whether places in time follow each other evenly; null for fewer than three. */
export function isRegular(places: readonly number[]): boolean | null {
  if (places.length < 3) return null;
  const intervals = places.slice(1).map((place, i) => place - (places[i] ?? 0));
  const mean = intervals.reduce((sum, value) => sum + value, 0) / intervals.length;
  const squares = intervals.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / intervals.length) / mean <= IRREGULAR;
}
