import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type {
  CreatedKey,
  Delivery,
  Destination,
  DryRun,
  FileOutcome,
  Key,
  NewWebhookSecret,
  Page,
  Rules,
  StudyPage,
  WorklistPage,
  WorklistRow,
} from '../../../../src/doors/console/contract.ts';
import type { Queryable } from '../../../../src/platform/database/port.ts';
import { dicomFile } from '../../../dimse/dicom-file.ts';
import { addDraft } from './draft.ts';
import { type Client, type ConsoleSite, openConsole, signInWith } from './site.ts';
import { fillWorklist, fixtureStudy } from './worklist-fixture.ts';

const STUDIES = 120;

let site: ConsoleSite;
let operator: Client;
let administrator: Client;

beforeAll(async () => {
  site = await openConsole();
  await fillWorklist(site.database, STUDIES);
  operator = await site.signIn('operator');
  administrator = await site.signIn('administrator');
});
afterAll(() => site.close());

async function rowOf(n: number): Promise<WorklistRow> {
  const query = `/worklist?q=${fixtureStudy(n).studyInstanceUid}`;
  const { critical, rows } = await administrator.get<WorklistPage>(query);
  return [...critical, ...rows][0] as WorklistRow;
}

const done = async <Answer>(answer: Response): Promise<Answer> => {
  expect(answer.status).toBeLessThan(300);
  return (await answer.json()) as Answer;
};

const auditOf = async (action: string) =>
  (
    await site.database.query<{ actor: string; study_id: string | null; detail: object }>(
      'SELECT actor, study_id, detail FROM audit WHERE action = $1 ORDER BY id DESC',
      [action],
    )
  ).rows;

describe('a study', () => {
  it('that is still receiving objects is completed, and the audit records by whom', async () => {
    const { key } = await rowOf(STUDIES);
    const row = await done<WorklistRow>(await operator.call('POST', `/studies/${key}/complete`));
    expect(row).toMatchObject({ key, state: 'complete' });
    const page = await operator.get<StudyPage>(`/worklist/${key}`);
    expect(page.timeline).toContainEqual(
      expect.objectContaining({
        kind: 'changed',
        title: 'Waiting ended',
        actor: 'Dr operator',
      }),
    );
    expect((await auditOf('study.complete'))[0]).toMatchObject({ study_id: key });
  });

  it('with critical flags is acknowledged once, and page and audit state by whom', async () => {
    const { critical } = await administrator.get<WorklistPage>('/worklist?critical=1');
    const [{ key, requestId }] = critical as [WorklistRow];
    const clinician = await site.signIn('clinician');
    const path = `/requests/${requestId}/acknowledge`;
    const row = await done<WorklistRow>(await clinician.call('POST', path));
    expect(row.acknowledged).toMatchObject({ person: 'Dr clinician' });
    expect((await administrator.call('POST', path)).status).toBe(404);
    expect((await auditOf('triage.acknowledge'))[0]).toMatchObject({ study_id: key });
  });

  it('that is still receiving objects is held with a reason, which is kept', async () => {
    const { key } = await rowOf(STUDIES - 1);
    const body = { reason: 'wrong patient on the cart' };
    const row = await done<WorklistRow>(await operator.call('POST', `/studies/${key}/hold`, body));
    expect(row.reason).toBe('Held by Dr operator: wrong patient on the cart');
    const { rows } = await site.database.query('SELECT hold_reason FROM studies WHERE id = $1', [
      key,
    ]);
    expect(rows).toEqual([{ hold_reason: row.reason }]);
  });

  it('that no rule matched is released', async () => {
    const { key } = await rowOf(50);
    const page = await operator.get<StudyPage>(`/worklist/${key}`);
    expect(page.actions).toContain('release');
    expect(page.study?.releasableTo).toEqual(['obstetric']);
    const answer = await operator.call('POST', `/studies/${key}/release`, {
      rule: 'obstetric',
      under: null,
    });
    expect((await done<WorklistRow>(answer)).state).toBe('complete');
    const { study } = await operator.get<StudyPage>(`/worklist/${key}`);
    expect(study?.chosenRule).toBe('obstetric');
  });

  it('that was interpreted is interpreted again, as another revision', async () => {
    const { key } = await rowOf(71);
    const answer = await operator.call('POST', `/studies/${key}/rerun`);
    expect((await done<WorklistRow>(answer)).state).toBe('complete');
    const { rows } = await site.database.query('SELECT revision FROM studies WHERE id = $1', [key]);
    expect(rows).toEqual([{ revision: 2 }]);
  });

  it.each([
    ['complete', 71],
    ['hold', 72],
    ['release', 72],
    ['rerun', STUDIES - 2],
  ])('refuses %s in a state that does not allow it', async (action, n) => {
    const { key } = await rowOf(n);
    const body =
      action === 'hold'
        ? { reason: 'x' }
        : action === 'release'
          ? { rule: null, under: null }
          : undefined;
    const answer = await operator.call('POST', `/studies/${key}/${action}`, body);
    expect(answer.status).toBe(404);
  });

  it('whose request is running is canceled', async () => {
    const { requestId } = await rowOf(STUDIES - 4);
    const answer = await operator.call('POST', `/requests/${requestId}/cancel`);
    expect((await done<WorklistRow>(answer)).state).toBe('canceled');
    expect((await operator.call('POST', `/requests/${requestId}/cancel`)).status).toBe(404);
  });

  it("lists its patient's earlier studies", async () => {
    const { key } = await rowOf(75);
    const page = await operator.get<StudyPage>(`/worklist/${key}`);
    expect(page.earlier.map((one) => one.key)).toEqual([(await rowOf(74)).key]);
  });

  it('offers a viewer nothing to do', async () => {
    const { key } = await rowOf(76);
    const viewer = await site.signIn('viewer');
    const page = await viewer.get<StudyPage>(`/worklist/${key}`);
    expect(page.actions).toEqual([]);
    expect(JSON.stringify(page)).not.toContain(fixtureStudy(76).studyInstanceUid);
    expect(page.requests[0]).toMatchObject({ endpoint: 'us/obstetric/interpret' });
  });
});

