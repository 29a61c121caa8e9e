import { describe, expect, it } from 'vitest';
import type { Queryable } from '../../../../src/platform/database/port.ts';
import { loadSiteSecret } from '../../../../src/platform/database/site-secret.ts';

/**
 * A table of secrets. If `keeps` is false, written rows have disappeared by the time they are read.
 */
function table({ keeps = true, values = new Map<string, string>() } = {}): Queryable {
  return {
    async query(text: string, parameters: readonly unknown[] = []) {
      const [name, value] = parameters as [string, string];
      if (text.startsWith('INSERT')) {
        if (keeps && !values.has(name)) values.set(name, value);
        return { rows: [], rowCount: 0 };
      }
      const found = values.get(name);
      return { rows: found === undefined ? [] : ([{ value: found }] as never[]), rowCount: null };
    },
  };
}

describe('a secret of the site', () => {
  it('is created once, and differs for each name', async () => {
    const database = table();
    const first = await loadSiteSecret(database, 'a');
    expect(first).toHaveLength(32);
    expect(await loadSiteSecret(database, 'a')).toEqual(first);
    expect(await loadSiteSecret(database, 'b')).not.toEqual(first);
  });

  it.each([
    ['has no row', table({ keeps: false })],
    ['is empty', table({ values: new Map([['a', '']]) })],
    ['is a byte short', table({ values: new Map([['a', Buffer.alloc(31).toString('base64')]]) })],
  ])('that %s is an error, not an empty secret', async (_what, database) => {
    await expect(loadSiteSecret(database, 'a')).rejects.toThrow('no secret a');
  });
});
