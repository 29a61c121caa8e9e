import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { interpretReviewed } from '../../../../pipelines/obstetric/review.ts';
import type { Measurement, Result } from '../../../../pipelines/result/envelope.ts';
import { evidenceText } from '../../../../pipelines/run/stored-evidence.ts';
import { describeFile } from '../../../../src/core/requests/results.ts';
import type { ReviewObject } from '../../../../src/core/reviews/reviews.ts';
import { resultSignatures } from '../../../../src/core/studies/signed-results.ts';
import { femur, MEDIAN_28_WEEKS } from '../../../pipelines/obstetric/evidence-sample.ts';
import { reviewedStudy } from '../../../pipelines/obstetric/reviewed-study.ts';
import { type CallOptions, type Gateway, startGateway } from './gateway.ts';

const DRAWN_AT = new Date('2026-01-01T00:00:00Z');

/** Simulates a process that ends after the signature but before its deliveries. */
const STOP_AT_DELIVERY = [
  `CREATE FUNCTION stop_at_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'stopped'; END $$`,
  `CREATE TRIGGER stop_at_delivery BEFORE INSERT ON deliveries
    FOR EACH ROW EXECUTE FUNCTION stop_at_delivery()`,
] as const;

let gateway: Gateway;
let reader: string;

beforeAll(async () => {
  gateway = await startGateway();
  reader = await gateway.key({ name: 'Dr Ada Reader', scopes: ['read', 'review', 'sign'] });
});
afterAll(() => gateway.stop());

async function finished(reviewed = reviewedStudy(), at = gateway): Promise<string> {
  const id = await at.submit();
  await at.worker.start(id);
  const result = interpretReviewed(reviewed, [], DRAWN_AT);
  await at.worker.succeed(id, { 'evidence.json': evidenceText(reviewed) }, result);
  return id;
}

const call = (id: string, options: CallOptions & { path?: string } = {}) =>
  gateway.call(`/v1/requests/${id}/${options.path ?? 'review'}`, { key: reader, ...options });

const body = async (answer: Response) => (await answer.json()) as ReviewObject;

async function change(id: string, changes: unknown, etag = '"r0"', extra = {}) {
  const headers = { 'If-Match': etag };
  return call(id, { method: 'PATCH', headers, body: { changes, ...extra }, ...extra });
}

function named(result: Result, id: string): Measurement {
  const found = result.measurements.find((one) => one.id === id);
  if (!found) throw new Error(`no ${id}`);
  return found;
}