describe('a delivery', () => {
  const dead = async () =>
    (await operator.get<Page<Delivery>>('/deliveries?state=dead&limit=1')).rows[0] as Delivery;

  it('that is dead explains why, and where else it could go', async () => {
    expect(await dead()).toMatchObject({
      destination: 'pacs',
      error: { code: 'peer_unreachable', title: expect.any(String), advice: expect.any(String) },
      alternates: ['archive'],
    });
  });

  it('that is dead is sent again', async () => {
    const { id } = await dead();
    const row = await done<Delivery>(await operator.call('POST', `/deliveries/${id}/replay`));
    expect(row).toMatchObject({ id, state: 'pending' });
    expect((await operator.call('POST', `/deliveries/${id}/replay`)).status).toBe(404);
  });

  it('that is dead is closed with a reason, and no longer counts as failed', async () => {
    const failed = async () => {
      const [pacs] = await operator.get<Destination[]>('/destinations');
      const row = (await operator.get<WorklistPage>(`/worklist?q=${requestId}`)).rows[0];
      return [pacs?.dead, row?.deliveries.dead];
    };
    await site.database.query(
      `UPDATE deliveries SET state = 'dead', code = 'peer_unreachable' WHERE state = 'pending'`,
    );
    const { id, requestId } = await dead();
    const [counted = 0, ofStudy] = await failed();
    expect(ofStudy).toBe(1);
    const reason = 'The PACS was replaced';
    const close = (body: object) => operator.call('POST', `/deliveries/${id}/close`, body);
    expect((await close({ reason: '' })).status).toBe(422);
    expect((await close({ reason: 'Mrs Roe' })).status).toBe(422);
    const row = await done<Delivery>(await close({ reason }));
    expect(row).toMatchObject({ id, state: 'closed', closed: { by: 'Dr operator', reason } });
    expect((await close({ reason })).status).toBe(409);
    expect(await failed()).toEqual([counted - 1, 0]);
    expect(await auditOf('delivery.close')).toMatchObject([
      { actor: 'person:Dr operator', detail: { delivery: id, reason } },
    ]);
    expect(site.logged).toContain('delivery_closed');
    const study = (await operator.get<WorklistPage>(`/worklist?q=${requestId}`)).rows[0]?.key;
    const { timeline } = await operator.get<StudyPage>(`/worklist/${study}`);
    expect(timeline.map(({ title }) => title)).toContain('Delivery to pacs closed');
    // What a person wrote is not shown to every role.
    const viewer = await site.signIn('viewer');
    const { rows } = await viewer.get<Page<Delivery>>('/deliveries?state=closed');
    expect(rows).toMatchObject([{ id, state: 'closed', closed: null }]);
    await done(await operator.call('POST', `/deliveries/${id}/replay`));
  });

  it('goes to another destination as a separate delivery', async () => {
    await site.database.query(
      `UPDATE deliveries SET state = 'dead', code = 'peer_unreachable' WHERE state = 'pending'`,
    );
    const { id } = await dead();
    const body = { destination: 'archive' };
    const answer = await operator.call('POST', `/deliveries/${id}/alternate`, body);
    const row = await done<Delivery>(answer);
    expect(row).toMatchObject({ destination: 'archive', state: 'pending' });
    expect(row.id).not.toBe(id);
    const { rows } = await operator.get<Page<Delivery>>('/deliveries?state=diverted');
    expect(rows.map((one) => one.id)).toEqual([id]);
  });

  it('cannot go to a destination that is not configured', async () => {
    const { rows } = await operator.get<Page<Delivery>>('/deliveries?destination=archive');
    const answer = await operator.call('POST', `/deliveries/${rows[0]?.id}/alternate`, {
      destination: 'elsewhere',
    });
    expect(answer.status).toBe(404);
  });

  it('is counted with its destination', async () => {
    const destinations = await operator.get<Destination[]>('/destinations');
    expect(destinations.map(({ name }) => name)).toEqual(['pacs', 'archive', 'ehr']);
    expect(destinations[1]).toMatchObject({ waiting: 1, dead: 0 });
    expect(destinations[0]?.deliveredLastDay).toBeGreaterThan(0);
  });

  it('that waits for a person is counted as held, not as failed or waiting', async () => {
    const ehr = async () =>
      (await operator.get<Destination[]>('/destinations')).find(({ name }) => name === 'ehr');
    expect(await ehr()).toMatchObject({ waiting: 0, dead: 0, held: 0 });
    const { rows } = await site.database.query<{ id: string }>(
      `UPDATE deliveries SET code = 'ehr_patient_not_found',
         state = CASE row_number WHEN 1 THEN 'dead' ELSE 'pending' END
       FROM (SELECT id AS of, row_number() OVER () FROM deliveries WHERE kind = 'fhir' LIMIT 2) two
       WHERE id = of RETURNING id`,
    );
    expect(await ehr()).toMatchObject({ waiting: 0, dead: 0, held: 2 });
    await site.database.query(
      `UPDATE deliveries SET state = 'delivered', code = NULL WHERE id = ANY ($1::text[])`,
      [rows.map(({ id }) => id)],
    );
  });

  it('is listed page by page without a gap', async () => {
    const first = await operator.get<Page<Delivery>>('/deliveries?limit=30');
    const next = await operator.get<Page<Delivery>>(
      `/deliveries?limit=30&cursor=${first.nextCursor}`,
    );
    const ids = [...first.rows, ...next.rows].map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted().reverse());
    expect(new Set(ids).size).toBe(60);
  });
});

