import { access, mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { objectsOnDisk } from '../../../../src/core/files/received-objects.ts';
import type { SubmitCommand } from '../../../../src/core/requests/request.ts';
import { createRequestStore } from '../../../../src/core/requests/submit.ts';
import { recoverIntake } from '../../../../src/core/studies/recover-intake.ts';
import { removeOldStudies, removeStudy } from '../../../../src/core/studies/retention.ts';
import { findStudy, recordSubmission } from '../../../../src/core/studies/study-store.ts';
import { classifyImages, submissionOf } from '../../../../src/core/studies/submission.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import type { Database } from '../../../../src/platform/database/port.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../peers/database.ts';
import { endpoint } from '../requests/site.ts';

const NOW = new Date('2026-06-01T12:00:00Z');
const LAST = new Date(NOW.getTime() - 10 * 86_400_000);
const STUDY = '00000000-0000-4000-8000-000000000001';
const INSTANCE = '00000000-0000-4000-8000-000000000002';
const OTHER = '00000000-0000-4000-8000-000000000003';
const PATH = 'intake/cart/2026-05-22/one.dcm';

let fresh: OpenDatabase;
let dataDir = '';
let database: PooledDatabase;

beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database, dataDir } = fresh);
});
afterAll(async () => {
  await fresh.close();
});

