import { afterEach, expect, test, vi } from 'vitest';
import type { Queryable } from '../../../src/platform/database/port.ts';
import { openSiteClock, type SiteClock } from '../../../src/platform/time.ts';
import { openFreshDatabase } from '../../peers/database.ts';

const clocks: SiteClock[] = [];
const jumps: number[] = [];
afterEach(async () => {
  jumps.length = 0;
  vi.useRealTimers();
  await Promise.all(clocks.splice(0).map((clock) => clock.stop()));
});

/** Returns a database whose clock shows `time()`. If that is null, the database is unreachable. */
const databaseAt = (time: () => Date | null): Queryable => ({
  async query<Row extends object>() {
    const at = time();
    if (!at) throw new Error('the database is away');
    return { rows: [{ at }] as unknown as Row[], rowCount: 1 };
  },
});
async function open(
  database: Queryable,
  everyMilliseconds?: number,
  lastSeen?: Date,
): Promise<SiteClock> {
  const clock = await openSiteClock(database, {
    ...(lastSeen && { lastSeen }),
    ...(everyMilliseconds !== undefined && { everyMilliseconds }),
    async onJump(seconds) {
      jumps.push(seconds);
    },
  });
  clocks.push(clock);
  return clock;
}
const TOLERANCE_MS = 5000;
const near = (clock: SiteClock, at: Date) =>
  Math.abs(clock.now().getTime() - at.getTime()) < TOLERANCE_MS;

test('two listeners whose own clocks differ by an hour have the same time', async () => {
  const at = new Date('2026-06-01T12:00:00Z');
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-06-01T12:30:00Z') });
  const one = await open(databaseAt(() => at));
  vi.setSystemTime(new Date('2026-06-01T11:30:00Z'));
  const other = await open(databaseAt(() => at));
  expect(near(one, at)).toBe(true);
  expect(near(other, at)).toBe(true);
});

test("the database's clock is followed, and continues while the database cannot be reached", async () => {
  let at: Date | null = new Date('2026-06-01T12:00:00Z');
  const clock = await open(
    databaseAt(() => at),
    1,
  );
  at = new Date('2026-06-01T11:00:00Z');
  const back = at;
  await expect.poll(() => near(clock, back)).toBe(true);
  expect(jumps).toEqual([-3600]);
  at = null;
  const before = clock.now().getTime();
  await expect.poll(() => clock.now().getTime()).toBeGreaterThan(before);
  expect(near(clock, back)).toBe(true);
});

test.each([
  ['an hour after', '2026-06-01T13:00:00Z', [-3600]],
  ['half a minute after', '2026-06-01T12:00:30Z', []],
  ['a day before', '2026-05-31T12:00:00Z', []],
])('a time seen before the start, %s the present one', async (_what, lastSeen, found) => {
  await open(
    databaseAt(() => new Date('2026-06-01T12:00:00Z')),
    undefined,
    new Date(lastSeen),
  );
  expect(jumps).toEqual(found);
});

test('a database reports its time', async () => {
  const { database, close } = await openFreshDatabase();
  const clock = await open(database);
  expect(near(clock, new Date())).toBe(true);
  await clock.stop();
  await close();
});