describe('the rules', () => {
  it('are shown as text that can be tried without changes', async () => {
    const { yaml, rules } = await operator.get<Rules>('/rules');
    expect(rules).toEqual([
      {
        name: 'obstetric',
        conditions: [{ text: 'Modality is US' }],
        does: 'runs the obstetric interpretation',
        deliverTo: [],
        tags: [],
      },
    ]);
    const answer = await operator.call('POST', '/rules/dry-run', { yaml, last: 5 });
    expect(await done<DryRun>(answer)).toMatchObject({ changed: 0 });
  });

  it('identify which of them match a file, which is not stored', async () => {
    const pixels = Buffer.alloc(100_000);
    const bytes = dicomFile({ sopInstanceUid: '1.2.3.9', sex: 'F', pixels });
    const { fileStartBytes } = await operator.get<Rules>('/rules');
    const start = bytes.subarray(0, fileStartBytes).toString('base64');
    const asked = { source: 'this-machine', start, bytes: bytes.length };
    const tried = async (yaml: string) =>
      done<FileOutcome>(await operator.call('POST', '/rules/dry-run-file', { ...asked, yaml }));
    const count = () => site.database.query('SELECT count(*) FROM instances');
    const before = (await count()).rows;
    expect(
      await tried(
        stringify({
          rules: [
            { name: 'heart', when: { studyDescription: { matches: 'echo' } }, ignore: true },
            {
              name: 'mother',
              when: { modality: 'US', source: 'this-machine', attributes: { PatientSex: 'F' } },
              hold: true,
            },
          ],
        }),
      ),
    ).toMatchObject({
      modality: 'US',
      wouldAct: ['mother'],
      open: false,
      verdicts: [
        { rule: 'heart', matches: false },
        { rule: 'mother', acts: true },
      ],
    });
    // Images are classified only when a study arrives, not when rules are tried.
    const byPlane = { name: 'planes', when: { plane: 'femur' }, hold: true };
    expect(await tried(stringify({ rules: [byPlane] }))).toMatchObject({
      wouldAct: [],
      open: true,
    });
    expect((await count()).rows).toEqual(before);
  });

  it('cannot be tried on a file that is not DICOM', async () => {
    const start = Buffer.from('a letter').toString('base64');
    const asked = { yaml: 'rules: []', source: '', start, bytes: 8 };
    const answer = await operator.call('POST', '/rules/dry-run-file', asked);
    expect(await answer.json()).toMatchObject({ code: 'object_not_understood' });
  });

  it('count every study of the last day: under each rule that acted on it, or by why no rule did', async () => {
    const change = (n: number, state: string, rules: string) =>
      site.database.query(
        'UPDATE studies SET state = $2, acting_rules = $3 WHERE study_instance_uid = $1',
        [fixtureStudy(n).studyInstanceUid, state, rules],
      );
    const before = (await operator.get<Rules>('/rules')).lastDay;
    await change(80, 'ignored', '{thyroid}');
    await change(81, 'submitted', '{obstetric,night}');
    await change(82, 'unrouted', '{}');
    await change(83, 'ignored', '{}');
    const { byRule, matchedNone, notJudged } = (await operator.get<Rules>('/rules')).lastDay;
    const of = (rules: typeof byRule, name: string) =>
      rules.find(({ rule }) => rule === name)?.studies ?? 0;
    expect([of(byRule, 'thyroid'), of(byRule, 'night')]).toEqual([1, 1]);
    expect(of(byRule, 'obstetric')).toBe(of(before.byRule, 'obstetric') - 3);
    expect(matchedNone).toBe(before.matchedNone + 1);
    expect(notJudged).toBe(before.notJudged + 1);
    const all = [...byRule.map(({ studies }) => studies), matchedNone, notJudged];
    expect(all.reduce((sum, studies) => sum + studies)).toBe(STUDIES + 1);
  });

  it('can be edited and tried on the latest studies without changing anything', async () => {
    const yaml = 'rules: [{ name: from-cart-1, when: { source: cart-1 }, hold: true }]';
    const before = await rowOf(116);
    const answer = await operator.call('POST', '/rules/dry-run', { yaml, last: 10 });
    const { studies, changed } = await done<DryRun>(answer);
    expect(studies).toHaveLength(10);
    expect(studies.filter(({ wouldAct }) => wouldAct.length > 0)).toHaveLength(2);
    expect(changed).toBe(2);
    expect(await rowOf(116)).toMatchObject({ state: before.state, changedAt: before.changedAt });
  });

  it.each([
    ['no YAML', 'rules: [', /^\/yaml$/],
    ['another shape', 'rules: [{ name: x }]', /^\/yaml\/rules\/0$/],
    [
      'an attribute that DICOM does not have',
      'rules: [{ name: x, hold: true, when: { attributes: { PatientAgge: { exists: true } } } }]',
      /^\/yaml/,
    ],
    [
      'a destination that the site does not have',
      'rules: [{ name: x, forwardTo: [nowhere] }]',
      /^\/yaml\/rules\/0\/forwardTo\/0$/,
    ],
    [
      'a destination of the wrong type',
      'rules: [{ name: x, forwardTo: [pacs, ehr] }]',
      /^\/yaml\/rules\/0\/forwardTo\/1$/,
    ],
    [
      'an endpoint that does not exist',
      'rules: [{ name: x, run: { endpoint: us/liver/interpret } }]',
      /^\/yaml$/,
    ],
    [
      'a name that another rule has',
      'rules: [{ name: x, hold: true }, { name: x, ignore: true }]',
      /^\/yaml\/rules\/1\/name$/,
    ],
    ['anchors, which could grow without end', 'a: &a [x]\nrules: [*a, *a]', /^\/yaml$/],
  ])('with %s are refused, with a pointer to the error', async (_, yaml, pointer) => {
    const answer = await operator.call('POST', '/rules/dry-run', { yaml, last: 5 });
    expect(answer.status).toBe(422);
    const { errors } = (await answer.json()) as { errors: { pointer: string }[] };
    expect(errors[0]?.pointer).toMatch(pointer);
  });

  it.each([
    [
      'that others have replaced since are not saved',
      (yaml: string) => `${yaml}# edited`,
      412,
      'stale_rules',
    ],
    [
      'of a gateway without a settings file cannot be saved',
      (yaml: string) => yaml,
      403,
      'forbidden',
    ],
  ])('%s', async (_, basisOf, status, code) => {
    const { yaml } = await operator.get<Rules>('/rules');
    const answer = await operator.call('PUT', '/rules', { yaml, basis: basisOf(yaml) });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code });
  });
});

