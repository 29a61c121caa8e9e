import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Archive } from '../../../dimse/archive/archive.ts';
import { findRetrieval, requestRetrieval } from '../../../dimse/archive/retrievals.ts';
import { startArchiveRounds } from '../../../dimse/archive/rounds.ts';
import {
  DatabaseUnreachableError,
  type PooledDatabase,
} from '../../../src/platform/database/pooled.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { silentLogger as logger } from '../../../src/platform/logging/logger.ts';
import { type OpenDatabase, openFreshDatabase } from '../../peers/database.ts';
import { instanceHeader } from '../instance-header.ts';

let fresh: OpenDatabase;
let database: PooledDatabase;
beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database } = fresh);
});
afterAll(async () => {
  await fresh.close();
});

/** Rejects when the signal is aborted; at once if it already is. */
const untilAborted = (signal: AbortSignal | undefined) =>
  new Promise<never>((_resolve, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });

/** An archive with no studies, which answers a query only when the signal is aborted or `now`. */
const archive = (now: boolean, asked: () => void): Archive => ({
  name: 'pacs',
  studies: (_keys, { signal }) => {
    asked();
    if (now) return Promise.resolve([]);
    return untilAborted(signal);
  },
  objects: async () => [],
  retrieve: async () => ({ completed: 0, failed: 0, detail: '' }),
});

const logged: Record<string, unknown>[] = [];

const start = (one: Archive, now = () => new Date(), on: Database = database) =>
  startArchiveRounds({
    archives: [one],
    sources: [],
    database: on,
    storage: {
      open: () => Promise.reject(new Error('nothing is retrieved')),
      ended: async () => {},
    },
    logger: {
      ...logger,
      event: (id: string, fields: object = {}) => {
        logged.push({ id, ...fields });
      },
    },
    now,
  });

const state = async () =>
  (await database.query<{ state: string }>('SELECT state FROM prior_searches')).rows[0]?.state;

