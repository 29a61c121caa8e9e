import { request } from 'node:http';
import { join } from 'node:path';
import { WebSocket } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../../../../config/load.ts';
import type { JsonDataSet } from '../../../../../pipelines/dicom/dicom-json.ts';
import { openBlobFolder } from '../../../../../src/core/files/blob-folder.ts';
import { purgeExpired } from '../../../../../src/core/requests/expiry.ts';
import { removeEndedSubscriptions } from '../../../../../src/core/workitems/subscriptions.ts';
import { SonogateError } from '../../../../../src/platform/errors/catalogue.ts';
import { newId } from '../../../../../src/platform/ids.ts';
import { silentLogger } from '../../../../../src/platform/logging/logger.ts';
import { DAY_MS } from '../../../../../src/platform/time.ts';
import { type CallOptions, type Gateway, startGateway } from '../gateway.ts';
import { holdStudy } from './held-study.ts';

const STUDY = '1.2.826.9.1';
const OBJECT = `${STUDY}.1.1`;
const HELD_BACK = '1.2.826.9.2';
const OTHER = '1.2.826.9.3';
const WORKLIST = '1.2.840.10008.5.1.4.34.5';

let gateway: Gateway;
let key: string;
let isFull = false;

const refusals: unknown[] = [];
beforeAll(async () => {
  gateway = await startGateway({
    refusals: { refused: (one) => refusals.push(one) },
    requireRoom: async () => {
      if (isFull) throw new SonogateError('rate_limited');
    },
  });
  key = await gateway.key({ scopes: ['retrieve', 'run'] });
  await holdStudy(gateway.database, STUDY, [OBJECT, `${STUDY}.1.2`]);
  await holdStudy(gateway.database, OTHER, [`${OTHER}.1`], { patientId: 'P-2' });
  await holdStudy(gateway.database, HELD_BACK, [`${HELD_BACK}.1`], { holdReason: 'wait' });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  isFull = false;
});

const sequence = (...Value: object[]) => ({ vr: 'SQ', Value });
const one = (vr: string, value: unknown) => ({ vr, Value: [value] });

/** Returns the data set of a RequestUPS (IHE RAD-80) with the changes in `over`. */
function dataSet(over: Record<string, unknown> = {}): Record<string, unknown> {
  const { study = STUDY, object = OBJECT, ...changed } = over;
  return {
    '00081195': { vr: 'UI' },
    '00404005': one('DT', '20260521101500'),
    '00404018': sequence({
      '00080100': one('SH', 'US-OBSTETRIC'),
      '00080102': one('SH', '99USINT'),
      '00080104': one('LO', 'Interpretation'),
    }),
    '00404021': sequence({
      '0020000D': one('UI', study),
      '0020000E': one('UI', `${study}.1`),
      '00081199': sequence({
        '00081150': one('UI', '1.2.840.10008.5.1.4.1.1.6.1'),
        '00081155': one('UI', object),
      }),
      '0040E020': one('CS', 'DICOM'),
    }),
    '00404041': one('CS', 'READY'),
    '00741000': one('CS', 'SCHEDULED'),
    '00741200': one('CS', 'MEDIUM'),
    '00741202': one('LO', 'AI'),
    '00741204': one('LO', 'Read the anomaly scan'),
    '00100020': one('LO', 'P-1'),
    ...changed,
  };
}

const call = (path: string, options: CallOptions = {}) =>
  gateway.call(`/dicomweb${path}`, {
    key,
    ...options,
    headers: {
      ...(options.body === undefined ? {} : { 'Content-Type': 'application/dicom+json' }),
      ...options.headers,
    },
  });

let made = 0;
function newUid(): string {
  made += 1;
  return `1.2.826.9.100.${made}`;
}

async function create(over: Record<string, unknown> = {}, as = key) {
  const uid = newUid();
  const answer = await call(`/workitems?${uid}`, { body: [dataSet(over)], key: as });
  expect(answer.status, await answer.clone().text()).toBe(201);
  return { uid, id: answer.headers.get('x-sonogate-request') ?? '' };
}