describe('the settings', () => {
  it('create a key that is shown once, works, and stops working once revoked', async () => {
    const body = {
      name: 'ward',
      test: false,
      scopes: ['read'],
      consoleRole: 'viewer',
      expiresAt: null,
    };
    const { key, secret } = await done<CreatedKey>(await administrator.call('POST', '/keys', body));
    expect(key).toMatchObject({ name: 'ward', consoleRole: 'viewer', revokedAt: null });
    expect((await signInWith(site.url, secret)).status).toBe(201);
    expect(JSON.stringify(await administrator.get<Key[]>('/keys'))).not.toContain(secret);
    await administrator.call('DELETE', `/keys/${key.id}`);
    expect((await signInWith(site.url, secret)).status).toBe(401);
    expect((await auditOf('key.create'))[0]?.detail).toEqual({ key: key.id });
  });

  it('rotate the webhook secret, which is shown once', async () => {
    const answer = await administrator.call('POST', '/webhooks/secret/rotate');
    const { secret } = await done<NewWebhookSecret>(answer);
    expect(secret).toMatch(/^whsec_/);
    expect(JSON.stringify(await administrator.get('/webhooks/secret'))).not.toContain(secret);
  });

  it('show usage by month and key, and what is kept for how long', async () => {
    const [usage] = await administrator.get<{ key: null; requests: number }[]>('/usage');
    expect(usage?.key).toBeNull();
    expect(usage?.requests).toBeGreaterThan(0);
    expect(await administrator.get('/retention')).toMatchObject({ days: 30, purged: 0 });
  });
});

