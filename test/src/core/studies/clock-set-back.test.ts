import { afterAll, beforeAll, expect, test } from 'vitest';
import { completeDueStudies } from '../../../../src/core/studies/completion.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../peers/database.ts';

const START = new Date('2026-01-01T08:00:00Z');
const HOUR_MS = 3_600_000;
const TEN_MINUTES_MS = 600_000;

let fresh: OpenDatabase;
let database: PooledDatabase;
beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database } = fresh);
});
afterAll(async () => {
  await fresh.close();
});

test('nothing that a study waits for takes longer after the clock was set back', async () => {
  const later = new Date(START.getTime() + TEN_MINUTES_MS);
  await database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after, next_attempt_at)
     VALUES (gen_random_uuid(), '1.2.3', 'cart', 'CART', 'SONOGATE', 'complete', '{}', $1, $1, $2, $2)`,
    [START, later],
  );
  await database.query(
    `INSERT INTO archive_counts (study_id, revision, archive, state, ask_at, hold_until)
     SELECT id, revision, 'archive', 'asking', $1, $1 FROM studies`,
    [later],
  );
  await database.query(
    `INSERT INTO order_searches (study_id, revision, state, deadline, taken_until)
     SELECT id, revision, 'searching', $1, $1 FROM studies`,
    [later],
  );
  await database.query(
    `INSERT INTO prior_searches (study_id, revision, rule, state, settings, deadline, taken_until)
     SELECT id, revision, 'obstetric', 'searching', '{}', $1, $1 FROM studies`,
    [later],
  );
  const back = new Date(START.getTime() - HOUR_MS);
  await completeDueStudies(database, back);
  const { rows } = await database.query<Record<string, Date>>(
    `SELECT s.complete_after, s.next_attempt_at, c.ask_at, c.hold_until,
       o.deadline AS order_deadline, o.taken_until AS order_taken,
       p.deadline AS prior_deadline, p.taken_until AS prior_taken
     FROM studies s JOIN archive_counts c ON c.study_id = s.id
       JOIN order_searches o ON o.study_id = s.id JOIN prior_searches p ON p.study_id = s.id`,
  );
  const due = new Date(back.getTime() + TEN_MINUTES_MS);
  expect(Object.values(rows[0] ?? {})).toEqual(Array.from({ length: 8 }, () => due));
});
