import { describe, expect, it } from 'vitest';
import type { WorklistRow } from '../../../../../../src/doors/console/contract.ts';
import {
  belongs,
  NO_ROWS,
  type RowList,
  visibleRange,
  withPage,
  withRow,
} from '../../../../../../src/doors/console/pages/row-table.ts';
import { row } from './row.ts';

const FLAG = [
  { text: 'flag', section: 'valves', at: '2026-01-01T10:00:00Z', requestId: 'req_a', seenBy: null },
];
const keys = ({ flagged, rows }: RowList) => [...flagged, ...rows].map(({ key }) => key);
const loaded = (...rows: WorklistRow[]): RowList => ({ ...NO_ROWS, rows });

describe("the worklist's row list", () => {
  it('inserts a new row by its arrival time', () => {
    const list = loaded(row('c', 3), row('a', 1));
    expect(keys(withRow(list, row('b', 2), true))).toEqual(['c', 'b', 'a']);
  });

  it('replaces a changed row', () => {
    const list = withRow(loaded(row('b', 2), row('a', 1)), row('a', 1, { state: 'failed' }), true);
    expect(keys(list)).toEqual(['b', 'a']);
    expect(list.rows[1]?.state).toBe('failed');
  });

  it('moves a row above all others until its flag is acknowledged, then back', () => {
    const flagged = withRow(
      loaded(row('b', 2), row('a', 1)),
      row('a', 1, { critical: FLAG }),
      true,
    );
    expect(keys(flagged)).toEqual(['a', 'b']);
    const acknowledged = { person: 'Ann', at: '2026-01-01T10:30:00Z' };
    const seen = withRow(flagged, row('a', 1, { critical: FLAG, acknowledged }), true);
    expect(keys(seen)).toEqual(['b', 'a']);
  });

  it('removes a row that no longer matches', () => {
    expect(keys(withRow(loaded(row('a', 1)), row('a', 1), false))).toEqual([]);
  });

  it('omits a row that is older than all loaded rows, because its page is not loaded yet', () => {
    const partly = { ...loaded(row('b', 2)), nextCursor: 'more' };
    expect(keys(withRow(partly, row('a', 1), true))).toEqual(['b']);
  });

  it('adds a page without repeating a row that already arrived live', () => {
    const page = { critical: [], rows: [row('b', 2), row('a', 1)], nextCursor: null };
    expect(keys(withPage(loaded(row('c', 3), row('b', 2)), page))).toEqual(['c', 'b', 'a']);
  });

  it.each([
    [{ state: 'failed' as const }, false],
    [{ state: ['failed', 'succeeded'] as const }, true],
    [{ source: 'other' }, false],
    [{ endpoint: 'us/echo/interpret' }, true],
    [{ tag: 'night' }, false],
    [{ critical: '1' as const }, false],
    [{ signature: 'unsigned' as const }, true],
    [{ signature: 'signed' as const }, false],
    [{ q: 'MRN' }, null],
  ])('determines whether a row matches %j: %s', (query, expected) => {
    expect(belongs(row('a', 1), query as Parameters<typeof belongs>[1])).toBe(expected);
  });
});

describe('the part of a long list that is drawn', () => {
  const screen = { height: 600, rowHeight: 60 };
  it.each([
    [{ top: 0, ...screen }, 10_000, { from: 0, to: 18 }],
    [{ top: 60_000, ...screen }, 10_000, { from: 992, to: 1018 }],
    [{ top: 599_400, ...screen }, 10_000, { from: 9982, to: 10_000 }],
    [{ top: 6000, ...screen }, 5, { from: 5, to: 5 }],
  ])('at %j of %i rows is %j', (seen, count, expected) => {
    expect(visibleRange(seen, count)).toEqual(expected);
  });
});
