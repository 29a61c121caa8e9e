import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRow } from '../../../../src/core/requests/request.ts';
import type { ConsoleDeps } from '../../../../src/doors/console/context.ts';
import { priorOf } from '../../../../src/doors/console/result-routes.ts';
import { type ConsoleSite, openConsole } from './site.ts';
import { fillWorklist, fixtureStudy } from './worklist-fixture.ts';

let site: ConsoleSite;
beforeAll(async () => {
  site = await openConsole();
  await fillWorklist(site.database, 20);
});
afterAll(() => site.close());

const scanned = (n: number, day: string) =>
  site.database.query(
    `UPDATE studies SET identity = identity || jsonb_build_object('StudyDate', $2::text)
     WHERE study_instance_uid = $1`,
    [fixtureStudy(n).studyInstanceUid, day],
  );

/** Returns the earlier result with which the result of the n-th study is compared. */
async function prior(n: number) {
  const { rows } = await site.database.query<RequestRow>('SELECT * FROM requests WHERE id = $1', [
    idOf(n),
  ]);
  const deps = { database: site.database, core: { result: async () => ({}) } };
  const found = await priorOf(rows[0] as RequestRow, deps as unknown as ConsoleDeps);
  return found && { requestId: found.requestId, daysBefore: found.daysBefore };
}
const idOf = (n: number) => `req_${String(n).padStart(26, '0')}`;

// The fixture's studies 4 and 5 are of one patient; 5 arrived after 4.
describe('the earlier study with which a result is compared', () => {
  it('is the one that was scanned before it', async () => {
    await scanned(4, '20240215');
    await scanned(5, '20240315');
    expect(await prior(5)).toEqual({ requestId: idOf(4), daysBefore: 29 });
    expect(await prior(4)).toBeNull();
  });

  it('is not a later scan that arrived before it', async () => {
    await scanned(4, '20240401');
    await scanned(5, '20240315');
    expect(await prior(5)).toBeNull();
    expect(await prior(4)).toEqual({ requestId: idOf(5), daysBefore: 17 });
  });

  it('is the one that arrived before it on the same day, or without dates', async () => {
    for (const day of ['20240315', '']) {
      await scanned(4, day);
      await scanned(5, day);
      expect(await prior(5)).toEqual({ requestId: idOf(4), daysBefore: 0 });
      expect(await prior(4)).toBeNull();
    }
  });
});
