import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WorklistPage } from '../../../../src/doors/console/contract.ts';
import { type PostgresServer, startPostgres } from '../../../peers/postgres.ts';
import { type ConsoleSite, openConsole } from './site.ts';
import { readEvents } from './stream.ts';
import { fillWorklist, fixtureStudy } from './worklist-fixture.ts';

const server = await startPostgres();

/** For the consoles, these are two processes of one site, each with its own sessions. */
describe.skipIf(server === null)('two consoles on one PostgreSQL server', () => {
  let here: ConsoleSite;
  let there: ConsoleSite;

  beforeAll(async () => {
    const databaseUrl = await (server as PostgresServer).createDatabase();
    here = await openConsole({ databaseUrl });
    await fillWorklist(here.database, 60);
    there = await openConsole({ databaseUrl });
  });
  afterAll(async () => {
    await here?.close();
    await there?.close();
    await server?.stop();
  });

  it('notify each other of changes', async () => {
    const { cookie } = await here.signIn('clinician');
    const uid = fixtureStudy(44).studyInstanceUid;
    const told = await readEvents(
      here.url,
      cookie,
      (events) => JSON.stringify(events).includes(uid),
      async () => {
        const change = `UPDATE studies SET reason = 'x' WHERE study_instance_uid = $1`;
        await there.database.query(change, [uid]);
      },
    );
    expect(told.map(({ type }) => type)).toContain('row');
  });

  it('share sessions and patient pseudonyms', async () => {
    const viewer = await here.signIn('viewer');
    const seen = await viewer.get<WorklistPage>('/worklist?limit=5');
    const other = await fetch(`${there.url}/console/api/worklist?limit=5`, {
      headers: { cookie: viewer.cookie },
    });
    expect(await other.json()).toEqual(seen);
  });

  it('find a patient by words in any script, regardless of case', async () => {
    await here.database.query(
      `UPDATE worklist SET words = worklist_words('{"PatientName": "MÜLLER^ÖZGE=山田^花子"}')
       WHERE key = (SELECT min(key) FROM worklist)`,
    );
    const client = await there.signIn('clinician');
    for (const q of ['müller', 'özg MÜL', '山田', '花']) {
      const { critical, rows } = await client.get<WorklistPage>(
        `/worklist?q=${encodeURIComponent(q)}`,
      );
      expect([...critical, ...rows], q).toHaveLength(1);
    }
  });
});