describe('a review', () => {
  it("begins as a draft, together with the AI's values", async () => {
    const id = await finished();
    const answer = await call(id);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('ETag')).toBe('"r0"');
    const review = await body(answer);
    expect(review).toMatchObject({ state: 'draft', revision: 0, changes: [], readers: [] });
    expect(review.may).toEqual({ edit: true, sign: true });
    expect(review.original.fl?.value).toBeCloseTo(51.3, 1);
  });

  it("updates EFW, centile and report after a typed femur, and keeps the AI's measurement", async () => {
    const id = await finished();
    const before = await body(await call(id));
    const changes = [{ kind: 'set-value', measurement: 'fl', value: 40 }];
    const answer = await change(id, changes);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('ETag')).toBe('"r1"');
    const after = await body(answer);
    expect(after.state).toBe('in-review');
    expect(named(after.result, 'fl')).toMatchObject({
      value: 40,
      origin: 'person',
      confirmed: 'entered',
      standing: 'counts',
    });
    expect(named(after.result, 'efw').value).toBeLessThan(named(before.result, 'efw').value);
    expect(named(after.result, 'fl').reference?.centile).toBeLessThan(
      named(before.result, 'fl').reference?.centile ?? 0,
    );
    expect(after.result.report?.impression).not.toEqual(before.result.report?.impression);
    expect(after.original.fl?.value).toBeCloseTo(51.3, 1);
    expect(after.changes).toMatchObject([
      {
        id: 1,
        author: 'Dr Ada Reader',
        kind: 'set-value',
        before: { quality: 'accepted', unit: 'mm' },
        after: { value: 40 },
        undone: false,
      },
    ]);
  });

  it('returns to the draft when the only change is undone, and to the change when the undo is undone', async () => {
    const id = await finished();
    const draft = await body(await call(id));
    await change(id, [{ kind: 'set-value', measurement: 'fl', value: 40 }]);
    const undone = await body(await change(id, [{ kind: 'undo', change: 1 }], '"r1"'));
    expect(undone.result.measurements).toEqual(draft.result.measurements);
    expect(undone.changes.map((one) => one.undone)).toEqual([true, false]);
    const again = await body(await change(id, [{ kind: 'undo', change: 2 }], '"r2"'));
    expect(named(again.result, 'fl').value).toBe(40);
  });

  it('refuses to type a calculated value while its inputs need review', async () => {
    const id = await finished(reviewedStudy('real'));
    const typed = { kind: 'set-value', measurement: 'efw', value: 1200 };
    const refused = await change(id, [typed]);
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      errors: [{ pointer: '/changes/0/measurement', detail: expect.stringContaining('accept') }],
    });
    const inputs = ['hc', 'ac', 'fl'].map((measurement) => ({ kind: 'accept', measurement }));
    const { result } = await body(await change(id, [...inputs, typed]));
    expect(named(result, 'efw')).toMatchObject({ value: 1200, standing: 'counts' });
  });

  it('counts a value under review once it is accepted, and updates the impression', async () => {
    const id = await finished(reviewedStudy('real'));
    const draft = (await body(await call(id))).result;
    expect(named(draft, 'fl')).toMatchObject({ quality: 'review', standing: 'proposed' });
    expect(draft.report?.impression.join(' ')).not.toMatch(/FL|femur/i);
    const keys = ['hc', 'ac', 'fl'];
    const changes = keys.map((measurement) => ({ kind: 'accept', measurement }));
    const { result } = await body(await change(id, changes));
    for (const key of keys) {
      expect(named(result, key)).toMatchObject({
        quality: 'accepted',
        standing: 'counts',
        confirmed: 'accepted',
      });
    }
    expect(named(result, 'efw')).toMatchObject({ quality: 'accepted', standing: 'counts' });
    expect(result.report?.impression).not.toEqual(draft.report?.impression);
    expect(result.report?.impression.join(' ')).toMatch(/EFW/);
  });

  it('counts the repeat that a person chose', async () => {
    const [ofHead, ofAbdomen, ofFemur] = MEDIAN_28_WEEKS();
    if (!ofHead || !ofAbdomen || !ofFemur) throw new Error('three readings');
    const id = await finished(
      reviewedStudy('simulated', [ofHead, ofAbdomen, ofFemur, femur(48), femur(49)]),
    );
    const draft = (await body(await call(id))).result;
    const counted = ({ measurements }: Result) =>
      measurements.find(({ concept, standing }) => concept.key === 'fl' && standing === 'counts');
    const chosen = draft.measurements.find(
      ({ concept, value }) => concept.key === 'fl' && Math.abs(value - 48) < 0.01,
    );
    expect(counted(draft)?.value).not.toBeCloseTo(48, 1);
    const changes = [{ kind: 'choose-repeat', measurement: chosen?.id }];
    const { result } = await body(await change(id, changes));
    expect(counted(result)?.value).toBeCloseTo(48, 1);
    expect(named(result, 'efw').value).not.toBe(named(draft, 'efw').value);
  });

  it('measures nothing on a frame that a person assigned to another plane', async () => {
    const reviewed = reviewedStudy();
    const reading = reviewed.given.readings.find(({ structure }) => structure === 'abdomen');
    if (!reading) throw new Error('no abdomen');
    const id = await finished(reviewed);
    const where = { file: reading.clip.file, frame: reading.frame.index + 1 };
    const named = (plane: string) => [{ kind: 'name-plane', ...where, plane }];
    const { result } = await body(await change(id, named('thorax')));
    expect(result.measurements.filter(({ concept }) => concept.key === 'ac')).toEqual([]);
    const { result: again } = await body(await change(id, named('abdominal'), '"r1"'));
    expect(again.measurements.find(({ concept }) => concept.key === 'ac')?.standing).toBe('counts');
  });

  it('accepts only one of two simultaneous changes to the same revision', async () => {
    const id = await finished();
    const values = [40, 44];
    const answers = await Promise.all(
      values.map((value) => change(id, [{ kind: 'set-value', measurement: 'fl', value }])),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412]);
    const taken = values[answers.findIndex(({ status }) => status === 200)];
    const { result, changes } = await body(await call(id));
    expect(changes).toHaveLength(1);
    expect(named(result, 'fl').value).toBe(taken);
  });

  it('withholds what depends on a rejected value', async () => {
    const id = await finished();
    const { result } = await body(await change(id, [{ kind: 'reject', measurement: 'ac' }]));
    expect(result.measurements.find((one) => one.id === 'efw')).toBeUndefined();
    expect(result.measurements.filter((one) => one.concept.key === 'ac')).toMatchObject([
      { quality: 'inadequate', standing: 'withheld' },
    ]);
  });

  it('measures a moved femur with the scale of its frame', async () => {
    const id = await finished();
    const points = [
      [200, 300],
      [300, 300],
    ];
    const { result } = await body(
      await change(id, [{ kind: 'move-calipers', measurement: 'fl', points }]),
    );
    expect(named(result, 'fl')).toMatchObject({ value: 40, confirmed: 'edited' });
    expect(named(result, 'fl').source.calipers).toEqual([{ type: 'line', points }]);
  });

  it("updates BPD and OFD with the head's ellipse", async () => {
    const id = await finished();
    const axes = [
      [300, 300],
      [500, 300],
      [400, 220],
      [400, 380],
    ];
    const { result } = await body(
      await change(id, [{ kind: 'move-calipers', measurement: 'hc', points: axes }]),
    );
    expect(named(result, 'ofd').value).toBeCloseTo(80, 6);
    expect(named(result, 'bpd').value).toBeCloseTo(64, 6);
    expect(named(result, 'hc').value).toBeCloseTo(226.9, 0);
  });

  it("puts the reader's line at the end of the impression", async () => {
    const id = await finished();
    const { result } = await body(
      await change(id, [{ kind: 'note', text: 'Repeat in two weeks.' }]),
    );
    expect(result.report?.impression.at(-1)).toBe('Repeat in two weeks.');
  });

  it.each([
    ['an unknown measurement', { kind: 'accept', measurement: 'no' }, '/changes/0/measurement'],
    [
      'a femur of a metre',
      { kind: 'set-value', measurement: 'fl', value: 1000 },
      '/changes/0/value',
    ],
    [
      'a caliper outside of the frame',
      {
        kind: 'move-calipers',
        measurement: 'fl',
        points: [
          [0, 0],
          [9000, 0],
        ],
      },
      '/changes/0/points/1',
    ],
    [
      'an unknown plane',
      { kind: 'name-plane', file: 'x', frame: 1, plane: 'moon' },
      '/changes/0/plane',
    ],
    ['an undo of nothing', { kind: 'undo', change: 7 }, '/changes/0/change'],
    ['a date in a note', { kind: 'note', text: 'Seen on 2026-01-02.' }, '/changes/0/text'],
  ])('refuses %s with a pointer to it, and changes nothing', async (_, bad, pointer) => {
    const id = await finished();
    const answer = await change(id, [bad]);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ errors: [{ pointer }] });
    expect(await body(await call(id))).toMatchObject({ revision: 0, changes: [] });
  });

  it('refuses the second of two readers who changed the same revision', async () => {
    const id = await finished();
    const changes = [{ kind: 'reject', measurement: 'fl' }];
    expect((await change(id, changes)).status).toBe(200);
    const answer = await change(id, changes);
    expect(answer.status).toBe(412);
    expect(await answer.json()).toMatchObject({ code: 'stale_review' });
  });

  it('requires the revision that was read', async () => {
    const id = await finished();
    const changes = [{ kind: 'reject', measurement: 'fl' }];
    expect((await call(id, { method: 'PATCH', body: { changes } })).status).toBe(428);
  });

  it('is read, changed and signed with three different scopes', async () => {
    const id = await finished();
    const changes = [{ kind: 'reject', measurement: 'fl' }];
    const viewer = await gateway.key({ scopes: ['read'] });
    const editor = await gateway.key({ scopes: ['read', 'review'] });
    const admin = await gateway.key({ scopes: ['admin'] });
    const headers = { 'If-Match': '"r0"' };
    expect((await call(id, { key: viewer })).status).toBe(200);
    expect((await change(id, changes, '"r0"', { key: viewer })).status).toBe(403);
    for (const key of [viewer, editor, admin]) {
      expect((await call(id, { path: 'sign', key, headers, body: {} })).status).toBe(403);
    }
  });

  it('is unavailable for a request without evidence', async () => {
    const id = await gateway.submit();
    expect(await (await call(id)).json()).toMatchObject({ code: 'review_unavailable' });
  });

  it('hides a live request from a test key', async () => {
    const id = await finished();
    const key = await gateway.key({ test: true, scopes: ['read', 'review', 'sign'] });
    const headers = { 'If-Match': '"r0"' };
    expect((await call(id, { path: 'sign', key, headers, body: {} })).status).toBe(404);
  });
});

