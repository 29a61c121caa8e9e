import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { routingSchema } from '../../../../config/routing.ts';
import { objectsOnDisk } from '../../../../src/core/files/received-objects.ts';
import { startStudyAssembly } from '../../../../src/core/studies/assembly.ts';
import {
  completeNow,
  dryRun,
  holdStudy,
  releaseStudy,
  rerunStudy,
} from '../../../../src/core/studies/commands.ts';
import { findStudy, requestsOf } from '../../../../src/core/studies/study-store.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { dicomFile } from '../../../dimse/dicom-file.ts';
import { sendBuffer } from '../../../dimse/send.ts';
import { openSite, type Site } from '../../../dimse/site.ts';

const run = { endpoint: 'us/obstetric/interpret' };
const BY_RULES = { rule: null, under: null };
const described = (studyDescription: string) => ({ studyDescription });

let site: Site;
let study = '';
let count = 0;

beforeAll(async () => {
  site = await openSite({
    rerun: 'never',
    destinations: [{ type: 'dicom', name: 'archive', host: '127.0.0.1', port: 1, aeTitle: 'A' }],
    rules: [
      { name: 'strangers', when: described('held'), hold: true },
      { name: 'thyroid', when: described('ignored'), ignore: true },
      { name: 'archive', when: described('forwarded'), forwardTo: ['archive'], tags: ['copy'] },
      {
        name: 'both',
        when: { ...described('both'), attributes: { LastMenstrualDate: { exists: true } } },
        run,
        forwardTo: ['archive'],
      },
      { name: 'late', when: described('held'), run },
      { name: 'obstetric', when: described('OB'), run },
    ],
  });
});
afterAll(() => site.close());
beforeEach(() => {
  count += 1;
  study = `1.2.840.98.${count}`;
});

const send = (studyDescription: string, number = 1, lastMenstrualDate = '20260101') =>
  sendBuffer(
    site.node,
    dicomFile({
      sopInstanceUid: `${study}.1.${number}`,
      studyInstanceUid: study,
      studyDescription,
      lastMenstrualDate,
    }),
  );
const row = () => findStudy(site.database, study);
const reaches = (state: string) => expect.poll(async () => (await row())?.state).toBe(state);
const requests = () => site.submitted.filter(({ studyInstanceUid }) => studyInstanceUid === study);

async function complete(description: string, state: string): Promise<void> {
  await send(description);
  site.pass(31);
  await reaches(state);
}

describe('a study whose rule', () => {
  test('holds it waits for a person', async () => {
    await complete('held', 'held');
    expect((await row())?.reason).toBe('Held by the rule “strangers”.');
    expect(requests()).toEqual([]);
  });

  test('holds it goes on under the next rule that matches, when a person releases it', async () => {
    await complete('held', 'held');
    expect((await row())?.acting_rules).toEqual(['strangers']);
    await releaseStudy(site.database, study, BY_RULES, {
      routing: site.config.routing,
      at: new Date(0),
    });
    await reaches('submitted');
    expect((await row())?.acting_rules).toEqual(['late']);
    expect(requests().map(({ source }) => source)).toMatchObject([{ rule: 'late', revision: 1 }]);
  });

  test('holds it goes on under the rule that a person names', async () => {
    await complete('held', 'held');
    const now = { routing: site.config.routing, at: new Date(0) };
    await expect(
      releaseStudy(site.database, study, { ...BY_RULES, rule: 'strangers' }, now),
    ).rejects.toThrow('not_found');
    await releaseStudy(site.database, study, { ...BY_RULES, rule: 'obstetric' }, now);
    await reaches('submitted');
    expect(requests().map(({ source }) => source)).toMatchObject([{ rule: 'obstetric' }]);
  });

  test('ignores it is kept and nothing is done', async () => {
    await complete('ignored', 'ignored');
    expect((await row())?.acting_rules).toEqual(['thyroid']);
    expect(requests()).toEqual([]);
  });

  test('forwards and tags it makes no request', async () => {
    await complete('forwarded', 'routed');
    expect(await row()).toMatchObject({ tags: ['copy'], acting_rules: ['archive'] });
    expect(requests()).toEqual([]);
    const last = site.forwarded.at(-1);
    expect(last?.destinations).toEqual(['archive']);
    expect(last?.instances).toHaveLength(1);
  });

  test('runs and forwards does both', async () => {
    const before = site.forwarded.length;
    await complete('both', 'submitted');
    expect(requests()).toHaveLength(1);
    expect(site.forwarded.length).toBe(before + 1);
  });

  test('requires an attribute that the objects lack is skipped', async () => {
    await send('both', 1, '');
    site.pass(31);
    await reaches('unrouted');
    expect((await row())?.acting_rules).toEqual([]);
    expect((await row())?.reason).toContain('Last menstrual date is missing, expected any value');
  });
});

describe('a person who holds a study', () => {
  /** Holds the study at a moment of its submission. Returns the outcome: `held`, or the error. */
  const holdWhen = async (moment: 'judged' | 'submitted'): Promise<string> => {
    const { query } = site.database;
    let begun = false;
    let outcome = '';
    const hold = async () => {
      if (begun) return;
      begun = true;
      outcome = await holdStudy(site.database, study, 'Wait for me.').then(
        () => 'held',
        (error: Error) => error.message,
      );
    };
    if (moment === 'submitted') site.onSubmit = hold;
    else {
      // The assembly reads the objects of a study after it has claimed the study.
      site.database.query = async (text, ...rest) => {
        if (text.includes('DISTINCT ON (sop_instance_uid)')) await hold();
        return query(text, ...rest);
      };
    }
    await send('OB');
    site.pass(31);
    await expect.poll(() => outcome).not.toBe('');
    site.database.query = query;
    site.onSubmit = () => {};
    return outcome;
  };

  test('that is claimed but not yet submitted keeps it from being submitted', async () => {
    expect(await holdWhen('judged')).toBe('held');
    await reaches('held');
    expect(requests()).toEqual([]);
    expect(await row()).toMatchObject({ reason: 'Wait for me.', hold_reason: 'Wait for me.' });
    await releaseStudy(site.database, study, BY_RULES, {
      routing: site.config.routing,
      at: new Date(0),
    });
    await reaches('submitted');
    expect(requests()).toHaveLength(1);
  });

  test('that is being submitted learns that it is too late', async () => {
    expect(await holdWhen('submitted')).toContain('being submitted or forwarded');
    await reaches('submitted');
    expect(requests()).toHaveLength(1);
    expect((await row())?.hold_reason).toBeNull();
  });
});

