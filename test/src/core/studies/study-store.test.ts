import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { completeNow } from '../../../../src/core/studies/commands.ts';
import { completeDueStudies } from '../../../../src/core/studies/completion.ts';
import {
  claimCompleteStudies,
  endRevision,
  findStudy,
  reschedule,
} from '../../../../src/core/studies/study-store.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../peers/database.ts';

const START = new Date('2026-01-01T08:00:00Z');
const atSecond = (seconds: number) => new Date(START.getTime() + seconds * 1000);

let fresh: OpenDatabase;
let database: PooledDatabase;
beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database } = fresh);
});
afterAll(async () => {
  await fresh.close();
});

/** One study whose quiet time ends after 30 s. */
beforeEach(async () => {
  await database.query('DELETE FROM studies');
  await database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after)
     VALUES (gen_random_uuid(), '1.2.3', 'cart', 'CART', 'SONOGATE', 'receiving', '{}', $1, $1, $2)`,
    [START, atSecond(30)],
  );
});

const study = async () => {
  const row = await findStudy(database, '1.2.3');
  if (!row) throw new Error('the study is gone');
  return row;
};
const claimAt = async (seconds: number) => {
  await completeDueStudies(database, atSecond(seconds));
  return claimCompleteStudies(database, atSecond(seconds), 10);
};

describe('a study', () => {
  test('is not claimed before its quiet time has passed', async () => {
    expect(await claimAt(29)).toEqual([]);
    expect((await study()).state).toBe('receiving');
  });

  test('is claimed by only one process', async () => {
    expect(await claimAt(30)).toMatchObject([{ study_instance_uid: '1.2.3', state: 'complete' }]);
    expect(await claimAt(31)).toEqual([]);
  });

  test('is claimed again if the process that claimed it was killed', async () => {
    await claimAt(30);
    expect(await claimAt(59)).toEqual([]);
    expect(await claimAt(60)).toHaveLength(1);
  });

  test('that is rescheduled keeps the time when it counted as complete', async () => {
    const [claimed] = await claimAt(30);
    if (!claimed) throw new Error('nothing was claimed');
    await reschedule(database, claimed, atSecond(300), 'The queue is unreachable.');
    expect(await claimAt(299)).toEqual([]);
    expect(await claimAt(300)).toHaveLength(1);
    expect((await study()).complete_after).toEqual(atSecond(30));
  });

  test('whose search ended before it began to wait does not wait', async () => {
    const [claimed] = await claimAt(30);
    if (!claimed) throw new Error('nothing was claimed');
    await database.query('UPDATE studies SET next_attempt_at = $1', [atSecond(31)]);
    await reschedule(database, claimed, atSecond(90), 'Searching for the order of the study.');
    expect(await claimAt(31)).toHaveLength(1);
  });

  test('that a person completes is claimed at once', async () => {
    await completeNow(database, '1.2.3', atSecond(2));
    expect(await claimAt(2)).toHaveLength(1);
  });

  test('whose revision has ended is not claimed again', async () => {
    const [claimed] = await claimAt(30);
    if (!claimed) throw new Error('nothing was claimed');
    await endRevision(database, claimed, 'routed', null);
    expect(await claimAt(1000)).toEqual([]);
  });
});