beforeEach(async () => {
  await database.query('DELETE FROM studies');
  const id = randomUUID();
  const identity = { ...instanceHeader().identity, PatientID: 'P1', StudyDate: '20260301' };
  await database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after)
     VALUES ($1, '1.2.3', 's', 'A', 'B', 'complete', $2, now(), now(), now())`,
    [id, JSON.stringify(identity)],
  );
  await database.query(
    `INSERT INTO prior_searches (study_id, revision, rule, state, settings, deadline)
     VALUES ($1, 1, 'rule', 'searching', $2, now() + interval '60 seconds')`,
    [id, JSON.stringify({ from: ['pacs'], withinDays: 300, modality: 'US', studies: 2 })],
  );
});

test('a search for priors that is interrupted by a stop is continued at the next start', async () => {
  let questions = 0;
  const ask = () => {
    questions += 1;
  };
  const first = start(archive(false, ask));
  await expect.poll(() => questions).toBe(1);
  await first.stop();

  const second = start(archive(true, ask));
  await expect.poll(state).toBe('none');
  await second.stop();
});

test('a search for priors of a process that was killed is repeated after half a minute', async () => {
  let questions = 0;
  const ask = () => {
    questions += 1;
  };
  // The first process hangs and does not stop, so nothing releases its claim.
  const killed = start(archive(false, ask));
  await expect.poll(() => questions).toBe(1);
  const second = start(archive(true, ask), () => new Date(Date.now() + 31_000));
  await expect.poll(state).toBe('none');
  await second.stop();
  await killed.stop();
});

test('a search for priors is repeated if the database of the gateway was away meanwhile', async () => {
  const listed = { studyInstanceUid: '1.2.9', studyDate: '20260201', modalities: ['US'] };
  const patient = { patientId: 'P1', issuerOfPatientId: '', birthDate: '19900101', sex: 'F' };
  const prior = { ...listed, description: '', objects: null, ...patient };
  await database.query(
    `UPDATE studies SET identity = identity || '{"PatientBirthDate": "19900101"}'::jsonb`,
  );
  let away = true;
  const failsOnce: Database = {
    ...database,
    query: async (sql, values) => {
      if (away && sql.includes('sop_instance_uid')) {
        away = false;
        throw new DatabaseUnreachableError('the connection was lost');
      }
      return database.query(sql, values);
    },
    transaction: (work) => database.transaction(work),
  };
  let now = Date.now();
  const one: Archive = {
    ...archive(true, () => {}),
    studies: async () => [prior],
    objects: async () => [
      {
        seriesInstanceUid: '1.2.9.1',
        sopInstanceUid: '1.2.9.1.1',
        sopClassUid: '',
        modality: 'SR',
      },
    ],
    retrieve: async () => {
      throw new SonogateError('peer_unreachable', 'no answer');
    },
  };
  const searching = start(one, () => new Date(now), failsOnce);
  await expect.poll(() => away).toBe(false);
  now += 31_000;
  await expect.poll(state).toBe('unavailable');
  await searching.stop();
  const { rows } = await database.query<{ detail: string }>('SELECT detail FROM prior_searches');
  expect(rows[0]?.detail).toContain('The peer cannot be reached');
}, 30_000);

test('a retrieval of a process that was killed is repeated after half a minute', async () => {
  const wanted = { archive: 'pacs', studyInstanceUid: '1.2.3', purpose: 'study' } as const;
  const id = await requestRetrieval(database, wanted, new Date());
  const retrieval = async () => (await findRetrieval(database, id))?.state;
  const silent = (_study: string, { signal }: { signal?: AbortSignal } = {}) =>
    untilAborted(signal);
  // The first process hangs and does not stop, so nothing releases its claim.
  const killed = start({ ...archive(true, () => {}), objects: silent });
  await expect.poll(retrieval).toBe('running');
  const second = start(
    archive(true, () => {}),
    () => new Date(Date.now() + 31_000),
  );
  await expect.poll(retrieval).toBe('failed');
  await second.stop();
  await killed.stop();
});

test('a study that several people request at the same time is retrieved once', async () => {
  const wanted = { archive: 'pacs', studyInstanceUid: '1.2.9', purpose: 'study' } as const;
  const people = Array.from({ length: 8 }, () => requestRetrieval(database, wanted, new Date()));
  expect(new Set(await Promise.all(people)).size).toBe(1);
  await database.query("DELETE FROM retrievals WHERE study_instance_uid = '1.2.9'");
});

describe('a retrieval that fails', () => {
  const listed = ['1.2.3.4.1', '1.2.3.4.2'].map((sopInstanceUid) => ({
    seriesInstanceUid: '1.2.3.4',
    sopInstanceUid,
    sopClassUid: '1.2.840.10008.5.1.4.1.1.6.1',
    modality: 'US',
  }));
  const wanted = { archive: 'pacs', studyInstanceUid: '1.2.3', purpose: 'study' } as const;

  test.each([
    [
      'the archive refuses the C-MOVE',
      'peer_out_of_resources',
      () => Promise.reject(new SonogateError('peer_out_of_resources', 'C-MOVE status A702H')),
    ],
    [
      'the archive sends nothing',
      'archive_refused_query',
      async () => ({ completed: 0, failed: 2, detail: '' }),
    ],
  ])('is logged with the archive, the reason and counts: %s', async (_, code, retrieve) => {
    logged.length = 0;
    const id = await requestRetrieval(database, wanted, new Date());
    const fetching = start({ ...archive(true, () => {}), objects: async () => listed, retrieve });
    await expect.poll(async () => (await findRetrieval(database, id))?.state).toBe('failed');
    await fetching.stop();
    const counts = { wanted: 2, received: 0 };
    const line = { id: 'archive_retrieval_failed', archive: 'pacs', retrieval: id, code };
    expect(logged).toContainEqual(expect.objectContaining({ ...line, ...counts }));
    expect(await findRetrieval(database, id)).toMatchObject({ wanted: 2, here: 0, code });
  });

  test('because the database of the gateway was away is repeated', async () => {
    const id = await requestRetrieval(database, wanted, new Date());
    let away = true;
    const failsOnce: Database = {
      ...database,
      query: async (sql, values) => {
        if (away && sql.includes('DISTINCT i.sop_instance_uid')) {
          away = false;
          throw new DatabaseUnreachableError('the connection was lost');
        }
        return database.query(sql, values);
      },
      transaction: (work) => database.transaction(work),
    };
    let now = Date.now();
    const one = {
      ...archive(true, () => {}),
      objects: async () => listed,
      retrieve: async () => ({ completed: 0, failed: 2, detail: 'refused' }),
    };
    const fetching = start(one, () => new Date(now), failsOnce);
    await expect.poll(() => away).toBe(false);
    now += 31_000;
    await expect.poll(async () => (await findRetrieval(database, id))?.state).toBe('failed');
    await fetching.stop();
    expect((await findRetrieval(database, id))?.detail).toContain('refused');
  });
});

test('a search for priors belongs to its process as long as the archive takes to answer', async () => {
  const searching = start(archive(false, () => {}));
  const end = async () =>
    (
      await database.query<{ until: Date | null }>(
        'SELECT taken_until AS until FROM prior_searches',
      )
    ).rows[0]?.until;
  await expect.poll(end).not.toBeNull();
  const claimed = await end();
  await expect.poll(end, { timeout: 15_000 }).not.toEqual(claimed);
  await searching.stop();
  expect(await end()).toBeNull();
}, 20_000);

test('a count that is interrupted by a stop is not mistaken for a failure of the archive', async () => {
  await database.query("UPDATE studies SET state = 'receiving'");
  await database.query(
    `INSERT INTO archive_counts (study_id, revision, archive, state, ask_at)
     SELECT id, revision, 'pacs', 'asking', now() FROM studies`,
  );
  const asked = Promise.withResolvers<void>();
  const counting = start({
    ...archive(true, () => {}),
    objects: (_study, { signal } = {}) => {
      asked.resolve();
      return untilAborted(signal);
    },
  });
  await asked.promise;
  await counting.stop();
  const { rows } = await database.query(
    'SELECT state, detail, ask_at <= now() AS due FROM archive_counts',
  );
  expect(rows).toEqual([{ state: 'asking', detail: null, due: true }]);
});