describe('a person', () => {
  test('confirms that a study with another birth date belongs to the merged patient', async () => {
    await site.database.query(
      `INSERT INTO patient_merges (id, authority, unissued, prior_id, survivor_id, birth_date,
         effective_at, received_at, sender, control_id)
       VALUES (gen_random_uuid(), '', true, 'OLD', 'NEW', '19900405', now(), now(), 'his', 'M1')`,
    );
    const file = {
      sopInstanceUid: `${study}.1.1`,
      studyInstanceUid: study,
      studyDescription: 'OB',
    };
    const patient = { patientId: 'OLD', birthDate: '19710101', lastMenstrualDate: '20260101' };
    await sendBuffer(site.node, dicomFile({ ...file, ...patient }));
    site.pass(31);
    await reaches('held');
    expect(await row()).toMatchObject({
      reason: expect.stringContaining('a different birth date'),
    });
    // The hold reason is set as well, so no workitem can be created for the study.
    expect((await row())?.hold_reason).toBe((await row())?.reason);
    const decided = { rule: null, under: 'surviving-id' } as const;
    await releaseStudy(site.database, study, decided, {
      routing: site.config.routing,
      at: new Date(0),
    });
    await reaches('submitted');
    expect((await row())?.identity.PatientID).toBe('NEW');
  });

  test('ends the wait for more objects', async () => {
    await send('OB');
    expect((await row())?.state).toBe('receiving');
    await completeNow(site.database, study, new Date(0));
    await reaches('submitted');
    expect(await row()).toMatchObject({ complete_because: 'command' });
  });

  test("has a study interpreted again as a new revision, whatever its source's policy", async () => {
    await complete('OB', 'submitted');
    await rerunStudy(site.database, study, new Date(0));
    await expect.poll(() => requests().length).toBe(2);
    const id = (await row())?.id;
    expect(requests().map(({ uniqueKey }) => uniqueKey)).toEqual([
      `dicom:${id}:1`,
      `dicom:${id}:2`,
    ]);
  });

  test('cannot release what is not held', async () => {
    await complete('OB', 'submitted');
    await expect(
      releaseStudy(site.database, study, BY_RULES, {
        routing: site.config.routing,
        at: new Date(0),
      }),
    ).rejects.toThrow('The study is submitted');
  });

  test('can see what other rules would do, without any effect', async () => {
    await complete('ignored', 'ignored');
    const routing = routingSchema.parse({ rules: [{ name: 'all', run }] });
    const objects = objectsOnDisk(site.config.dataDir);
    const runs = await dryRun(site.database, { routing, objects, at: new Date(), last: 1 });
    expect(runs.map(({ acting }) => acting)).toEqual([['all']]);
    expect((await row())?.state).toBe('ignored');
    expect(requests()).toEqual([]);
  });
});

test('late objects of a source that is interpreted once are kept, but create no request', async () => {
  await complete('OB', 'submitted');
  await send('OB', 2);
  expect(await row()).toMatchObject({ state: 'receiving', revision: 2, instance_count: 2 });
  site.pass(31);
  await reaches('submitted');
  expect(requests()).toHaveLength(1);
  const found = await row();
  expect(found?.reason).toContain('rerun: never');
  expect(found && (await requestsOf(site.database, found.id))).toHaveLength(1);
});

test('late objects of a source that is interpreted once are forwarded like the first', async () => {
  await complete('both', 'submitted');
  await send('both', 2);
  site.pass(31);
  await reaches('submitted');
  expect(requests()).toHaveLength(1);
  expect((await row())?.reason).toContain('rerun: never');
  const last = site.forwarded.at(-1);
  expect(last?.destinations).toEqual(['archive']);
  expect(last?.instances).toHaveLength(2);
});

test('a gateway that stops while many studies are complete finishes only the one in progress', async () => {
  await site.gateway.close();
  await site.database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after, next_attempt_at)
     SELECT gen_random_uuid(), '1.2.99.' || n, 'this-machine', 'CART', 'SONOGATE', 'complete',
       '{"StudyDescription": "OB"}', now(), now(), now(), now() - interval '1 minute'
     FROM generate_series(1, 5) AS n`,
  );
  let submitted = 0;
  let stopped: Promise<void> | null = null;
  const assembly = startStudyAssembly({
    config: site.config,
    routing: () => site.config.routing,
    database: site.database,
    objects: objectsOnDisk(site.config.dataDir),
    submit: async ({ uniqueKey }) => {
      submitted += 1;
      stopped ??= assembly.stop();
      return { id: `req_${uniqueKey}`, status: 'queued' };
    },
    result: async () => null,
    forward: async () => {},
    outstanding: () => [],
    logger: silentLogger,
    now: () => new Date(),
  });
  await expect.poll(() => submitted).toBe(1);
  await stopped;
  expect(submitted).toBe(1);
  await site.restart();
});
