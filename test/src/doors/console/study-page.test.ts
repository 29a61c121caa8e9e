import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StudyPage } from '../../../../src/doors/console/contract.ts';
import { addDraft } from './draft.ts';
import { type ConsoleSite, openConsole } from './site.ts';

let site: ConsoleSite;

beforeAll(async () => {
  site = await openConsole();
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
