import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quarantine } from '../../../../src/core/studies/quarantine.ts';
import { findStudy } from '../../../../src/core/studies/study-store.ts';
import type { Quarantined } from '../../../../src/doors/console/contract.ts';
import { dicomFile } from '../../../dimse/dicom-file.ts';
import { type ConsoleSite, openConsole } from './site.ts';

const STUDY = '1.2.840.77.4711';
let site: ConsoleSite;

beforeAll(async () => {
  site = await openConsole();
});
afterAll(() => site.close());

async function put(name: string, bytes: Buffer): Promise<void> {
  await mkdir(join(site.dataDir, 'intake'), { recursive: true });
  await writeFile(join(site.dataDir, 'intake', name), bytes);
  await quarantine(site.dataDir, `intake/${name}`, {
    at: new Date(),
    source: 'cart',
    callingAeTitle: 'VOLUSON',
    code: 'object_not_understood',
    detail: 'The header could not be read.',
  });
}

const sizes = (objects: readonly Quarantined[]) => objects.map(({ bytes }) => bytes);

it('shows objects in quarantine, registers one again and removes another', async () => {
  const [viewer, operator] = [await site.signIn('viewer'), await site.signIn('operator')];
  const object = dicomFile({ sopInstanceUid: `${STUDY}.1`, studyInstanceUid: STUDY });
  await put('whole.dcm', object);
  await put('rubbish.dcm', Buffer.from('rubbish'));

  const seen = await viewer.get<Quarantined[]>('/quarantine');
  expect(seen).toHaveLength(2);
  expect(seen[0]).toMatchObject({ source: 'cart', callingAeTitle: 'VOLUSON', detail: null });
  const all = await operator.get<Quarantined[]>('/quarantine');
  expect(all[0]).toMatchObject({ detail: 'The header could not be read.' });

  const whole = all.find(({ bytes }) => bytes === object.length)?.id;
  expect((await operator.call('POST', `/quarantine/${whole}/register`)).status).toBe(204);
  expect(await findStudy(site.database, STUDY)).toMatchObject({ instance_count: 1 });

  const [rubbish] = await operator.get<Quarantined[]>('/quarantine');
  const refused = await operator.call('POST', `/quarantine/${rubbish?.id}/register`);
  expect(await refused.json()).toMatchObject({ code: 'object_not_understood' });
  expect(site.logged).toContain('object_quarantined');
  const [back] = await operator.get<Quarantined[]>('/quarantine');
  expect((await operator.call('POST', `/quarantine/${back?.id}/remove`)).status).toBe(204);
  expect(sizes(await operator.get<Quarantined[]>('/quarantine'))).toEqual([]);

  const { rows } = await site.database.query<{ action: string; outcome: string }>(
    `SELECT action, outcome FROM audit WHERE action LIKE 'quarantine.%' ORDER BY id`,
  );
  expect(rows.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
    'quarantine.register success',
    // The object that could not be registered was moved, and then moved back.
    'quarantine.register success',
    'quarantine.register failed',
    'quarantine.remove success',
  ]);
});