const study = (id: string, uid: string, last: Date) =>
  database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after)
     VALUES ($1, $2, 'cart', 'CART', 'SONOGATE', 'submitted', '{}', $3, $3, $3)`,
    [id, uid, last],
  );

/**
 * One study with one object. Its request has ended, and the result has been delivered and purged.
 */
beforeEach(async () => {
  await database.query('DELETE FROM audit');
  for (const table of [
    'deliveries',
    'commitment_reports',
    'retrievals',
    'removed_objects',
    'studies',
    'requests',
  ]) {
    await database.query(`DELETE FROM ${table}`);
  }
  await mkdir(join(dataDir, 'intake/cart/2026-05-22'), { recursive: true });
  await writeFile(join(dataDir, PATH), 'object');
  await study(STUDY, '1.2.3', LAST);
  await database.query(
    `INSERT INTO instances (id, study_id, sop_instance_uid, ordinal, revision, path, bytes,
       file_sha256, data_set_sha256, conflict, transfer_syntax, header, received_at)
     VALUES ($1, $2, '1.2.3.1', 1, 1, $3, 6, 'a', 'b', false, '1.2', '{}', $4)`,
    [INSTANCE, STUDY, PATH, LAST],
  );
  await database.query(
    `INSERT INTO requests (id, model, endpoint, version, status, stage, priority, test, files,
       prior_files, metadata, source, cost, deliver_to, created_at)
     VALUES ('req_1', 'm', 'e', '1', 'expired', '{}', 'normal', false, '[]', '[]', '{}', '{}', '{}',
       '[]', $1)`,
    [LAST],
  );
  await database.query(
    `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
     VALUES ($1, 1, 'all', 'req_1', $2)`,
    [STUDY, LAST],
  );
  await database.query(
    `INSERT INTO deliveries (id, request_id, kind, destination, object, state, give_up_at)
     VALUES ('dlv_1', 'req_1', 'dicom', 'pacs', 'seg', 'delivered', now()),
       ('dlv_2', NULL, 'forward', 'pacs', $1, 'delivered', now())`,
    [INSTANCE],
  );
});

const clean = (
  intakeDays: number | null,
  dryRun = false,
  quarantineDays: number | null = null,
  parts: Partial<Parameters<typeof removeOldStudies>[0]> = {},
) =>
  removeOldStudies(
    {
      database,
      ...parts,
      dataDir,
      objects: objectsOnDisk(dataDir),
      intakeDays,
      quarantineDays,
      now: () => NOW,
    },
    dryRun,
  );
const audit = async () => (await database.query('SELECT action, study_id, detail FROM audit')).rows;
const isThere = () =>
  access(join(dataDir, PATH)).then(
    () => true,
    () => false,
  );

describe('a study that is no longer needed', () => {
  test('is removed with its objects after the configured time, and the removal is recorded', async () => {
    expect(await clean(9.99)).toMatchObject({ studies: 1, objects: 1, bytes: 6, kept: {} });
    expect(await isThere()).toBe(false);
    expect((await database.query('SELECT 1 FROM studies')).rows).toEqual([]);
    expect(await audit()).toEqual([
      { action: 'study.purge', study_id: STUDY, detail: { objects: 1 } },
    ]);
    expect(await clean(9.99)).toMatchObject({ studies: 0 });
  });

  test.each([
    ['that is exactly so old', 10],
    ['that is younger', 11],
    ['where no time is set', null],
  ])('is kept: one %s', async (_what, days) => {
    expect(await clean(days)).toMatchObject({ studies: 0 });
    expect(await isThere()).toBe(true);
  });

  test('is kept in the database until its removal has been recorded', async () => {
    const killed: Database = {
      ...database,
      transaction: (work) =>
        database.transaction((tx) =>
          work({
            query: async (text, ...rest) => {
              if (text.startsWith('INSERT INTO audit ')) throw new Error('killed');
              return tx.query(text, ...rest);
            },
          }),
        ),
    };
    await expect(clean(9.99, false, null, { database: killed })).rejects.toThrow('killed');
    expect((await database.query('SELECT 1 FROM studies')).rows).toHaveLength(1);
    expect(await clean(9.99)).toMatchObject({ studies: 1, objects: 1 });
    expect(await audit()).toHaveLength(1);
  });

  test('is only counted in a dry run', async () => {
    expect(await clean(5, true)).toMatchObject({ studies: 1, objects: 1, bytes: 6 });
    expect(await isThere()).toBe(true);
    expect(await audit()).toEqual([]);
  });

  test.each([
    ['a mail', "UPDATE deliveries SET kind = 'mail', state = 'dead' WHERE id = 'dlv_1'"],
    ['a webhook', "UPDATE deliveries SET kind = 'webhook', state = 'dead' WHERE id = 'dlv_1'"],
    [
      'a FHIR notification',
      "UPDATE deliveries SET kind = 'subscription', state = 'dead' WHERE id = 'dlv_1'",
    ],
    [
      'an object that de-identification holds back',
      "UPDATE deliveries SET state = 'dead', code = 'deidentification_held' WHERE id = 'dlv_2'",
    ],
    [
      'a withdrawal that people make at the PACS',
      `UPDATE deliveries SET kind = 'dicom-withdrawal', state = 'dead', code = 'withdrawal_by_hand'
       WHERE id = 'dlv_1'`,
    ],
    [
      'a withdrawal of what people at the EHR have verified',
      `UPDATE deliveries SET kind = 'fhir-withdrawal', state = 'dead', code = 'ehr_already_verified'
       WHERE id = 'dlv_1'`,
    ],
    ['an object, once a person has closed it', "UPDATE deliveries SET state = 'closed'"],
  ])('is not kept by the dead delivery of %s', async (_what, sql) => {
    await database.query(sql);
    expect(await clean(5)).toMatchObject({ studies: 1, kept: {} });
  });

  test.each([
    ['of another study', '[{"sopInstanceUid":"1.2.4.1"}]', null],
    ['that was refused for it', '[]', null],
    ['that was given up', '[{"sopInstanceUid":"1.2.3.1"}]', NOW],
  ])('is not kept by an undelivered commitment report %s', async (_what, committed, givenUpAt) => {
    await database.query(
      `INSERT INTO commitment_reports (transaction_uid, calling_ae_title, source, committed, failed,
         next_at, given_up_at) VALUES ('1', 'CART', 'cart', $1, '[]', 'infinity', $2)`,
      [committed, givenUpAt],
    );
    expect(await clean(5)).toMatchObject({ studies: 1, kept: {} });
  });

  test('is left to the next pass if a pass has removed the maximum', async () => {
    await study(OTHER, '1.2.4', new Date(LAST.getTime() - 86_400_000));
    const one = { batch: 1 };
    expect(await clean(5, false, null, one)).toMatchObject({ studies: 1, unfinished: true });
    expect(await isThere()).toBe(true);
    expect(await clean(5, false, null, one)).toMatchObject({ studies: 1, unfinished: true });
    expect(await clean(5, false, null, one)).toMatchObject({ studies: 0, unfinished: false });
  });

  test('is left to the next start if the gateway stops', async () => {
    const stopped = { signal: AbortSignal.abort() };
    expect(await clean(5, false, null, stopped)).toMatchObject({ studies: 0, unfinished: false });
    expect(await isThere()).toBe(true);
  });

  test('is not registered again at the next start', async () => {
    await clean(5);
    const options = { dataDir, database, objects: objectsOnDisk(dataDir), sources: [] };
    const recovered = await recoverIntake({ ...options, logger: silentLogger, now: () => NOW });
    expect(recovered.registered).toBe(0);
  });
});

describe('the requests of a study', () => {
  const MIGRATION = new URL(
    '../../../../src/platform/database/migrations/0022-keys-of-stored-studies.sql',
    import.meta.url,
  );
  const run = { endpoint: 'us/obstetric/interpret', options: {}, priority: 'normal' } as const;
  /** Submits the study, and its images for classification. Returns the ids of both requests. */
  async function submitted(): Promise<string[]> {
    const row = await findStudy(database, '1.2.3');
    if (!row) throw new Error('no row');
    const store = createRequestStore(database);
    const ids: string[] = [];
    const submit = async (command: SubmitCommand) => {
      const stored = await store(endpoint, command, LAST);
      ids.push(stored.row.id);
      return stored.row;
    };
    await classifyImages(row, [], { dataDir, database, submit, result: async () => null });
    const rule = { name: 'all', run, deliverTo: [] };
    const { id } = await submit(submissionOf(row, [], rule, { dataDir, destinations: [] }));
    await recordSubmission(database, row, { rule: 'all', requestId: id, at: LAST });
    return ids;
  }

  test('are new ones when it is sent again after its removal', async () => {
    const first = await submitted();
    expect(await submitted()).toEqual(first);
    await database.query("UPDATE requests SET status = 'expired', input = NULL");
    expect(await clean(5)).toMatchObject({ studies: 1 });
    await study(OTHER, '1.2.3', NOW);
    expect(new Set([...first, ...(await submitted())]).size).toBe(4);
  });

  test('are found again by an upgraded gateway if the study was held in between', async () => {
    const first = await submitted();
    await database.query(
      "UPDATE requests SET unique_key = replace(unique_key, $1, '1.2.3') WHERE unique_key LIKE '%:1'",
      [STUDY],
    );
    await database.query("UPDATE studies SET state = 'held'");
    await database.query(await readFile(MIGRATION, 'utf8'));
    expect(await submitted()).toEqual(first);
  });
});

describe('a study is kept', () => {
  test.each([
    ['state', "UPDATE studies SET state = 'held'"],
    ['state', "UPDATE studies SET state = 'receiving'"],
    ['state', "UPDATE studies SET state = 'complete'"],
    ['request', "UPDATE requests SET status = 'running'"],
    ['request', "UPDATE requests SET status = 'queued'"],
    ['request', "UPDATE requests SET status = 'succeeded'"],
    ['request', "UPDATE requests SET status = 'failed', input = '{}'"],
    ['delivery', "UPDATE deliveries SET state = 'pending' WHERE id = 'dlv_1'"],
    ['delivery', "UPDATE deliveries SET state = 'dead' WHERE id = 'dlv_1'"],
    ['delivery', "UPDATE deliveries SET state = 'sending' WHERE id = 'dlv_2'"],
    [
      'commitment',
      `INSERT INTO commitment_reports (transaction_uid, calling_ae_title, source, committed, failed,
         next_at) VALUES ('1', 'CART', 'cart',
         '[{"sopClassUid":"1","sopInstanceUid":"1.2.3.1"}]', '[]', now())`,
    ],
    ['commitment', "INSERT INTO delivered_objects VALUES ('dlv_1', 'pacs', '1', '2')"],
    ['commitment', "INSERT INTO delivered_objects VALUES ('dlv_2', 'pacs', '1', '2')"],
    [
      'retrieval',
      `INSERT INTO retrievals (id, archive, study_instance_uid, purpose, state, asked_at)
         VALUES (gen_random_uuid(), 'pacs', '1.2.3', 'missing', 'waiting', now())`,
    ],
    [
      'retrieval',
      `INSERT INTO retrievals (id, archive, study_instance_uid, purpose, state, asked_at, taken_until)
         VALUES (gen_random_uuid(), 'pacs', '1.2.3', 'prior', 'running', now(), now())`,
    ],
  ])('because of its %s: %s', async (because, statement) => {
    await database.query(statement);
    expect(await clean(5)).toMatchObject({ studies: 0, kept: { [because]: 1 } });
    expect(await isThere()).toBe(true);
  });

  test('but not because of a prior whose retrieval was killed long ago and never ended', async () => {
    await database.query(
      `INSERT INTO retrievals (id, archive, study_instance_uid, purpose, state, asked_at, taken_until)
       VALUES (gen_random_uuid(), 'pacs', '1.2.3', 'prior', 'running', $1, $1)`,
      [LAST],
    );
    expect(await clean(5)).toMatchObject({ studies: 1, kept: {} });
  });

  test('because it is the prior of a younger one', async () => {
    await study(OTHER, '1.2.4', NOW);
    await database.query(
      `INSERT INTO prior_searches (study_id, revision, rule, state, settings, deadline, instances)
       VALUES ($1, 1, 'all', 'found', '{}', now(), $2)`,
      [OTHER, [INSTANCE]],
    );
    expect(await clean(5)).toMatchObject({ studies: 0, kept: { retrieval: 1 } });
  });
});

test('a quarantine that cannot be read is not mistaken for an empty one', async () => {
  const folder = join(dataDir, 'quarantine');
  await rm(folder, { recursive: true, force: true });
  expect(await clean(null, true, 5)).toMatchObject({ quarantined: 0 });
  await writeFile(folder, '');
  await expect(clean(null, true, 5)).rejects.toThrow('ENOTDIR');
  await rm(folder);
});

test('what is older than the configured time is removed from the quarantine, and the audit says so', async () => {
  const folder = join(dataDir, 'quarantine');
  await mkdir(folder, { recursive: true });
  for (const [name, days] of [
    ['old.dcm', 10],
    ['young.dcm', 4],
  ] as const) {
    await writeFile(join(folder, name), 'x');
    const at = new Date(NOW.getTime() - days * 86_400_000);
    await utimes(join(folder, name), at, at);
  }
  expect(await clean(null, true, 5)).toMatchObject({ quarantined: 1 });
  expect(await audit()).toEqual([]);
  expect(await clean(null, false, 5)).toMatchObject({ quarantined: 1 });
  expect(await readdir(folder)).toEqual(['young.dcm']);
  expect(await audit()).toEqual([
    { action: 'quarantine.remove', study_id: null, detail: { id: 'old' } },
  ]);
});

describe('a study that a person removes', () => {
  const entries: string[] = [];
  /** @param meanwhile happens between the first look at the study and its removal. */
  const remove = (key: string, shared = false, meanwhile = async () => {}) =>
    removeStudy(
      {
        ...{ dataDir, now: () => NOW, intakeDays: null, quarantineDays: null },
        database: {
          ...database,
          async transaction(work) {
            await meanwhile();
            return database.transaction(work);
          },
        },
        objects: { ...objectsOnDisk(dataDir), shared },
      },
      key,
      async (studyId, tx) => {
        await tx.query('SELECT 1');
        entries.push(studyId);
      },
    );
  const results = () => join(dataDir, 'results/req_1');
  const addResult = async () => {
    await database.query(
      `UPDATE requests SET status = 'succeeded', input = '{}', files = '[{"name": "one.dcm"}]'`,
    );
    await database.query(
      `INSERT INTO request_artifacts (request_id, position, name, media_type, bytes, sha256)
       VALUES ('req_1', 1, 'result.json', 'application/json', 2, 'c')`,
    );
    await mkdir(results(), { recursive: true });
    await writeFile(join(results(), 'result.json'), '{}');
  };
  beforeEach(async () => {
    entries.length = 0;
    await database.query('DELETE FROM request_events');
  });

  test.each([
    ['our id', STUDY],
    ['its UID', '1.2.3'],
  ])('is removed by %s with its objects and results, whatever its age', async (_what, key) => {
    await addResult();
    expect(await remove(key)).toEqual({ studyId: STUDY, objects: 1, bytes: 6, results: 1 });
    expect(entries).toEqual([STUDY]);
    expect(await isThere()).toBe(false);
    await expect(access(results())).rejects.toThrow('ENOENT');
    expect((await database.query('SELECT 1 FROM studies')).rows).toEqual([]);
    expect((await database.query('SELECT status, input, files FROM requests')).rows).toEqual([
      { status: 'expired', input: null, files: [] },
    ]);
    await expect(remove(key)).rejects.toThrow('There is no study');
  });

  test('may be held, because the removal is a decision, too', async () => {
    await database.query(`UPDATE studies SET state = 'held'`);
    expect(await remove(STUDY)).toMatchObject({ objects: 1, results: 0 });
  });

  test.each([
    ['is being received', `UPDATE studies SET state = 'receiving'`, 'still being received'],
    ['waits for its rules', `UPDATE studies SET state = 'complete'`, 'waits to be routed'],
    [
      'has a queued request',
      `UPDATE requests SET status = 'queued'`,
      'a request of this study, or of one that it is a prior of, is queued or running',
    ],
    [
      'has a running request',
      `UPDATE requests SET status = 'running'`,
      'a request of this study, or of one that it is a prior of, is queued or running',
    ],
    [
      'waits for a delivery',
      `UPDATE deliveries SET state = 'pending' WHERE id = 'dlv_1'`,
      'a delivery is waiting or has failed',
    ],
    [
      'has a delivery that failed',
      `UPDATE deliveries SET state = 'dead' WHERE id = 'dlv_2'`,
      'a delivery is waiting or has failed',
    ],
    [
      'is being retrieved',
      `INSERT INTO retrievals (id, study_instance_uid, archive, purpose, state, asked_at)
       VALUES ('${OTHER}', '1.2.3', 'pacs', 'study', 'running', now())`,
      'its objects are being retrieved',
    ],
  ])('is left alone if it %s', async (_what, change, because) => {
    await addResult();
    await database.query(change);
    await expect(remove(STUDY)).rejects.toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining(because),
    });
    expect(entries).toEqual([]);
    expect(await isThere()).toBe(true);
    await access(results());
  });

  test('is kept if it is interpreted again at that moment, and the new request keeps its input', async () => {
    const submitAgain = async () => {
      await database.query(
        `INSERT INTO requests (id, model, endpoint, version, status, stage, priority, test, input,
           files, prior_files, metadata, source, cost, deliver_to, created_at)
         SELECT 'req_2', model, endpoint, version, 'queued', stage, priority, test, '{}',
           '[{"name": "one.dcm"}]', prior_files, metadata, source, cost, deliver_to, created_at
         FROM requests`,
      );
      await database.query(
        `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
         VALUES ($1, 2, 'all', 'req_2', $2)`,
        [STUDY, NOW],
      );
    };
    await expect(remove(STUDY, false, submitAgain)).rejects.toMatchObject({
      detail: expect.stringContaining('is queued or running'),
    });
    expect(entries).toEqual([]);
    expect(await isThere()).toBe(true);
    const sql = "SELECT status, input, files FROM requests WHERE id = 'req_2'";
    expect((await database.query(sql)).rows).toEqual([
      { status: 'queued', input: {}, files: [{ name: 'one.dcm' }] },
    ]);
  });

  test('is removed by any host, and the host that received its objects deletes them later', async () => {
    const blobs = async () => (await database.query('SELECT sha256 FROM unneeded_blobs')).rows;
    await database.query('DELETE FROM unneeded_blobs');
    await addResult();
    const [here, there] = [join(dataDir, PATH), join(dataDir, 'elsewhere', PATH)];
    await mkdir(dirname(there), { recursive: true });
    await rename(here, there);
    expect(await remove(STUDY, true)).toMatchObject({ objects: 1, results: 1 });
    expect(await blobs()).toEqual([{ sha256: 'c' }, { sha256: 'a' }]);
    expect(entries).toEqual([STUDY]);

    const elsewhere = { database, dataDir: join(dataDir, 'elsewhere') };
    await removeOldStudies(
      {
        ...{ ...elsewhere, now: () => NOW, intakeDays: null, quarantineDays: null },
        objects: { ...objectsOnDisk(elsewhere.dataDir), shared: true },
      },
      false,
    );
    await expect(access(there)).rejects.toThrow('ENOENT');
  });

  test('takes its files with it even if the process is killed before it deletes them', async () => {
    await remove(STUDY);
    await mkdir(dirname(join(dataDir, PATH)), { recursive: true });
    await writeFile(join(dataDir, PATH), 'object');
    await clean(null);
    await expect(access(join(dataDir, PATH))).rejects.toThrow('ENOENT');
  });
});
