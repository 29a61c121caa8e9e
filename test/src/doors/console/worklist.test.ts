import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  Facets,
  StudyPage,
  WorklistPage,
  WorklistRow,
} from '../../../../src/doors/console/contract.ts';
import { type Client, type ConsoleSite, openConsole } from './site.ts';
import { readEvents, type SentEvent } from './stream.ts';
import { fillWorklist, fixtureStudy } from './worklist-fixture.ts';

const STUDIES = 400;

let site: ConsoleSite;
let clinician: Client;

beforeAll(async () => {
  site = await openConsole();
  await fillWorklist(site.database, STUDIES);
  clinician = await site.signIn('clinician');
});
afterAll(() => site.close());

const page = (query = '') => clinician.get<WorklistPage>(`/worklist${query}`);
const uidOf = ({ subject }: WorklistRow) =>
  subject?.shown === 'identity' ? subject.studyInstanceUid : '';

async function everyRow(query: string): Promise<{ critical: WorklistRow[]; rows: WorklistRow[] }> {
  const first = await page(`?limit=60${query}`);
  const rows = [...first.rows];
  for (let cursor = first.nextCursor; cursor; ) {
    const next = await page(`?limit=60${query}&cursor=${encodeURIComponent(cursor)}`);
    expect(next.critical).toEqual([]);
    rows.push(...next.rows);
    cursor = next.nextCursor;
  }
  return { critical: first.critical, rows };
}