describe('an action whose audit entry cannot be written is not carried out', () => {
  /** Calls the console while the database accepts no audit entry, as if it was killed just then. */
  async function callUnaudited(
    client: Client,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ) {
    const { query, transaction } = site.database;
    const cut = (on: Queryable['query']): Queryable['query'] => {
      return async (text, ...rest) => {
        if (text.startsWith('INSERT INTO audit ')) throw new Error('killed');
        return on(text, ...rest);
      };
    };
    site.database.query = cut(query);
    site.database.transaction = (work) => transaction((tx) => work({ query: cut(tx.query) }));
    const { status } = await client.call(method, path, body, headers);
    Object.assign(site.database, { query, transaction });
    expect(status).toBe(500);
  }
  const stateOf = async (sql: string, id: string) =>
    (await site.database.query<{ state: string }>(sql, [id])).rows[0]?.state;
  /** Sets the state of a delivery, and returns its id. */
  const delivery = async (kind: string, state: string, code: string) => {
    const { rows } = await site.database.query<{ id: string }>(
      `UPDATE deliveries SET state = $2, code = $3
       WHERE id = (SELECT id FROM deliveries WHERE kind = $1 AND alternate_of IS NULL LIMIT 1)
       RETURNING id`,
      [kind, state, code],
    );
    return rows[0]?.id ?? '';
  };
  const deliveryState = (id: string) => stateOf('SELECT state FROM deliveries WHERE id = $1', id);

  it('as when a study is completed', async () => {
    const { key } = await rowOf(STUDIES - 2);
    await callUnaudited(operator, 'POST', `/studies/${key}/complete`);
    expect(await stateOf('SELECT state FROM studies WHERE id = $1', key)).toBe('receiving');
  });

  it('as when a delivery is sent again', async () => {
    const id = await delivery('dicom', 'dead', 'peer_unreachable');
    await callUnaudited(operator, 'POST', `/deliveries/${id}/replay`);
    expect(await deliveryState(id)).toBe('dead');
  });

  it('as when a report is confirmed, which the audit otherwise records', async () => {
    const id = await delivery('fhir', 'dead', 'ehr_patient_not_found');
    const clinician = await site.signIn('clinician');
    const decisions = async () =>
      (await site.database.query('SELECT action FROM hold_actions WHERE delivery_id = $1', [id]))
        .rows;
    await callUnaudited(clinician, 'POST', `/holds/${id}/confirm`, {});
    expect(await deliveryState(id)).toBe('dead');
    expect(await decisions()).toEqual([]);
    await done(await clinician.call('POST', `/holds/${id}/confirm`, {}));
    expect((await auditOf('hold.release'))[0]).toMatchObject({
      actor: 'person:Dr clinician',
      detail: { id },
    });
    await done(await clinician.call('POST', `/holds/${id}/reject`, { reason: 'a phantom' }));
    expect((await auditOf('hold.reject'))[0]).toMatchObject({ detail: { id } });
  });

  it('as when a request is canceled', async () => {
    const { rows } = await site.database.query<{ id: string }>(
      "SELECT request_id AS id FROM worklist WHERE state IN ('queued', 'preparing', 'running') LIMIT 1",
    );
    const id = rows[0]?.id ?? '';
    const state = () => stateOf('SELECT status AS state FROM requests WHERE id = $1', id);
    const before = await state();
    await callUnaudited(operator, 'POST', `/requests/${id}/cancel`);
    expect(await state()).toBe(before);
    expect(before).toMatch(/queued|preparing|running/);
  });

  it('as when a result is changed or signed', async () => {
    const id = await addDraft(site);
    const clinician = await site.signIn('clinician');
    const note = { changes: [{ kind: 'note', text: 'Repeat in two weeks.' }] };
    const headers = { 'If-Match': '"r0"' };
    await callUnaudited(clinician, 'PATCH', `/requests/${id}/review`, note, headers);
    await callUnaudited(clinician, 'POST', `/requests/${id}/sign`, {}, headers);
    expect(await clinician.get(`/requests/${id}/review`)).toMatchObject({ state: 'draft' });
  });

  it('as when a result is withdrawn', async () => {
    const id = await addDraft(site);
    await callUnaudited(administrator, 'POST', `/requests/${id}/withdraw`, { reason: 'quality' });
    const page = await administrator.get<StudyPage>(`/worklist/${id}`);
    expect(page.requests).toMatchObject([{ withdrawal: null }]);
  });

  it('as when a key is created or revoked', async () => {
    const body = {
      ...{ name: 'unaudited', test: false, scopes: ['read'] },
      ...{ consoleRole: null, expiresAt: null },
    };
    const keys = async () =>
      (await administrator.get<Key[]>('/keys')).filter(({ name }) => name === 'unaudited');
    await callUnaudited(administrator, 'POST', '/keys', body);
    expect(await keys()).toEqual([]);
    const { key } = await done<CreatedKey>(await administrator.call('POST', '/keys', body));
    await callUnaudited(administrator, 'DELETE', `/keys/${key.id}`);
    expect(await keys()).toMatchObject([{ revokedAt: null }]);
  });

  it('as when the webhook secret is rotated', async () => {
    const before = await administrator.get('/webhooks/secret');
    await callUnaudited(administrator, 'POST', '/webhooks/secret/rotate');
    expect(await administrator.get('/webhooks/secret')).toEqual(before);
  });
});

