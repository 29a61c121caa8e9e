import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  earlierRequests,
  laterRequests,
  supersededRequest,
} from '../../../../src/core/studies/earlier-requests.ts';
import { signatureOver } from '../../../../src/core/studies/signed-results.ts';
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

async function run(
  of: string,
  revision: number,
  rule: string,
  { model = endpoint.model, ...command }: { model?: string; workitemUid?: string } = {},
) {
  const id = await site.submit('result', { endpoint: model, ...command });
  await site.database.query(
    `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
     VALUES ($1, $2, $3, $4, now())`,
    [of, revision, rule, id],
  );
  return id;
}

describe('the earlier requests of a run', () => {
  test('are those of earlier revisions of its study, newest first, as are the later ones', async () => {
    const [own, stranger] = [await study(), await study()];
    const first = await run(own, 1, 'obstetric');
    const second = await run(own, 2, 'obstetric');
    await run(stranger, 1, 'obstetric');
    const third = await run(own, 3, 'obstetric');
    expect(await earlierRequests(site.database, third)).toEqual([second, first]);
    expect(await earlierRequests(site.database, second)).toEqual([first]);
    expect(await earlierRequests(site.database, first)).toEqual([]);
    expect(await laterRequests(site.database, first)).toEqual([third, second]);
  });

  test('are of the same endpoint', async () => {
    const own = await study();
    await run(own, 1, 'echo', { model: other.model });
    expect(await earlierRequests(site.database, await run(own, 2, 'obstetric'))).toEqual([]);
  });

  test('may come from a rule that has been renamed since', async () => {
    const own = await study();
    const first = await run(own, 1, 'old-name');
    expect(await earlierRequests(site.database, await run(own, 2, 'new-name'))).toEqual([first]);
  });

  test('come from the same rule if several run the endpoint: two reports stay two', async () => {
    const own = await study();
    const [a, b] = [await run(own, 1, 'a'), await run(own, 1, 'b')];
    const [nextA, nextB] = [await run(own, 2, 'a'), await run(own, 2, 'b')];
    expect(await earlierRequests(site.database, nextA)).toEqual([a]);
    expect(await earlierRequests(site.database, nextB)).toEqual([b]);
  });

  test('exclude workitems, and a workitem has none: it may cover only some objects', async () => {
    const own = await study();
    const first = await run(own, 1, 'obstetric');
    const workitem = await run(own, 2, 'workitem:1.2.3', { workitemUid: '1.2.3' });
    expect(await earlierRequests(site.database, workitem)).toEqual([]);
    expect(await earlierRequests(site.database, await run(own, 3, 'obstetric'))).toEqual([first]);
  });

  test('do not exist for a request without a study', async () => {
    expect(await earlierRequests(site.database, await site.submit())).toEqual([]);
  });
});

describe('a draft is outdated', () => {
  test.each([
    ['its own signature', 1, 'own'],
    ['that of an earlier result', 0, 'another'],
    ['that of a later result', 2, 'another'],
    ['no signature', null, null],
  ] as const)('by %s', async (_, signed, expected) => {
    const own = await study();
    const requests: string[] = [];
    for (const revision of [1, 2, 3]) requests.push(await run(own, revision, 'obstetric'));
    const [, middle = ''] = requests;
    if (signed !== null) {
      await site.database.query(
        `INSERT INTO reviews (request_id, state, signed_revision) VALUES ($1, 'signed', 1)`,
        [requests[signed]],
      );
    }
    expect(await signatureOver(site.database, middle)).toBe(expected);
  });
});

describe('the draft that a PACS may replace', () => {
  const sent = (requestId: string, notSent = false) =>
    site.database.query(
      `INSERT INTO deliveries (id, request_id, kind, destination, object, state, not_sent, rank,
         give_up_at) VALUES ($1, $1, 'dicom', 'pacs', 'sr-tid1500', 'delivered', $2, 1, now())`,
      [requestId, notSent],
    );

  test('is that of the newest earlier request that was sent', async () => {
    const own = await study();
    const [first, second] = [await run(own, 1, 'obstetric'), await run(own, 2, 'obstetric')];
    const third = await run(own, 3, 'obstetric');
    expect(await supersededRequest(site.database, third)).toBeNull();
    await sent(first);
    await sent(second, true);
    expect(await supersededRequest(site.database, third)).toBe(first);
  });

  test('is not that of a workitem, which may be of some objects only', async () => {
    const own = await study();
    await sent(await run(own, 1, 'workitem:1.2.4', { workitemUid: '1.2.4' }));
    expect(await supersededRequest(site.database, await run(own, 2, 'obstetric'))).toBeNull();
  });
});