describe('the worklist', () => {
  it('lists every study once, newest first, those with unacknowledged flags above all others', async () => {
    const { critical, rows } = await everyRow('');
    expect(critical).toHaveLength(1);
    expect(critical[0]?.critical).toEqual([
      expect.objectContaining({ text: 'Placenta covers the internal os' }),
    ]);
    const times = rows.map(({ arrivedAt }) => arrivedAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect(new Set([...critical, ...rows].map(uidOf)).size).toBe(STUDIES);
  });

  it('lists every critical study, even if there are very many', async () => {
    const { rows: flagged } = await site.database.query<{ key: string }>(
      `UPDATE worklist SET critical = true
       WHERE key IN (SELECT key FROM worklist WHERE NOT critical LIMIT 130) RETURNING key`,
    );
    const [all, onlyCritical] = [await everyRow(''), await everyRow('&critical=1')];
    expect(all.critical).toHaveLength(100);
    expect(new Set([...all.critical, ...all.rows].map(uidOf)).size).toBe(STUDIES);
    expect(onlyCritical.critical).toEqual(all.critical);
    expect(new Set([...onlyCritical.critical, ...onlyCritical.rows].map(uidOf)).size).toBe(131);
    await site.database.query('UPDATE worklist SET critical = false WHERE key = ANY ($1::text[])', [
      flagged.map(({ key }) => key),
    ]);
  });

  it('lists what is signed and what is not, and which destination is waiting for a signature', async () => {
    const { rows } = await page('?signature=unsigned&limit=2');
    const [first, other] = rows;
    expect(first).toMatchObject({ review: 'draft', waitsFor: null });
    await site.database.query(
      `INSERT INTO reviews (request_id, state, signed_revision) VALUES ($1, 'amended', 2)`,
      [first?.requestId],
    );
    await site.database.query(
      `UPDATE requests SET deliver_to = '[{"kind": "dicom", "destination": "pacs", "object": "pdf"},
         {"kind": "fhir", "destination": "ehr", "object": "fhir-bundle"}]' WHERE id = ANY ($1::text[])`,
      [rows.map(({ requestId }) => requestId)],
    );
    const keysFor = async (query: string) => (await page(query)).rows.map(({ key }) => key);
    expect(await keysFor('?signature=signed')).toEqual([first?.key]);
    expect(await keysFor('?signature=unsigned&limit=200')).not.toContain(first?.key);
    const waits = async () =>
      (await page(`?q=${other?.requestId}`)).rows.map(({ waitsFor }) => waitsFor);
    const ofEhr = (change: string) =>
      site.database.query(`${change} WHERE destination = 'ehr' AND request_id = ANY ($1::text[])`, [
        rows.map(({ requestId }) => requestId),
      ]);
    // This draft is not sent, because the EHR already has the signed report of the study.
    await ofEhr(`UPDATE deliveries SET state = 'delivered', not_sent = true`);
    expect(await waits()).toEqual(['a signature before it goes to ehr']);
    await ofEhr(`UPDATE deliveries SET kind = 'hl7v2'`);
    expect(await waits()).toEqual(['a signature before it goes to ehr']);
    await ofEhr('DELETE FROM deliveries');
    expect(await waits()).toEqual(['a signature before it goes to ehr']);
    const signedOf = async (row?: WorklistRow) => {
      const answer = await clinician.call('GET', `/worklist/${row?.key}`);
      return ((await answer.json()) as StudyPage).requests.map(({ signed }) => signed);
    };
    expect([await signedOf(first), await signedOf(other)]).toEqual([[true], [false]]);
    const become = (status: string) =>
      site.database.query('UPDATE requests SET status = $2 WHERE id = $1', [
        other?.requestId,
        status,
      ]);
    await become('expired');
    expect((await page(`?q=${other?.requestId}`)).rows).toMatchObject([
      { waitsFor: null, reason: 'It was never signed, so it did not go to ehr.' },
    ]);
    await become('succeeded');
    expect((await page(`?q=${first?.requestId}`)).rows[0]?.waitsFor).toBeNull();
    await site.database.query('DELETE FROM reviews');
  });

  it('does not shift while new studies arrive', async () => {
    const { rows, nextCursor } = await page('?limit=10');
    await site.database.query(
      `UPDATE worklist SET arrived_at = now() WHERE key = (SELECT min(key) FROM worklist
         WHERE NOT critical AND NOT key = ANY ($1::text[]))`,
      [rows.map(({ key }) => key)],
    );
    const next = await page(`?limit=10&cursor=${encodeURIComponent(nextCursor ?? '')}`);
    const seen = new Set(rows.map(({ key }) => key));
    expect(next.rows.filter(({ key }) => seen.has(key))).toEqual([]);
  });

  it.each([
    ['state=receiving', 3, ({ state }: WorklistRow) => state === 'receiving'],
    ['state=failed', 16, ({ state }: WorklistRow) => state === 'failed'],
    ['state=unrouted&state=receiving', 10, ({ requestId }: WorklistRow) => requestId === null],
    ['source=cart-3', 80, ({ source }: WorklistRow) => source === 'cart-3'],
    ['tag=urgent', 10, ({ tags }: WorklistRow) => tags.includes('urgent')],
    ['q=urgent', 10, ({ tags }: WorklistRow) => tags.includes('urgent')],
    ['critical=1', 1, ({ critical }: WorklistRow) => critical.length > 0],
    ['endpoint=us/echo/interpret', 0, () => false],
  ])('with %s has %i rows', async (query, count, fits) => {
    const { critical, rows } = await everyRow(`&${query}`);
    expect([...critical, ...rows].filter(fits)).toHaveLength(count);
    expect([...critical, ...rows]).toHaveLength(count);
  });

  it.each([
    ['a family name', 'family77'],
    ['words of a name in any order and case', 'Given77 FAMILY77'],
    ['the beginnings of words', 'given77 fam'],
    ['an accession number', 'acc77'],
    ['a Study Instance UID', fixtureStudy(77).studyInstanceUid],
  ])('can be searched by %s', async (_, words) => {
    const { rows } = await page(`?q=${encodeURIComponent(words)}`);
    expect(rows.map(uidOf)).toEqual([fixtureStudy(77).studyInstanceUid]);
  });

  it('can be searched by a patient ID with punctuation: lists all studies of the patient', async () => {
    const { rows } = await page('?q=MRN-0000076');
    expect(rows.map(uidOf)).toEqual([77, 76].map((n) => fixtureStudy(n).studyInstanceUid));
  });

  it.each([
    ["'", 0],
    ['!!!', 0],
    ["x' | 'family", 0],
    ['%', 0],
    ['\\', 0],
  ])('treats %s as text to search for', async (words, count) => {
    expect((await page(`?q=${encodeURIComponent(words)}`)).rows).toHaveLength(count);
  });

  it.each([
    '?cursor=x',
    '?cursor=9999-99-99T99:99:99.999999Z%20x',
    '?cursor=0000-01-01T00:00:00.000000Z%20x',
    '?cursor=2026-02-30T00:00:00.000000Z%20x',
    '?q=%00',
    '?q=a%00b',
    '?limit=0',
    '?limit=201',
    '?state=lost',
    '?sort=name',
    '?q=',
  ])('refuses %s', async (query) => {
    expect((await clinician.call('GET', `/worklist${query}`)).status).toBe(422);
  });

  it('offers only filters that match something', async () => {
    const facets = await clinician.get<Facets>('/worklist/facets');
    expect(facets.sources).toEqual(['cart-0', 'cart-1', 'cart-2', 'cart-3', 'cart-4']);
    expect(facets.tags).toEqual(['urgent']);
    expect(facets.endpoints).toEqual([{ id: 'us/obstetric/interpret', specialty: 'obstetric' }]);
    expect(facets.states).toContainEqual({ state: 'receiving', rows: 3, more: false });
    expect(facets.states.reduce((sum, { rows }) => sum + rows, 0)).toBe(STUDIES);
  });

  it('shows a summary of the result, and what became of its deliveries', async () => {
    const { rows } = await page(`?q=${fixtureStudy(333).studyInstanceUid}`);
    expect(rows[0]).toMatchObject({
      state: 'succeeded',
      glance: {
        age: '29+0',
        values: ['EFW 1240 g', 'HC 262.1 mm'],
        toConfirm: 0,
        abnormal: [],
        assessed: 9,
        sections: 14,
      },
      deliveries: { waiting: 0, delivered: 1, dead: 1, held: 0 },
    });
  });
});

describe('a request submitted over HTTP', () => {
  const submit = (id: string, account: string) =>
    site.database.query(
      `INSERT INTO requests (id, account_id, model, endpoint, version, status, stage, priority, test,
         input, files, prior_files, metadata, source, cost, deliver_to, created_at)
       SELECT $1, $2, model, endpoint, version, 'queued', stage, priority, test, input,
         '[{"name": "a.png"}]', prior_files, metadata, '{"kind": "api"}', cost, deliver_to, now()
       FROM requests LIMIT 1`,
      [id, account],
    );

  it('is a row without a patient, and follows its request', async () => {
    await submit('req_by_http', 'default');
    const now = async () => (await page('?source=api')).rows;
    expect(await now()).toEqual([
      expect.objectContaining({
        key: 'req_by_http',
        subject: null,
        state: 'queued',
        objects: 1,
        waitsFor: 'a worker',
      }),
    ]);
    await site.database.query(
      `INSERT INTO request_events (request_id, seq, name, data, at)
       VALUES ('req_by_http', 1, 'triage', '{"display": "Reversed flow", "section": "doppler"}', now())`,
    );
    const { critical } = await page('?source=api');
    expect(critical[0]?.critical).toEqual([expect.objectContaining({ text: 'Reversed flow' })]);
  });

  it('of another account is not shown', async () => {
    await submit('req_of_another', 'another');
    expect((await clinician.call('GET', '/worklist/req_of_another')).status).toBe(404);
    expect((await clinician.call('GET', '/requests/req_of_another/result')).status).toBe(404);
  });
});

describe('a row', () => {
  it('follows its study, its newest request and its deliveries', async () => {
    const uid = fixtureStudy(201).studyInstanceUid;
    const now = async () => (await page(`?q=${uid}`)).rows[0];
    await site.database.query(`UPDATE studies SET state = 'held', reason = 'by hand'
      WHERE study_instance_uid = '${uid}'`);
    expect(await now()).toMatchObject({ state: 'held', waitsFor: 'a person to release it' });
    await site.database.query(`UPDATE studies SET state = 'submitted'
      WHERE study_instance_uid = '${uid}'`);
    expect(await now()).toMatchObject({ state: 'succeeded', waitsFor: null });
    await site.database.query(
      `UPDATE deliveries SET state = 'pending' WHERE object = 'sr-tid1500' AND request_id = $1`,
      [(await now())?.requestId],
    );
    expect(await now()).toMatchObject({ waitsFor: 'delivery to pacs' });
  });

  it('leaves the top once the flags of all its endpoints are acknowledged, and shows by whom', async () => {
    const flagged = async () => (await page()).critical.find(({ subject }) => subject !== null);
    const { key, requestId } = (await flagged()) as WorklistRow;
    const [first, second] = [requestId ?? '', 'req_of_echo'];
    await site.database.query(
      `WITH made AS (
         INSERT INTO requests (id, account_id, model, endpoint, version, status, stage, priority, test,
           input, files, prior_files, metadata, source, cost, deliver_to, created_at)
         SELECT $2, account_id, 'us/echo', 'us/echo/interpret', version, status, stage, priority, test,
           input, files, prior_files, metadata, source, cost, deliver_to, created_at
         FROM requests WHERE id = $1 RETURNING id, source)
       INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
       SELECT (source ->> 'study')::uuid, 1, 'echo', id, now() FROM made`,
      [first, second],
    );
    await site.database.query(
      `INSERT INTO request_events (request_id, seq, name, data, at)
       VALUES ($1, 1, 'triage', '{"display": "Pericardial effusion", "section": "pericardium"}', now())`,
      [second],
    );
    const requestsWithFlags = async () =>
      (await flagged())?.critical.map(({ requestId: id }) => id).toSorted();
    expect(await requestsWithFlags()).toEqual([first, second]);
    // A run for a later revision hides the flag only once it has a result for the whole study.
    await site.database.query(
      `WITH made AS (
         INSERT INTO requests (id, account_id, model, endpoint, version, status, stage, priority, test,
           input, files, prior_files, metadata, source, cost, deliver_to, created_at)
         SELECT 'req_later', account_id, model, endpoint, version, 'queued', stage, priority, test,
           input, files, prior_files, metadata, source, cost, deliver_to, created_at
         FROM requests WHERE id = $1 RETURNING id, source)
       INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
       SELECT (source ->> 'study')::uuid, 2, 'echo', id, now() FROM made`,
      [second],
    );
    for (const status of ['queued', 'running', 'failed', 'canceled']) {
      await site.database.query(`UPDATE requests SET status = $1 WHERE id = 'req_later'`, [status]);
      expect([status, await requestsWithFlags()]).toEqual([status, [first, second]]);
    }
    const later = (change: string) =>
      site.database.query(`${change} WHERE request_id = 'req_later'`);
    await site.database.query(`UPDATE requests SET status = 'succeeded' WHERE id = 'req_later'`);
    for (const rule of ['workitem:1.2.3', 'another rule']) {
      await later(`UPDATE study_requests SET rule = '${rule}'`);
      expect([rule, await requestsWithFlags()]).toEqual([rule, [first, second]]);
    }
    await later(`UPDATE study_requests SET rule = 'echo'`);
    expect(await requestsWithFlags()).toEqual([first]);
    await site.database.query(`UPDATE requests SET status = 'queued' WHERE id = 'req_later'`);
    const acknowledge = async (id: string) =>
      (await (await clinician.call('POST', `/requests/${id}/acknowledge`)).json()) as WorklistRow;
    expect(await acknowledge(second)).toMatchObject({ key, acknowledged: null });
    expect((await flagged())?.critical.map(({ seenBy }) => seenBy)).toEqual(['Dr clinician', null]);
    expect(await acknowledge(first)).toMatchObject({
      key,
      acknowledged: { person: 'Dr clinician' },
    });
    expect((await page()).critical.map((one) => one.key)).not.toContain(key);
    const { rows: audited } = await site.database.query<{ request_id: string }>(
      `SELECT request_id FROM audit WHERE action = 'triage.acknowledge' ORDER BY id`,
    );
    expect(audited.map(({ request_id }) => request_id)).toEqual([second, first]);
  });
});

describe('the stream of changes', () => {
  // Otherwise, the stream would also report studies that are still receiving objects.
  beforeAll(async () => {
    await site.database.query(
      `UPDATE studies SET last_received_at = now() - interval '1 minute' WHERE state = 'receiving'`,
    );
  });

  const touch = (n: number) =>
    site.database.query('UPDATE studies SET reason = $1 WHERE study_instance_uid = $2', [
      `changed ${Math.random()}`,
      fixtureStudy(n).studyInstanceUid,
    ]);
  const studiesIn = (events: readonly SentEvent[]) =>
    events.flatMap((event) => (event.type === 'row' ? [uidOf(event.data.row)] : []));
  const uid = (n: number) => fixtureStudy(n).studyInstanceUid;
  const until = (n: number) => (events: readonly SentEvent[]) => studiesIn(events).includes(uid(n));

  it('reports a change to a study as its complete row', async () => {
    const events = await readEvents(site.url, clinician.cookie, until(120), async () => {
      await touch(120);
    });
    expect(events[0]?.type).toBe('hello');
    const told = events.at(-1);
    expect(told).toMatchObject({ type: 'row' });
  });

  /**
   * A stream repeats the changes of the last seconds to a page that connects. This limits them to
   * changes from now on.
   */
  const forgetThePast = () =>
    site.database.query(
      `INSERT INTO console_changes (key, what, at) VALUES ('', 'study', now() - interval '1 minute')`,
    );

  it('resumes after the last event that a page received, without repeating earlier ones', async () => {
    await forgetThePast();
    const before = await readEvents(site.url, clinician.cookie, until(121), async () => {
      await touch(121);
    });
    const last = before.at(-1)?.id ?? '';
    await touch(122);
    await touch(123);
    const headers = { 'Last-Event-ID': last };
    const missed = await readEvents(site.url, clinician.cookie, until(123), undefined, headers);
    expect(missed.map(({ type }) => type)).toEqual(['hello', 'row', 'row']);
    expect(studiesIn(missed)).toEqual(expect.arrayContaining([uid(122), uid(123)]));
  });

  it('repeats all simultaneous changes to a page that was disconnected among them', async () => {
    await forgetThePast();
    await site.database.transaction(async (tx) => {
      const change = 'UPDATE studies SET reason = $1 WHERE study_instance_uid = $2';
      for (const n of [130, 131, 132]) await tx.query(change, ['x', uid(n)]);
    });
    // A row whose review has just lost its reader may come in between.
    const changed = [130, 131, 132].map(uid);
    const of = (events: readonly SentEvent[]) =>
      studiesIn(events).filter((one) => changed.includes(one));
    const all = (events: readonly SentEvent[]) => of(events).length === 3;
    const events = await readEvents(site.url, clinician.cookie, all);
    const headers = { 'Last-Event-ID': events.at(-2)?.id ?? '' };
    const again = await readEvents(site.url, clinician.cookie, all, undefined, headers);
    expect(of(again).toSorted()).toEqual(changed);
  });

  it('reports arriving objects even if nothing else in the study changes', async () => {
    const events = await readEvents(site.url, clinician.cookie, until(400), async () => {
      await site.database.query(
        'UPDATE studies SET instance_count = 31, last_received_at = now() WHERE study_instance_uid = $1',
        [uid(400)],
      );
    });
    expect(events.at(-1)).toMatchObject({ data: { row: { objects: 31 } } });
  });

  it.each(['0.0', '999999999.999999999', 'x', '1.2.3'])(
    'sends reset to a page that was at %s',
    async (last) => {
      const two = (events: readonly SentEvent[]) => events.length === 2;
      const headers = { 'Last-Event-ID': last };
      const events = await readEvents(site.url, clinician.cookie, two, undefined, headers);
      expect(events.map(({ type }) => type)).toEqual(['hello', 'reset']);
    },
  );
});
