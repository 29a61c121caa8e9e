import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StudyPage } from '../../../../src/doors/console/contract.ts';
import { addDraft } from './draft.ts';
import { type ConsoleSite, openConsole } from './site.ts';
import { fillWorklist } from './worklist-fixture.ts';

let site: ConsoleSite;

beforeAll(async () => {
  site = await openConsole();
  await fillWorklist(site.database, 20);
});
afterAll(() => site.close());

it('lists no file that cannot be downloaded, such as the evidence of a review', async () => {
  const id = await addDraft(site);
  const reader = await site.signIn('clinician');
  const { requests } = await reader.get<StudyPage>(`/worklist/${id}`);
  const files = requests.flatMap(({ artifacts }) => artifacts);
  expect(files.map(({ name }) => name)).not.toContain('evidence.json');
  expect((await reader.call('GET', `/requests/${id}/artifacts/evidence.json`)).status).toBe(404);
});

it('shows what people changed even if a client has asked for the status very often', async () => {
  const id = await addDraft(site);
  await site.database.query(
    `INSERT INTO audit (at, action, account_id, request_id, status, call_id)
     SELECT now(), 'request.read', 'default', $1, 200, n::text FROM generate_series(1, 600) AS n`,
    [id],
  );
  await site.database.query(
    `INSERT INTO audit (at, action, actor, request_id, outcome)
     VALUES (now(), 'delivery.replay', 'person:Dr Ada Reader', $1, 'success')`,
    [id],
  );
  const reader = await site.signIn('clinician');
  const { timeline } = await reader.get<StudyPage>(`/worklist/${id}`);
  expect(timeline).toContainEqual(
    expect.objectContaining({ title: 'Delivery sent again', actor: 'Dr Ada Reader' }),
  );
});

it('shows the delivery of the report even if very many received objects were forwarded', async () => {
  const { rows } = await site.database.query<{ study: string }>(
    `SELECT source ->> 'study' AS study FROM requests WHERE source ->> 'kind' = 'dicom' LIMIT 1`,
  );
  const study = rows[0]?.study ?? '';
  await site.database.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(
      `INSERT INTO instances (id, study_id, sop_instance_uid, ordinal, revision, path, bytes,
         file_sha256, data_set_sha256, conflict, transfer_syntax, header, received_at)
       SELECT md5(n::text)::uuid, $1, '1.2.' || n, n, 1, n::text, 1, n::text, n::text, false, '1.2',
         '{}', now()
       FROM generate_series(1, 600) AS n`,
      [study],
    );
    await tx.query(
      `INSERT INTO deliveries (id, kind, destination, object, state, give_up_at)
       SELECT 'dlu_' || ordinal, 'forward', 'vna', id::text, 'delivered', now() FROM instances`,
    );
  });
  const reader = await site.signIn('clinician');
  const { timeline, deliveries } = await reader.get<StudyPage>(`/worklist/${study}`);
  expect(deliveries.map(({ destination }) => destination)).toContain('ehr');
  expect(timeline.filter(({ kind }) => kind === 'delivered').map(({ actor }) => actor)).toContain(
    'ehr',
  );
});
