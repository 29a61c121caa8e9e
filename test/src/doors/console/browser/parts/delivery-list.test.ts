import { describe, expect, it } from 'vitest';
import type { Delivery, Page } from '../../../../../../src/doors/console/contract.ts';
import { withDelivery } from '../../../../../../src/doors/console/pages/deliveries.ts';

const delivery = (id: string, more: Partial<Delivery> = {}) =>
  ({ id, destination: 'pacs', state: 'pending', ...more }) as Delivery;
const list = (ids: readonly string[], nextCursor: string | null = null): Page<Delivery> => ({
  rows: ids.map((id) => delivery(id)),
  nextCursor,
});
const ids = ({ rows }: Page<Delivery>) => rows.map(({ id }) => id);
const ALL = { destination: '', state: '' } as const;

describe("the deliveries page's list when a delivery changes", () => {
  it('inserts a new delivery above the older ones and keeps every loaded page', () => {
    const longer = withDelivery(list(['c', 'a'], 'a'), delivery('d'), ALL);
    expect(ids(longer)).toEqual(['d', 'c', 'a']);
    expect(longer.nextCursor).toBe('a');
  });

  it('inserts a delivery whose event arrives late by its place in the list', () => {
    expect(ids(withDelivery(list(['c', 'a']), delivery('b'), ALL))).toEqual(['c', 'b', 'a']);
  });

  it('omits one that is older than all loaded rows, because its page is not loaded yet', () => {
    expect(ids(withDelivery(list(['c', 'b'], 'b'), delivery('a'), ALL))).toEqual(['c', 'b']);
    expect(ids(withDelivery(list(['c', 'b']), delivery('a'), ALL))).toEqual(['c', 'b', 'a']);
  });

  it('updates a known row even if it no longer matches the filter', () => {
    const sent = withDelivery(list(['a']), delivery('a', { state: 'delivered' }), {
      destination: '',
      state: 'pending',
    });
    expect(sent.rows.map(({ state }) => state)).toEqual(['delivered']);
  });

  it.each([
    [{ destination: 'pacs', state: 'pending' }, ['b', 'a']],
    [{ destination: 'ehr', state: '' }, ['a']],
    [{ destination: '', state: 'dead' }, ['a']],
  ] as const)('given the filter %j, shows %j', (filter, expected) => {
    expect(ids(withDelivery(list(['a']), delivery('b'), filter))).toEqual(expected);
  });
});
