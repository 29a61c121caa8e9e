import type { WorklistPage, WorklistQuery, WorklistRow } from '../contract.ts';
import { hasUnseenFlag } from './row-words.ts';

/** Rows of the worklist in their order: those with flags that nobody has seen, then by arrival. */
export interface RowList {
  flagged: readonly WorklistRow[];
  rows: readonly WorklistRow[];
  nextCursor: string | null;
}

export const NO_ROWS: RowList = { flagged: [], rows: [], nextCursor: null };

export const firstPage = ({ critical, rows, nextCursor }: WorklistPage): RowList => ({
  flagged: critical,
  rows,
  nextCursor,
});

/** Pure: the list with the page behind it; a row that is there already stays where it is. */
export function withPage(list: RowList, { rows, nextCursor }: WorklistPage): RowList {
  const known = new Set([...list.flagged, ...list.rows].map(({ key }) => key));
  return {
    ...list,
    rows: [...list.rows, ...rows.filter(({ key }) => !known.has(key))],
    nextCursor,
  };
}

/**
 * Pure: whether a row belongs to what was asked for; null where only the server can say it, because
 * the search looks at what the row does not show.
 */
export function belongs(row: WorklistRow, query: WorklistQuery): boolean | null {
  const states = query.state === undefined ? [] : [query.state].flat();
  if (states.length > 0 && !states.includes(row.state)) return false;
  if (query.source && row.source !== query.source) return false;
  if (query.endpoint && row.endpoint !== query.endpoint) return false;
  if (query.tag && !row.tags.includes(query.tag)) return false;
  if (query.critical && !hasUnseenFlag(row)) return false;
  return query.q ? null : true;
}

/** Newest first; of the same instant in a fixed order. */
function before(one: WorklistRow, other: WorklistRow): number {
  if (one.arrivedAt !== other.arrivedAt) return one.arrivedAt < other.arrivedAt ? 1 : -1;
  return one.key < other.key ? 1 : -1;
}

/**
 * Pure: the list after a row has changed. A row older than all that was loaded waits for its page; a
 * row that no longer belongs is taken out.
 */
export function withRow(list: RowList, row: WorklistRow, stays: boolean): RowList {
  const without = (rows: readonly WorklistRow[]) => rows.filter(({ key }) => key !== row.key);
  const [flagged, rows] = [without(list.flagged), without(list.rows)];
  if (!stays) return { ...list, flagged, rows };
  if (hasUnseenFlag(row)) return { ...list, flagged: [...flagged, row].sort(before), rows };
  const last = rows.at(-1);
  const notLoaded = list.nextCursor !== null && last !== undefined && before(row, last) > 0;
  return { ...list, flagged, rows: notLoaded ? rows : [...rows, row].sort(before) };
}

/** Pure: which rows of a list of equal heights are on the screen, with some more on either side. */
export function visibleRange(
  { top, height, rowHeight }: { top: number; height: number; rowHeight: number },
  count: number,
): { from: number; to: number } {
  const more = 8;
  const from = Math.max(0, Math.floor(top / rowHeight) - more);
  return {
    from: Math.min(from, count),
    to: Math.min(count, Math.ceil((top + height) / rowHeight) + more),
  };
}
