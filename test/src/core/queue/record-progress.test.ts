import { afterAll, beforeAll, expect, test } from 'vitest';
import { typicalSeconds } from '../../../../src/core/queue/record-progress.ts';
import { openSite, type Site } from '../requests/site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

test('the typical run time of live requests does not count those made with test keys', async () => {
  const ended = async (seconds: number, isTest: boolean) => {
    const id = await site.submit();
    await site.database.query(
      `UPDATE requests SET status = 'succeeded', test = $2, started_at = now(),
         ended_at = now() + make_interval(secs => $3) WHERE id = $1`,
      [id, isTest, seconds],
    );
  };
  const endpoint = 'us/test/interpret';
  expect(await typicalSeconds(site.database, { endpoint, test: false })).toBeNull();
  await ended(40, false);
  for (let n = 0; n < 3; n += 1) await ended(1, true);
  expect(await typicalSeconds(site.database, { endpoint, test: false })).toBe(40);
  expect(await typicalSeconds(site.database, { endpoint, test: true })).toBe(1);
});