async function retrieve(uid: string): Promise<JsonDataSet> {
  const answer = await call(`/workitems/${uid}`);
  expect(answer.headers.get('content-type')).toContain('application/dicom+json');
  const [found] = (await answer.json()) as JsonDataSet[];
  if (!found) throw new Error('no workitem');
  return found;
}

const search = async (query: string, as = key): Promise<unknown[]> => {
  const answer = await call(`/workitems?${query}`, { key: as });
  if (answer.status === 204) return [];
  const found = (await answer.json()) as JsonDataSet[];
  return found.map((each) => each['00080018']?.Value?.[0]);
};

async function refusal(answer: Response) {
  const { code, errors } = (await answer.json()) as {
    code: string;
    errors?: { pointer: string }[];
  };
  const warning = answer.headers.get('warning')?.replace(/^299 sonogate /, '') ?? '';
  return { status: answer.status, code, pointer: errors?.[0]?.pointer ?? '', warning };
}

const changeState = (uid: string, state: string, transaction = '1.2.3') =>
  call(`/workitems/${uid}/state`, {
    method: 'PUT',
    body: [
      {
        '00741000': one('CS', state),
        ...(transaction && { '00081195': one('UI', transaction) }),
      },
    ],
  });

describe('a workitem', () => {
  it('goes from SCHEDULED to COMPLETED with its request', async () => {
    const { uid, id } = await create();
    const states: unknown[] = [];
    const look = async () => {
      const found = await retrieve(uid);
      states.push(found['00741000']?.Value?.[0]);
      return found;
    };
    expect(await look()).toMatchObject({
      '00080016': one('UI', '1.2.840.10008.5.1.4.34.6.1'),
      '00100010': { vr: 'PN', Value: [{ Alphabetic: 'Example^Eve' }] },
      '0020000D': one('UI', STUDY),
      '00741202': one('LO', 'AI'),
      '00741002': { vr: 'SQ' },
    });
    await gateway.worker.start(id);
    await gateway.worker.stage(id, 'Measuring', 0.5);
    const running = await look();
    expect(running['00741002']).toMatchObject(sequence({ '00741006': one('ST', 'Measuring') }));
    expect(running).not.toHaveProperty('00081195');
    await gateway.worker.succeed(id);
    const [performed] = ((await look())['00741216']?.Value ?? []) as JsonDataSet[];
    expect(performed).toHaveProperty('00404051');
    expect(states).toEqual(['SCHEDULED', 'IN PROGRESS', 'COMPLETED']);
  });

  it('is in progress until its objects are delivered, and lists them until they are withdrawn', async () => {
    const { uid, id } = await create();
    await gateway.worker.start(id);
    await gateway.worker.succeed(id);
    await gateway.database.query(
      `INSERT INTO deliveries (id, request_id, kind, destination, object, give_up_at)
       VALUES ($1, $2, 'dicom', 'pacs', 'sr-tid1500', now() + interval '1 hour')`,
      [`dlv_${id}`, id],
    );
    expect((await retrieve(uid))['00741000']).toEqual(one('CS', 'IN PROGRESS'));
    await gateway.database.query(
      `WITH sent AS (UPDATE deliveries SET state = 'delivered' WHERE id = $1)
       INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid)
       VALUES ($1, 'pacs', '1.2.840.10008.5.1.4.1.1.88.34', '1.2.826.9.9')`,
      [`dlv_${id}`],
    );
    const completed = await retrieve(uid);
    expect(completed['00741000']).toEqual(one('CS', 'COMPLETED'));
    expect(JSON.stringify(completed['00741216'])).toContain('1.2.826.9.9');
    const withdrawn = await gateway.call(`/v1/requests/${id}/withdraw`, {
      key: await gateway.key({ scopes: ['sign'] }),
      body: { reason: 'wrong-patient' },
    });
    expect(withdrawn.status).toBe(200);
    const after = await retrieve(uid);
    expect(after['00741000']).toEqual(one('CS', 'COMPLETED'));
    expect(JSON.stringify(after)).not.toContain('1.2.826.9.9');
    expect(JSON.stringify(after['00741002'])).toContain('The result was withdrawn: Wrong patient');
  });

  it('is canceled with the reason when its request fails', async () => {
    const { uid, id } = await create();
    await gateway.worker.start(id);
    await gateway.worker.reject(id, 'object-0001.dcm cannot be decoded');
    const found = await retrieve(uid);
    expect(found['00741000']).toEqual(one('CS', 'CANCELED'));
    expect(JSON.stringify(found['00741002'])).toContain('no_readable_image');
    expect(JSON.stringify(found)).not.toContain('cannot be decoded');
  });

  it('also represents a request made through the API', async () => {
    const id = await gateway.submit();
    const [uid] = (await search('limit=1')) as string[];
    expect(uid).toMatch(/^2\.25\.\d+$/);
    await gateway.worker.start(id);
    expect((await retrieve(uid ?? ''))['00741000']).toEqual(one('CS', 'IN PROGRESS'));
    expect((await call(`/workitems?${uid}`, { body: dataSet() })).status).toBe(409);
  });

  it('is submitted once, counted and audited', async () => {
    const { uid, id } = await create();
    const again = await refusal(await call(`/workitems?workitem=${uid}`, { body: dataSet() }));
    expect(again).toMatchObject({ status: 409, code: 'workitem_exists' });
    isFull = true;
    const full = await call(`/workitems?${newUid()}`, { body: dataSet() });
    expect(full.status).toBe(429);
    const { rows } = await gateway.database.query(
      `SELECT action, status FROM audit WHERE request_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ action: 'request.submit', status: 201 }]);
  });

  it('that is sent twice simultaneously is created once', async () => {
    const uid = newUid();
    const answers = await Promise.all(
      [1, 2, 3].map(() => call(`/workitems?${uid}`, { body: dataSet() })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(await search(`SOPInstanceUID=${uid}`)).toEqual([uid]);
  });

  it('that is sent simultaneously for two studies belongs to one of them', async () => {
    const uid = newUid();
    const bodies = [{}, { study: OTHER, object: `${OTHER}.1`, '00100020': one('LO', 'P-2') }];
    const answers = await Promise.all(
      bodies.map((over) => call(`/workitems?${uid}`, { body: dataSet(over) })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const { rows } = await gateway.database.query(
      `SELECT made.study_id = (r.source ->> 'study')::uuid AS own
       FROM requests r JOIN study_requests made ON made.request_id = r.id WHERE r.workitem_uid = $1`,
      [uid],
    );
    expect(rows).toEqual([{ own: true }]);
  });

  it('keeps its UID if a process of an earlier version created it during an upgrade', async () => {
    const { id } = await create();
    const uid = newUid();
    await gateway.database.query(
      `INSERT INTO requests (id, account_id, model, endpoint, version, status, stage, priority, test,
         input, files, prior_files, metadata, source, cost, deliver_to, created_at, unique_key)
       SELECT $2, account_id, model, endpoint, version, status, stage, priority, test,
         input, files, prior_files, metadata, source, cost, deliver_to, created_at, $3
       FROM requests WHERE id = $1`,
      [id, newId('req'), `workitem:${uid}`],
    );
    expect(await search(`SOPInstanceUID=${uid}`)).toEqual([uid]);
  });

  it('whose create request was interrupted is completed by repeating it', async () => {
    const { uid, id } = await create();
    for (const table of ['workitems', 'study_requests']) {
      await gateway.database.query(`DELETE FROM ${table} WHERE request_id = $1`, [id]);
    }
    const other = { study: OTHER, object: `${OTHER}.1`, '00100020': one('LO', 'P-2') };
    expect((await call(`/workitems?${uid}`, { body: dataSet(other) })).status).toBe(409);
    const answer = await call(`/workitems?${uid}`, { body: dataSet() });
    expect([answer.status, answer.headers.get('x-sonogate-request')]).toEqual([201, id]);
    expect(await retrieve(uid)).toMatchObject({ '00741202': one('LO', 'AI') });
    const { rows } = await gateway.database.query(
      'SELECT study_instance_uid FROM study_requests JOIN studies ON id = study_id WHERE request_id = $1',
      [id],
    );
    expect(rows).toEqual([{ study_instance_uid: STUDY }]);
    expect((await call(`/workitems?${uid}`, { body: dataSet() })).status).toBe(409);
  });
});

describe('a workitem that ended', () => {
  const later = (days: number) => new Date(Date.now() + days * DAY_MS);

  it('keeps nothing from its creator except its UID once its request is purged', async () => {
    const { uid, id } = await create();
    const reason = { '00741238': one('LT', 'Ordered by mistake') };
    await call(`/workitems/${uid}/cancelrequest`, { body: [reason] });
    const { dataDir, database } = gateway;
    await purgeExpired({
      database,
      blobs: openBlobFolder(join(dataDir, 'files')),
      config: { dataDir, retention: loadConfig({}, { dataDir }).retention },
      logger: silentLogger,
      now: () => later(400),
    });
    const purged = JSON.stringify(await retrieve(uid));
    expect(purged).not.toMatch(/anomaly scan|by mistake/);
    expect((await call(`/workitems?${uid}`, { body: dataSet() })).status).toBe(409);
    const { rows } = await gateway.database.query(
      'SELECT attributes, cancellation FROM workitems WHERE request_id = $1',
      [id],
    );
    expect(rows).toEqual([{ attributes: {}, cancellation: null }]);
  });

  it('loses its subscriptions a week later', async () => {
    const [ended, open] = [await create(), await create()];
    for (const uid of [ended.uid, open.uid, WORKLIST]) {
      await call(`/workitems/${uid}/subscribers/WEEKLY`, { method: 'POST' });
    }
    await call(`/workitems/${ended.uid}/cancelrequest`, { method: 'POST' });
    const targets = async (days: number) => {
      await removeEndedSubscriptions(gateway.database, later(days));
      const { rows } = await gateway.database.query<{ target: string }>(
        `SELECT target FROM workitem_subscriptions WHERE ae_title = 'WEEKLY'`,
      );
      return rows.map(({ target }) => target).sort();
    };
    expect(await targets(6)).toEqual([ended.uid, open.uid, WORKLIST].sort());
    expect(await targets(8)).toEqual([open.uid, WORKLIST].sort());
  });
});

describe('a create request is refused', () => {
  it.each([
    ['without a state', { '00741000': { vr: 'CS' } }, '/00741000'],
    ['that is in progress', { '00741000': one('CS', 'IN PROGRESS') }, '/00741000'],
    ['without a priority', { '00741200': one('CS', 'STAT') }, '/00741200'],
    ['without a label', { '00741204': { vr: 'LO' } }, '/00741204'],
    ['without a start', { '00404005': one('DT', '20260231') }, '/00404005'],
    ['whose input is not ready', { '00404041': one('CS', 'INCOMPLETE') }, '/00404041'],
    ['with a Transaction UID', { '00081195': one('UI', '1.2') }, '/00081195'],
    ['with parameters', { '00741210': sequence({}) }, '/00741210'],
    ['for another endpoint', { '00404018': sequence() }, '/00404018'],
    ['for a study that is not held', { study: '1.2.3' }, '/00404021'],
    ['for an object that is not held', { object: '1.2.3' }, '/00404021'],
    ['for another patient', { '00100020': one('LO', 'P-2') }, '/00100020'],
    ['for another date of birth', { '00100030': one('DA', '19900102') }, '/00100030'],
    ['with another study', { '0020000D': one('UI', '1.2.3') }, '/0020000D'],
    ['to a destination that is not configured', { '00404070': sequence({}) }, '/00404070'],
    ['with bulk data', { '00100010': { vr: 'PN', BulkDataURI: 'http://x' } }, '/00100010'],
    ['with a name that is not a tag', { Patient: one('PN', 'x') }, '/Patient'],
  ])('%s', async (_, over, pointer) => {
    const answer = await call('/workitems', { body: dataSet(over) });
    expect(await refusal(answer)).toMatchObject({ status: 400, code: 'invalid_workitem', pointer });
  });

  it.each(['1.2.x', 'workitem=1.2.x', `1.${'2'.repeat(64)}`])('under the UID %s', async (query) => {
    const answer = await call(`/workitems?${query}`, { body: dataSet({}) });
    expect(await refusal(answer)).toMatchObject({ status: 400, pointer: '/00080018' });
  });

  it('for a study that is held for a person', async () => {
    const body = dataSet({ study: HELD_BACK, object: `${HELD_BACK}.1` });
    expect((await refusal(await call('/workitems', { body }))).code).toBe('workitem_conflict');
  });

  it('that is not JSON, has another type, or is too large', async () => {
    const send = (body: string, type = 'application/dicom+json') =>
      fetch(`${gateway.url}/dicomweb/workitems`, {
        method: 'POST',
        body,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': type },
      });
    expect((await send('{')).status).toBe(400);
    expect((await send('[]')).status).toBe(400);
    expect((await send('{}', 'application/dicom+xml')).status).toBe(415);
    expect((await send(JSON.stringify({ a: 'x'.repeat(20_000) }))).status).toBe(413);
  });
});

describe('a client cannot', () => {
  const UPS = 'The submitted request is inconsistent with the state of the UPS Instance.';
  const WORKITEM = 'The submitted request is inconsistent with the current state of the Workitem.';

  it('claim or end a step', async () => {
    const { uid, id } = await create();
    const outcome = async (state: string, transaction?: string) => {
      const { status, warning } = await refusal(await changeState(uid, state, transaction));
      return [status, warning.replaceAll('"', '')];
    };
    expect(await outcome('IN PROGRESS')).toEqual([409, UPS]);
    expect(await outcome('COMPLETED')).toEqual([409, UPS]);
    expect(await outcome('IN PROGRESS', '')).toEqual([400, 'The Transaction UID is missing.']);
    expect(await outcome('SCHEDULED')).toEqual([400, '']);
    await gateway.worker.start(id);
    expect(await outcome('IN PROGRESS')).toEqual([409, UPS]);
    expect(await outcome('CANCELED')).toEqual([400, 'The Transaction UID is incorrect.']);
    await gateway.worker.succeed(id);
    expect(await outcome('CANCELED')).toEqual([409, UPS]);
    const already = await changeState(uid, 'COMPLETED');
    expect(already.status).toBe(200);
    expect(already.headers.get('warning')).toContain('requested state of COMPLETED');
  });

  it('update a step that has begun', async () => {
    const { uid, id } = await create();
    const update = (body: object, query = '') =>
      call(`/workitems/${uid}${query}`, { method: 'POST', body });
    const label = { '00741204': one('LO', 'Read it first'), '00741200': one('CS', 'HIGH') };
    const updated = await update(label);
    expect(updated.status).toBe(200);
    expect(updated.headers.get('warning')).toContain('optional Attributes are not supported');
    expect(await retrieve(uid)).toMatchObject({
      '00741204': one('LO', 'Read it first'),
      '00741200': one('CS', 'MEDIUM'),
    });
    expect((await refusal(await update(label, '?transaction-uid=1.2'))).status).toBe(409);
    const other = await refusal(await update({ '00100020': one('LO', 'P-2') }));
    expect(other).toMatchObject({ status: 400, pointer: '/00100020' });
    await gateway.worker.start(id);
    expect(await refusal(await update(label))).toMatchObject({
      status: 400,
      warning: `"${WORKITEM}"`,
    });
  });

  it('cancel a completed step, or cancel twice', async () => {
    const first = await create();
    const cancel = (uid: string) =>
      call(`/workitems/${uid}/cancelrequest`, {
        body: [{ '00741238': one('LT', 'Ordered by mistake') }],
      });
    expect((await cancel(first.uid)).status).toBe(202);
    const again = await cancel(first.uid);
    expect([again.status, again.headers.get('warning')]).toEqual([
      202,
      expect.stringContaining('requested state of CANCELED'),
    ]);
    expect(JSON.stringify((await retrieve(first.uid))['00741002'])).toContain('Ordered by mistake');
    const second = await create();
    await gateway.worker.start(second.id);
    await gateway.worker.succeed(second.id);
    expect((await refusal(await cancel(second.uid))).status).toBe(409);
    expect((await cancel('1.2.3')).status).toBe(404);
  });
});

describe('a search', () => {
  it('matches states, codes, patients and times', async () => {
    const { uid } = await create({ '00741204': one('LO', 'Found by search') });
    const label = 'ProcedureStepLabel=Found*';
    for (const query of [
      label,
      `${label}&ProcedureStepState=SCHEDULED`,
      `${label}&00404018.00080100=US-OBSTETRIC`,
      `${label}&PatientName=exam*&PatientBirthDate=19890101-`,
      `${label}&ScheduledProcedureStepStartDateTime=2026-`,
      `${label}&ScheduledProcedureStepStartDateTime=20260521`,
      `${label}&ScheduledProcedureStepStartDateTime=20260520-0500-20260522-0500`,
      `${label}&ScheduledProcedureStepStartDateTime=20260520-0500-`,
      `${label}&SOPInstanceUID=&ScheduledProcedureStepStartDateTime=`,
      `SOPInstanceUID=${uid},1.2.3`,
    ]) {
      expect(await search(query), query).toEqual([uid]);
    }
    for (const query of [
      `${label}&ProcedureStepState=COMPLETED`,
      `${label}&PatientID=P-2`,
      `${label}&ScheduledProcedureStepStartDateTime=-20260520`,
      `${label}&ScheduledProcedureStepStartDateTime=-20260519-0500`,
      `${label}&ScheduledProcedureStepStartDateTime=202605200000-0500`,
    ]) {
      expect(await search(query), query).toEqual([]);
    }
  });

  it('finds and shows the patient as recorded for the study', async () => {
    const { uid } = await create({ '00100010': one('PN', { Alphabetic: 'Stated^Sue' }) });
    expect(await search(`SOPInstanceUID=${uid}&PatientName=Stated*`)).toEqual([]);
    expect(await search(`SOPInstanceUID=${uid}&PatientName=Example*`)).toEqual([uid]);
    expect((await retrieve(uid))['00100010']).toEqual(one('PN', { Alphabetic: 'Example^Eve' }));
  });

  it.each([
    ['Rows=1'],
    ['ScheduledProcedureStepStartDateTime=today'],
    ['limit=x'],
    ['PatientSex=F&PatientSex=M'],
  ])('refuses %s', async (query) => {
    expect((await call(`/workitems?${query}`)).status).toBe(400);
  });
});

describe('workitems are hidden', () => {
  it('from other accounts, and live ones from test keys', async () => {
    const { uid } = await create();
    const scopes = ['retrieve', 'run'] as const;
    for (const other of [
      await gateway.key({ accountId: 'other', scopes }),
      await gateway.key({ test: true, scopes }),
    ]) {
      expect((await call(`/workitems/${uid}`, { key: other })).status).toBe(404);
      expect(await search(`SOPInstanceUID=${uid}`, other)).toEqual([]);
      expect((await call(`/workitems?${uid}`, { key: other, body: dataSet() })).status).toBe(409);
      const subscribe = { key: other, method: 'POST' };
      expect((await call(`/workitems/${uid}/subscribers/AE`, subscribe)).status).toBe(404);
    }
    const stranger = await gateway.key({ accountId: 'other', scopes });
    const answer = await call('/workitems', { key: stranger, body: dataSet() });
    expect((await refusal(answer)).pointer).toBe('/00404021');
  });

  it('from test keys together with the identity, because test requests belong to no study', async () => {
    const test = await gateway.key({ test: true, scopes: ['retrieve', 'run'] });
    // A study that does not exist here and a study of another patient get the same response.
    await create({ study: '1.2.3', object: '1.2.3.1', '00100020': one('LO', 'P-2') }, test);
    const { uid, id } = await create({ '00100020': { vr: 'LO' } }, test);
    expect(await search(`SOPInstanceUID=${uid}`)).toEqual([]);
    const shown = await (await call(`/workitems/${uid}`, { key: test })).text();
    expect(shown).not.toContain('Example^Eve');
    expect(shown).not.toContain('P-1');
    const { rows } = await gateway.database.query('SELECT source FROM requests WHERE id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ source: { kind: 'api' } }]);
  });

  it('from keys without the scopes', async () => {
    const reader = await gateway.key({ scopes: ['retrieve'] });
    refusals.length = 0;
    expect((await call('/workitems', { key: reader, body: dataSet() })).status).toBe(403);
    expect(refusals).toMatchObject([{ action: 'permission.refused', detail: { scope: 'run' } }]);
    const runner = await gateway.key({ scopes: ['run', 'read'] });
    expect((await call('/workitems', { key: runner })).status).toBe(403);
    expect((await call('/workitems', { key: null })).status).toBe(401);
  });
});

describe('the event channel', () => {
  const opened: WebSocket[] = [];
  afterAll(() => {
    for (const socket of opened) socket.close();
  });

  /** Opens a channel and records the arriving reports as `[UID, event type, state]`. */
  async function open(aeTitle: string, as = key, headers: Record<string, string> = {}) {
    const address = `${gateway.url.replace('http', 'ws')}/dicomweb/subscribers/${aeTitle}`;
    const socket = new WebSocket(address, {
      headers: { Authorization: `Bearer ${as}`, ...headers },
    });
    opened.push(socket);
    const reports: unknown[][] = [];
    socket.addEventListener('message', ({ data }) => {
      const report = JSON.parse(String(data)) as JsonDataSet;
      const value = (tag: string) => report[tag]?.Value?.[0];
      reports.push([value('00001000'), value('00001002'), value('00741000')]);
    });
    const isOpen = await new Promise<boolean>((done) => {
      socket.addEventListener('open', () => done(true));
      socket.addEventListener('error', () => done(false));
    });
    return { socket, reports, isOpen };
  }
  const patience = { timeout: 60_000, interval: 50 };

  it('reports every state of the workitems of a subscribed worklist', async () => {
    const { reports } = await open('PACS');
    const subscribed = await call(`/workitems/${WORKLIST}/subscribers/PACS`, { method: 'POST' });
    expect(subscribed.status).toBe(201);
    expect(subscribed.headers.get('content-location')).toMatch(/^ws:.*\/subscribers\/PACS$/);
    const { uid, id } = await create();
    await gateway.worker.start(id);
    await gateway.worker.stage(id, 'Measuring', 0.5);
    await gateway.worker.succeed(id);
    const own = () => reports.filter(([about]) => about === uid);
    await vi.waitFor(() => {
      const states = own()
        .filter(([, type]) => type === 1)
        .map(([, , state]) => state);
      expect(states).toEqual(['SCHEDULED', 'IN PROGRESS', 'COMPLETED']);
    }, patience);
    expect(own()).toContainEqual([uid, 3, undefined]);

    const canceled = await create();
    await call(`/workitems/${canceled.uid}/cancelrequest`, { method: 'POST' });
    await vi.waitFor(() => {
      const about = reports.filter(([affected]) => affected === canceled.uid);
      expect(about).toContainEqual([canceled.uid, 2, undefined]);
      expect(about.at(-1)).toEqual([canceled.uid, 1, 'CANCELED']);
    }, patience);
  });

  it('reports one workitem to its subscriber, starting with its current state', async () => {
    const { uid } = await create();
    const { reports } = await open('WATCH');
    const subscriber = `/workitems/${uid}/subscribers/WATCH`;
    await call(subscriber, { method: 'POST' });
    await vi.waitFor(() => expect(reports).toEqual([[uid, 1, 'SCHEDULED']]), patience);
    const quiet = await create();
    await call(`/workitems/${uid}/cancelrequest`, { method: 'POST' });
    await vi.waitFor(() => expect(reports.at(-1)).toEqual([uid, 1, 'CANCELED']), patience);
    expect(reports.map(([about]) => about)).not.toContain(quiet.uid);
    expect((await call(subscriber, { method: 'DELETE' })).status).toBe(200);
    expect((await call(subscriber, { method: 'DELETE' })).status).toBe(404);
  });

  it('reports the state of a step that makes progress while it is subscribed', async () => {
    const { uid, id } = await create();
    await gateway.worker.start(id);
    const { reports } = await open('BUSY');
    const early = await open('EARLY');
    await call(`/workitems/${uid}/subscribers/EARLY`, { method: 'POST' });
    await vi.waitFor(() => expect(early.reports.at(-1)).toEqual([uid, 1, 'IN PROGRESS']), patience);
    await call(`/workitems/${uid}/subscribers/BUSY`, { method: 'POST' });
    await vi.waitFor(
      async () => {
        await gateway.worker.stage(id, `Measuring ${reports.length} ${Date.now()}`, 0.5);
        expect(reports).toContainEqual([uid, 3, undefined]);
      },
      { timeout: 60_000, interval: 20 },
    );
    await vi.waitFor(() => expect(reports).toContainEqual([uid, 1, 'IN PROGRESS']), {
      timeout: 5000,
    });
  });

  it('reports after a suspension only the workitems that were already subscribed', async () => {
    const worklist = `/workitems/${WORKLIST}/subscribers/S`;
    expect((await call(`${worklist}/suspend`, { method: 'POST' })).status).toBe(404);
    await call(worklist, { method: 'POST' });
    const before = await create();
    expect((await call(`${worklist}/suspend`, { method: 'POST' })).status).toBe(200);
    const { reports } = await open('S');
    const after = await create();
    for (const { uid } of [after, before]) {
      await call(`/workitems/${uid}/cancelrequest`, { method: 'POST' });
    }
    await vi.waitFor(() => expect(reports.at(-1)).toEqual([before.uid, 1, 'CANCELED']), patience);
    expect(reports.map(([about]) => about)).not.toContain(after.uid);
    const filtered = `/workitems/${WORKLIST}.1/subscribers/S?filter=PatientID=P-1`;
    expect((await refusal(await call(filtered, { method: 'POST' }))).warning).toContain('Filtered');
  });

  it("accepts keys with the scope, refuses other sites' pages, and reports nothing from other accounts", async () => {
    expect((await open('A', await gateway.key({ scopes: ['run'] }))).isOpen).toBe(false);
    expect((await open('A', 'sg_live_wrong')).isOpen).toBe(false);
    expect((await open('A', key, { Origin: 'https://evil.example' })).isOpen).toBe(false);
    const stranger = await gateway.key({ accountId: 'other', scopes: ['retrieve'] });
    const theirs = await open('PACS', stranger);
    await call(`/workitems/${WORKLIST}/subscribers/PACS`, { key: stranger, method: 'POST' });
    const ours = await open('PACS');
    const test = await gateway.key({ test: true, scopes: ['retrieve', 'run'] });
    const mock = await create({}, test);
    const { uid } = await create();
    await vi.waitFor(() => expect(ours.reports.flat()).toContain(uid), patience);
    expect(ours.reports.flat()).not.toContain(mock.uid);
    expect(theirs.reports).toEqual([]);
  });

  it('closes when a client sends more than it may', async () => {
    const { socket } = await open('LOUD');
    const closed = new Promise<number>((done) => {
      socket.addEventListener('close', ({ code }) => done(code));
    });
    socket.send('x'.repeat(5000));
    expect(await closed).toBe(1009);
  });

  it('accepts only WebSockets; other upgrades are ordinary requests', async () => {
    expect((await call('/subscribers/PACS')).status).toBe(426);
    const status = await new Promise<number | undefined>((done, fail) => {
      const headers = {
        Authorization: `Bearer ${key}`,
        Connection: 'Upgrade, HTTP2-Settings',
        Upgrade: 'h2c',
        'HTTP2-Settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
      };
      request(`${gateway.url}/dicomweb/workitems?limit=1`, { headers }, (answer) => {
        answer.resume();
        done(answer.statusCode);
      })
        .on('error', fail)
        .end();
    });
    expect(status).toBe(200);
  });
});
