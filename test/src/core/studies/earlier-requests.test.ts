import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { earlierRequests } from '../../../../src/core/studies/study-store.ts';
import { endpoint, openSite, type Site } from '../requests/site.ts';

const other = { ...endpoint, id: 'us/other/interpret', model: 'us/other' };

let site: Site;
beforeAll(async () => {
  site = await openSite({ endpoints: [endpoint, other] });
});
afterAll(() => site.close());

async function study(): Promise<string> {
  const id = randomUUID();
  await site.database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after)
     VALUES ($1::uuid, $1::text, 's', 'A', 'B', 'submitted', '{}', now(), now(), now())`,
    [id],
  );
  return id;
}

/** Runs a revision under a rule and returns the request id. */
async function run(of: string, revision: number, rule: string, model = endpoint.model) {
  const id = await site.submit('result', { endpoint: model });
  await site.database.query(
    `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
     VALUES ($1, $2, $3, $4, now())`,
    [of, revision, rule, id],
  );
  return id;
}

describe('the earlier requests of a run', () => {
  test('are those of earlier revisions of its study, newest first', async () => {
    const [own, stranger] = [await study(), await study()];
    const first = await run(own, 1, 'obstetric');
    const second = await run(own, 2, 'obstetric');
    await run(stranger, 1, 'obstetric');
    const third = await run(own, 3, 'obstetric');
    expect(await earlierRequests(site.database, third)).toEqual([second, first]);
    expect(await earlierRequests(site.database, second)).toEqual([first]);
    expect(await earlierRequests(site.database, first)).toEqual([]);
  });

  test('are of the same endpoint', async () => {
    const own = await study();
    await run(own, 1, 'echo', other.model);
    expect(await earlierRequests(site.database, await run(own, 2, 'obstetric'))).toEqual([]);
  });

  test('may have come by a rule that has another name since', async () => {
    const own = await study();
    const first = await run(own, 1, 'old-name');
    expect(await earlierRequests(site.database, await run(own, 2, 'new-name'))).toEqual([first]);
  });

  test('are of the same rule where several run the endpoint: two reports stay two', async () => {
    const own = await study();
    const [a, b] = [await run(own, 1, 'a'), await run(own, 1, 'b')];
    const [nextA, nextB] = [await run(own, 2, 'a'), await run(own, 2, 'b')];
    expect(await earlierRequests(site.database, nextA)).toEqual([a]);
    expect(await earlierRequests(site.database, nextB)).toEqual([b]);
  });

  test('do not include a workitem, nor does a workitem have any: it may be of some objects only', async () => {
    const own = await study();
    const first = await run(own, 1, 'obstetric');
    const workitem = await run(own, 2, 'workitem:1.2.3');
    expect(await earlierRequests(site.database, workitem)).toEqual([]);
    expect(await earlierRequests(site.database, await run(own, 3, 'obstetric'))).toEqual([first]);
  });

  test('do not exist for a request without a study', async () => {
    expect(await earlierRequests(site.database, await site.submit())).toEqual([]);
  });
});