describe('a signature', () => {
  it('that is refused is not recorded as made', async () => {
    const id = await addDraft(site);
    const clinician = await site.signIn('clinician');
    const sign = (etag: string) =>
      clinician.call('POST', `/requests/${id}/sign`, {}, { 'If-Match': etag });
    const recorded = async () =>
      (
        await site.database.query(
          "SELECT 1 FROM audit WHERE action = 'review.sign' AND request_id = $1",
          [id],
        )
      ).rows.length;
    expect((await sign('"r7"')).status).toBe(412);
    expect(await recorded()).toBe(0);
    await done(await sign('"r0"'));
    expect(await recorded()).toBe(1);
    expect((await sign('"r1"')).status).toBe(409);
    expect(await recorded()).toBe(1);
  });
});

describe('a withdrawal', () => {
  it('is made by a clinician, and the page states by whom and why', async () => {
    const id = await addDraft(site);
    const clinician = await site.signIn('clinician');
    const path = `/requests/${id}/withdraw`;
    const body = { reason: 'wrong-patient', text: 'Images of the next patient' };
    const page = (client: Client) => client.get<StudyPage>(`/worklist/${id}`);
    const before = await page(clinician);
    expect(before.requests).toMatchObject([{ mayWithdraw: true, withdrawal: null }]);
    expect(before.withdrawalReasons).toContainEqual({
      code: 'wrong-patient',
      text: 'Wrong patient',
    });
    expect((await operator.call('POST', path, body)).status).toBe(403);
    const row = await done<WorklistRow>(await clinician.call('POST', path, body));
    expect(row.review).toBe('withdrawn');
    const after = await page(clinician);
    expect(after.requests).toMatchObject([
      {
        mayWithdraw: false,
        withdrawal: {
          by: 'Dr clinician',
          reason: 'Wrong patient: Images of the next patient',
          receivers: [],
        },
      },
    ]);
    expect(after.timeline).toContainEqual(
      expect.objectContaining({
        kind: 'changed',
        title: 'Result withdrawn',
        actor: 'Dr clinician',
        detail: 'Wrong patient: Images of the next patient',
      }),
    );
    expect((await auditOf('result.withdraw'))[0]).toMatchObject({
      actor: 'person:Dr clinician',
      detail: { reason: 'wrong-patient' },
    });
    // What a person wrote is not shown to every role.
    const viewer = await site.signIn('viewer');
    expect((await page(viewer)).requests).toMatchObject([
      { withdrawal: { by: null, reason: 'Wrong patient' } },
    ]);
    expect(await clinician.get(`/requests/${id}/review`)).toMatchObject({
      may: { edit: false, sign: false },
    });
    const signing = await clinician.call(
      'POST',
      `/requests/${id}/sign`,
      {},
      { 'If-Match': '"r0"' },
    );
    expect(await signing.json()).toMatchObject({ status: 409, code: 'result_withdrawn' });
  });

  it('is neither a signed nor an unsigned result in the worklist', async () => {
    const id = await addDraft(site);
    const listed = async (signature: string) => {
      const { critical, rows } = await administrator.get<WorklistPage>(
        `/worklist?signature=${signature}`,
      );
      return [...critical, ...rows].some(({ requestId }) => requestId === id);
    };
    expect(await listed('unsigned')).toBe(true);
    const path = `/requests/${id}/withdraw`;
    await done(await administrator.call('POST', path, { reason: 'quality' }));
    expect([await listed('unsigned'), await listed('signed')]).toEqual([false, false]);
  });
});
