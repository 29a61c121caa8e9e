import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChangeFeed, openChangeFeed } from '../../../../src/core/requests/changes.ts';
import { openSite, type Site } from './site.ts';

const LOOK_MS = 50;

describe('the change feed', () => {
  let site: Site;
  let feed: ChangeFeed;
  let looks: string[][] = [];

  beforeAll(async () => {
    site = await openSite();
    const { database } = site;
    const counted = {
      ...database,
      query: async (...[text, values, name]: Parameters<typeof database.query>) => {
        if (name === 'look-at-requests') looks.push(values?.[0] as string[]);
        return database.query(text, values, name);
      },
    } as typeof database;
    feed = await openChangeFeed(counted, LOOK_MS);
  });
  afterAll(async () => {
    await feed.close();
    await site.close();
    await rm(site.config.dataDir, { recursive: true, force: true });
  });

  it('reports a change that was made without a notification', async () => {
    const id = await site.submit('result');
    let told = 0;
    const unwatch = feed.watch(id, () => {
      told += 1;
    });
    // The first check of a request always reports a change, because earlier changes may have been
    // missed.
    await expect.poll(() => told).toBe(1);
    await site.database.query('UPDATE requests SET last_seq = last_seq + 1 WHERE id = $1', [id]);
    await expect.poll(() => told).toBe(2);
    unwatch();
  });

  it('checks 500 requests with one statement, however many clients watch them', async () => {
    const ids = Array.from({ length: 1001 }, (_, n) => `req_${n}`);
    const unwatch = [...ids, ...ids].map((id) => feed.watch(id, () => {}));
    looks = [];
    await expect.poll(() => looks.length).toBeGreaterThanOrEqual(3);
    expect(looks.slice(0, 3).map((each) => each.length)).toEqual([500, 500, 1]);
    for (const each of unwatch) each();
    await expect.poll(async () => looks.splice(0).length).toBe(0);
  });
});