describe('a signature', () => {
  const headers = (etag: string) => ({ 'If-Match': etag });

  it('creates a new revision of the result, which becomes the output', async () => {
    const id = await finished();
    const drafted = await body(
      await change(id, [{ kind: 'set-value', measurement: 'fl', value: 40 }]),
    );
    const answer = await call(id, { path: 'sign', headers: headers('"r1"'), body: {} });
    expect(answer.status).toBe(200);
    const review = await body(answer);
    expect(review).toMatchObject({ state: 'signed', signed_revision: 1, revision: 2 });
    expect(review.signatures).toMatchObject([{ observer: 'Dr Ada Reader' }]);
    const request = (await (await gateway.call(`/v1/requests/${id}`)).json()) as { output: Result };
    expect(request.output).toMatchObject({
      draft: false,
      verification: { kind: 'verified', revision: 1 },
    });
    expect(named(request.output, 'fl').value).toBe(40);
    // A signed report does not say that it is a draft, and the review shows it as it was signed.
    expect(drafted.result.report?.limitations.join()).toContain('to be verified by the reporting');
    expect(review.result).toEqual(request.output);
    expect(request.output.report?.limitations.join()).not.toContain('to be verified');
    expect(drafted.result.report?.title).toContain('draft report');
    expect(request.output.report?.title).not.toContain('draft');
    const listed = (await (await gateway.call(`/v1/requests/${id}/artifacts`)).json()) as {
      data: { name: string }[];
    };
    const names = listed.data.map(({ name }) => name);
    expect(names).toContain('report-signed-1.pdf');
    expect(names).toContain('sr-tid1500-signed-1.dcm');
    expect(names).not.toContain('evidence.json');
  });

  it('applies to the revision that was read', async () => {
    const id = await finished();
    await change(id, [{ kind: 'reject', measurement: 'fl' }]);
    expect((await call(id, { path: 'sign', headers: headers('"r0"'), body: {} })).status).toBe(412);
  });

  it('closes the review until somebody amends it', async () => {
    const id = await finished();
    await call(id, { path: 'sign', headers: headers('"r0"'), body: {} });
    const changes = [{ kind: 'reject', measurement: 'fl' }];
    expect((await change(id, changes, '"r1"')).status).toBe(409);
    expect((await call(id, { path: 'sign', headers: headers('"r1"'), body: {} })).status).toBe(409);
    const amending = await body(await change(id, changes, '"r1"', { amend: true }));
    expect(amending).toMatchObject({ state: 'in-review', signed_revision: 1 });
    const signed = await call(id, { path: 'sign', headers: headers('"r2"'), body: {} });
    expect(await body(signed)).toMatchObject({ state: 'amended', signed_revision: 2 });
  });

  /** Makes two requests the first and the second revision of a new study. */
  const ofOneStudy = async (studyInstanceUid: string, first: string, later: string) => {
    await gateway.database.query(
      `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
         identity, first_received_at, last_received_at, complete_after)
       VALUES (gen_random_uuid(), $1, 's', 'A', 'B', 'submitted', '{}', now(), now(), now())`,
      [studyInstanceUid],
    );
    await gateway.database.query(
      `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
       SELECT study.id, run.revision, 'rule', run.id, now()
       FROM studies study, (VALUES (1, $1), (2, $2)) AS run (revision, id)
       WHERE study.study_instance_uid = $3`,
      [first, later, studyInstanceUid],
    );
  };

  it('amends the signed result of an earlier request for the same study', async () => {
    const [first, later] = [await finished(), await finished()];
    await ofOneStudy('1.2.3', first, later);
    const signedAt = '2026-01-02T08:00:00.000Z';
    await gateway.database.query(
      `WITH review AS (
         INSERT INTO reviews (request_id, state, signed_revision) VALUES ($1, 'signed', 1)
         RETURNING request_id)
       INSERT INTO review_signatures (request_id, signed_revision, position, at, observer_id, observer,
         organization) SELECT request_id, 1, 1, $2, 'key:1', 'Dr Ada Reader', 'Ward' FROM review`,
      [first, signedAt],
    );
    const signed = await call(later, { path: 'sign', headers: headers('"r0"'), body: {} });
    expect(await body(signed)).toMatchObject({ state: 'amended', signed_revision: 1 });
    const { output } = (await (await gateway.call(`/v1/requests/${later}`)).json()) as {
      output: Result;
    };
    expect(output.verification).toMatchObject({
      revision: 1,
      replaces: { request: first, revision: 1 },
    });
    const signatures = await resultSignatures(gateway.database, [later, first]);
    expect(signatures).toEqual([
      { at: new Date(signedAt), status: 'final' },
      { at: new Date(output.generated_at), status: 'amended' },
    ]);
    const late = await change(first, [{ kind: 'reject', measurement: 'fl' }], '"r0"', {
      amend: true,
    });
    expect(await body(late)).toMatchObject({ status: 409, code: 'later_result_signed' });
  });

  it('is refused once the result is withdrawn, and so is any change', async () => {
    const id = await finished();
    await call(id, { path: 'sign', headers: headers('"r0"'), body: {} });
    const withdraw = { path: 'withdraw', body: { reason: 'wrong-measurement' } };
    const answer = await call(id, withdraw);
    expect(answer.status).toBe(200);
    const withdrawal = {
      by: 'Dr Ada Reader',
      reason: 'wrong-measurement',
      text: null,
      receivers: [],
    };
    expect(await answer.json()).toMatchObject({ status: 'succeeded', withdrawal });
    const refused = [
      await change(id, [{ kind: 'reject', measurement: 'fl' }], '"r1"', { amend: true }),
      await call(id, { path: 'sign', headers: headers('"r1"'), body: {} }),
    ];
    for (const each of refused) {
      expect(await body(each)).toMatchObject({ status: 409, code: 'result_withdrawn' });
    }
    // The result can still be read, with its withdrawal.
    const read = await gateway.call(`/v1/requests/${id}`, { key: reader });
    expect(await read.json()).toMatchObject({ withdrawal, output: { draft: false } });
    const again = await call(id, { path: 'withdraw', body: { reason: 'quality' } });
    expect(await again.json()).toMatchObject({ withdrawal });
    expect(
      (await call(id, { ...withdraw, key: await gateway.key({ scopes: ['read', 'review'] }) }))
        .status,
    ).toBe(403);
  });

  it('does not amend a withdrawn result of the study', async () => {
    const [first, later] = [await finished(), await finished()];
    await ofOneStudy('1.2.9', first, later);
    await call(first, { path: 'sign', headers: headers('"r0"'), body: {} });
    await call(first, { path: 'withdraw', body: { reason: 'wrong-study' } });
    const signed = await body(
      await call(later, { path: 'sign', headers: headers('"r0"'), body: {} }),
    );
    expect(signed.state).toBe('signed');
    expect(signed.result.verification?.replaces).toBeUndefined();
  });

  it('is refused once a later result of the study is signed', async () => {
    const [first, later] = [await finished(), await finished()];
    await ofOneStudy('1.2.4', first, later);
    await call(later, { path: 'sign', headers: headers('"r0"'), body: {} });
    const late = await call(first, { path: 'sign', headers: headers('"r0"'), body: {} });
    expect(await body(late)).toMatchObject({ status: 409, code: 'later_result_signed' });
  });

  it('of two results of a study at once leaves one report', async () => {
    const [first, later] = [await finished(), await finished()];
    await ofOneStudy('1.2.5', first, later);
    const answers = await Promise.all(
      [first, later].map((id) => call(id, { path: 'sign', headers: headers('"r0"'), body: {} })),
    );
    const { rows } = await gateway.database.query<{ state: string }>(
      `SELECT state FROM reviews WHERE request_id = ANY ($1::text[]) AND signed_revision > 0
       ORDER BY state`,
      [[first, later]],
    );
    const isBoth = answers.every(({ status }) => status === 200);
    expect(rows.map(({ state }) => state)).toEqual(isBoth ? ['amended', 'signed'] : ['signed']);
  });

  it('is announced with each revision to a subscribed client', async () => {
    const id = await finished();
    const webhook = { url: 'https://client.example/hook', events: ['request.verified'] };
    await gateway.database.query('UPDATE requests SET webhook = $2::jsonb WHERE id = $1', [
      id,
      JSON.stringify(webhook),
    ]);
    const announced = async () => {
      const { rows } = await gateway.database.query<{ object: string; result_revision: number }>(
        `SELECT object, result_revision FROM deliveries WHERE request_id = $1 AND kind = 'webhook'
         ORDER BY result_revision`,
        [id],
      );
      return rows;
    };
    await call(id, { path: 'sign', headers: headers('"r0"'), body: {} });
    expect(await announced()).toEqual([{ object: 'request.verified', result_revision: 1 }]);
    await change(id, [{ kind: 'reject', measurement: 'fl' }], '"r1"', { amend: true });
    await call(id, { path: 'sign', headers: headers('"r2"'), body: {} });
    expect(await announced()).toMatchObject([{ result_revision: 1 }, { result_revision: 2 }]);
  });

  const TARGETS = JSON.stringify([{ kind: 'fhir', destination: 'ehr', object: 'fhir-bundle' }]);
  const rowsOf = async (id: string) => {
    const { rows } = await gateway.database.query<{ destination: string; result_revision: number }>(
      'SELECT destination, result_revision FROM deliveries WHERE request_id = $1',
      [id],
    );
    return rows;
  };
  const deliveredTo = (id: string) =>
    gateway.database.query('UPDATE requests SET deliver_to = $2::jsonb WHERE id = $1', [
      id,
      TARGETS,
    ]);

  it('and its deliveries are stored together or not at all', async () => {
    const id = await finished();
    await deliveredTo(id);
    for (const statement of STOP_AT_DELIVERY) await gateway.database.query(statement);
    const stopped = await call(id, { path: 'sign', headers: headers('"r0"'), body: {} });
    await gateway.database.query('DROP TRIGGER stop_at_delivery ON deliveries');
    expect(stopped.status).toBe(500);
    expect(await body(await call(id))).toMatchObject({
      state: 'draft',
      signed_revision: 0,
      signatures: [],
    });
    expect(await rowsOf(id)).toEqual([]);
    const signed = await call(id, { path: 'sign', headers: headers('"r0"'), body: {} });
    expect(await body(signed)).toMatchObject({ state: 'signed', signed_revision: 1 });
    expect(await rowsOf(id)).toEqual([{ destination: 'ehr', result_revision: 1 }]);
  });

  it('has the documents of the reader who signed if two sign at the same moment', async () => {
    const scopes = ['read', 'review', 'sign'] as const;
    const other = await gateway.key({ name: 'Dr Grace Other', scopes });
    const id = await finished();
    const sign = (key: string) =>
      call(id, { path: 'sign', key, headers: headers('"r0"'), body: {} });
    const answers = await Promise.all([sign(reader), sign(other)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);

    const { result, signatures } = await body(await call(id));
    const [{ observer } = { observer: '' }] = signatures;
    expect(result.verification?.signatures).toMatchObject([{ observer }]);
    const listed = await gateway.call(`/v1/requests/${id}/artifacts`, { key: reader });
    const { data } = (await listed.json()) as { data: { name: string; sha256: string }[] };
    for (const { name, sha256 } of data) {
      const folder = join(gateway.dataDir, 'results', id);
      const path = name === 'result.json' ? join(folder, name) : join(folder, 'artifacts', name);
      expect([name, (await describeFile(path)).sha256]).toEqual([name, sha256]);
    }
  });
});

describe('a result that needs two signatures', () => {
  let two: Gateway;
  let first: string;
  let second: string;

  beforeAll(async () => {
    two = await startGateway({}, { review: { signatures: 2 } });
    const scopes = ['read', 'review', 'sign'] as const;
    first = await two.key({ name: 'Dr Ada Reader', scopes: [...scopes] });
    second = await two.key({ name: 'Dr Ben Second', scopes: [...scopes] });
  });
  afterAll(() => two.stop());

  it('is final with the second, which another person must give', async () => {
    const id = await finished(reviewedStudy(), two);
    const sign = (key: string, etag: string) =>
      two.call(`/v1/requests/${id}/sign`, { key, headers: { 'If-Match': etag }, body: {} });
    const once = await body(await sign(first, '"r0"'));
    expect(once).toMatchObject({ state: 'in-review', signed_revision: 0, signatures_needed: 2 });
    expect(once.signatures).toMatchObject([{ observer: 'Dr Ada Reader' }]);
    expect(once.result.draft).toBe(true);
    expect((await sign(first, once.etag)).status).toBe(403);
    const twice = await body(await sign(second, once.etag));
    expect(twice).toMatchObject({ state: 'signed', signed_revision: 1 });
    expect(twice.signatures.map(({ observer }) => observer)).toEqual([
      'Dr Ada Reader',
      'Dr Ben Second',
    ]);
  });

  it('loses its first signature when it is changed', async () => {
    const id = await finished(reviewedStudy(), two);
    const of = `/v1/requests/${id}`;
    const headersOf = (etag: string) => ({ key: first, headers: { 'If-Match': etag } });
    const once = await body(await two.call(`${of}/sign`, { ...headersOf('"r0"'), body: {} }));
    const changes = [{ kind: 'reject', measurement: 'fl' }];
    const changed = await two.call(`${of}/review`, {
      ...headersOf(once.etag),
      method: 'PATCH',
      body: { changes },
    });
    expect(await body(changed)).toMatchObject({ signatures: [], signed_revision: 0 });
  });
});
