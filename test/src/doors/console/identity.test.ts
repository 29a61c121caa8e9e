import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  Delivery,
  Page,
  StudyPage,
  WorklistPage,
} from '../../../../src/doors/console/contract.ts';
import { type Client, type ConsoleSite, openConsole } from './site.ts';
import { readEvents, type SentEvent } from './stream.ts';
import { fillWorklist, fixtureStudy } from './worklist-fixture.ts';

const STUDIES = 60;
const HOSTILE = '<img src=x onerror=alert(1)>^\u202Eevil" onload="x';

let site: ConsoleSite;
let heldDelivery: string;

beforeAll(async () => {
  site = await openConsole();
  await fillWorklist(site.database, STUDIES);
  await site.database.query(
    `UPDATE studies SET identity = identity || jsonb_build_object('PatientName', $1::text),
       reason = 'found "' || $1 || '"' WHERE study_instance_uid = $2`,
    [HOSTILE, fixtureStudy(STUDIES).studyInstanceUid],
  );
  const { rows } = await site.database.query<{ id: string }>(
    `UPDATE deliveries SET state = 'dead', code = 'ehr_patient_ambiguous',
       detail = 'two of FAMILY' || right(request_id, 2)
     WHERE id = (SELECT max(id) FROM deliveries WHERE kind = 'fhir') RETURNING id`,
  );
  heldDelivery = rows[0]?.id ?? '';
});
afterAll(() => site.close());

/**
 * Everything in the fixture that identifies a patient, in any form that a response could contain.
 */
const IDENTIFYING = [
  /FAMILY\d/i,
  /GIVEN\d/i,
  /MRN-/,
  /19700102/,
  /\bACC\d/,
  /1\.2\.826\.0\.1\.3680043\.9\.7433/,
  /20240315/,
  /091500/,
  /STUDYID/,
  /REFERRER/i,
  /Examination of/,
  /onerror/,
];

/**
 * Returns everything that a role can read: lists, each study, each delivery, and the event stream.
 */
async function everythingRead({ call, get }: Client): Promise<string> {
  const read = async (path: string) => {
    const answer = await call('GET', path);
    return answer.ok ? await answer.text() : '';
  };
  const page = await get<WorklistPage>('/worklist?limit=200');
  const rows = [...page.critical, ...page.rows];
  const texts = [JSON.stringify(page)];
  for (const path of [
    '/worklist/facets',
    '/destinations',
    '/deliveries?limit=200',
    '/holds',
    '/peers',
    '/rules',
  ]) {
    texts.push(await read(path));
  }
  for (const { key, requestId } of rows) {
    texts.push(await read(`/worklist/${key}`));
    if (requestId) texts.push(await read(`/requests/${requestId}/result`));
  }
  const word = encodeURIComponent('family');
  texts.push(await read(`/worklist?q=${word}`));
  return texts.join('\n');
}

describe('a viewer', () => {
  it('is never sent a value that identifies a patient', async () => {
    const text = await everythingRead(await site.signIn('viewer'));
    expect(text).toContain('"shown":"hidden"');
    for (const form of IDENTIFYING) expect(text).not.toMatch(form);
  });

  it('is not sent one over the stream of changes either', async () => {
    const viewer = await site.signIn('viewer');
    const enough = (events: readonly SentEvent[]) =>
      ['row', 'delivery'].every((kind) => events.some(({ type }) => type === kind));
    const events = await readEvents(site.url, viewer.cookie, enough, async () => {
      await site.database.query(`UPDATE studies SET reason = 'seen by FAMILY1' WHERE tags <> '{}'`);
      await site.database.query(`UPDATE deliveries SET code = NULL WHERE id = $1`, [heldDelivery]);
      await site.database.query(
        `UPDATE deliveries SET code = 'ehr_patient_ambiguous' WHERE id = $1`,
        [heldDelivery],
      );
    });
    const text = JSON.stringify(events);
    expect(text).toContain('"shown":"hidden"');
    for (const form of IDENTIFYING) expect(text).not.toMatch(form);
  });

  it('finds nothing by a name, an ID or an accession number', async () => {
    const viewer = await site.signIn('viewer');
    const { patientName, patientId, accessionNumber } = fixtureStudy(4);
    for (const q of [patientName, patientId, accessionNumber]) {
      const page = await viewer.get<WorklistPage>(`/worklist?q=${encodeURIComponent(q)}`);
      expect([...page.critical, ...page.rows]).toEqual([]);
    }
  });

  it('can distinguish the studies of one patient from those of another', async () => {
    const viewer = await site.signIn('viewer');
    const { rows } = await viewer.get<WorklistPage>('/worklist');
    const pseudonyms = rows.map(({ subject }) => subject?.pseudonym);
    // The fixture assigns the studies 2n and 2n + 1 to one patient.
    expect(new Set(pseudonyms).size).toBe(Math.floor(rows.length / 2) + 1);
    expect(pseudonyms[0]).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
  });
});

describe('an operator', () => {
  it('is sent initials and no other part of an identity, except in text from peers and rules', async () => {
    const { rows } = await (await site.signIn('operator')).get<WorklistPage>('/worklist');
    const row = rows.at(-1);
    expect(row?.subject).toEqual({
      shown: 'initials',
      pseudonym: expect.any(String),
      initials: 'FG',
    });
    const text = JSON.stringify(rows.map(({ subject }) => subject));
    for (const form of IDENTIFYING) expect(text).not.toMatch(form);
  });
});

describe.each(['clinician', 'administrator'] as const)('a %s', (role) => {
  it('is sent the identity in the images', async () => {
    const { accessionNumber, patientId, studyInstanceUid } = fixtureStudy(44);
    const client = await site.signIn(role);
    const { rows } = await client.get<WorklistPage>(`/worklist?q=${accessionNumber}`);
    expect(rows.map(({ subject }) => subject)).toEqual([
      expect.objectContaining({
        shown: 'identity',
        name: 'FAMILY44 GIVEN44',
        initials: 'FG',
        patientId,
        accessionNumber,
        studyInstanceUid,
        birthDate: '19700102',
      }),
    ]);
  });

  it('leaves an audit entry for each study in a list that it was shown', async () => {
    const client = await site.signIn(role);
    const { rows } = await client.get<WorklistPage>('/worklist?limit=3');
    const seen = await site.database.query<{ study_id: string; detail: object }>(
      `SELECT study_id, detail FROM audit WHERE action = 'identity.view' AND key_id = $1`,
      [client.keyId],
    );
    const listed = rows.map(({ key }) => key);
    expect(seen.rows.map(({ study_id }) => study_id)).toEqual(expect.arrayContaining(listed));
    expect(seen.rows[0]?.detail).toMatchObject({ where: 'console worklist' });
  });

  it('reads at each delivery whose study it is, and leaves one audit entry for each study', async () => {
    const client = await site.signIn(role);
    const { rows } = await client.get<Page<Delivery>>('/deliveries?limit=10');
    const patients = rows.map(({ subject }) => subject?.shown === 'identity' && subject.name);
    for (const name of patients) expect(name).toMatch(/^FAMILY\d+ GIVEN\d+$/);
    expect(rows[0]?.endpoint).toBe('us/obstetric/interpret');
    const seen = await site.database.query<{ study_id: string }>(
      `SELECT study_id FROM audit WHERE action = 'identity.view' AND key_id = $1
         AND detail ->> 'where' = 'console deliveries'`,
      [client.keyId],
    );
    // The fixture has two deliveries for each study.
    const studies = new Set(rows.map(({ key }) => key));
    expect(studies.size).toBeLessThan(rows.length);
    expect(seen.rows.map(({ study_id }) => study_id).toSorted()).toEqual([...studies].toSorted());
  });

  it('leaves one audit entry for each study in the stream of changes, however often it is shown', async () => {
    const client = await site.signIn(role);
    const change = `UPDATE studies SET reason = $1 WHERE study_instance_uid = $2`;
    const { studyInstanceUid } = fixtureStudy(30);
    const twice = (events: readonly SentEvent[]) =>
      events.filter((event) => JSON.stringify(event).includes(studyInstanceUid)).length > 1;
    const entries = async () => {
      const { rows } = await site.database.query(
        `SELECT 1 FROM audit JOIN studies s ON s.id = study_id
         WHERE action = 'identity.view' AND key_id = $1 AND study_instance_uid = $2`,
        [client.keyId, studyInstanceUid],
      );
      return rows;
    };
    await readEvents(site.url, client.cookie, twice, async () => {
      await site.database.query(change, [`${role} 1`, studyInstanceUid]);
      // Waits until the change is shown, so that the second change is not reported together with
      // the first.
      await expect.poll(entries).toHaveLength(1);
      await site.database.query(change, [`${role} 2`, studyInstanceUid]);
    });
    expect(await entries()).toHaveLength(1);
  });

  it('appears in the timeline of the study as the person who looked', async () => {
    const client = await site.signIn(role);
    const { rows } = await client.get<WorklistPage>('/worklist?limit=1');
    const { timeline } = await client.get<StudyPage>(`/worklist/${rows[0]?.key}`);
    const looked = timeline.filter(({ kind }) => kind === 'looked').map(({ actor }) => actor);
    expect(looked).toContain(`Dr ${role}`);
  });
});

describe('a name with markup', () => {
  it('is returned unchanged as JSON, never as a page', async () => {
    const client = await site.signIn('clinician');
    const answer = await client.call('GET', '/worklist?state=receiving');
    expect(answer.headers.get('Content-Type')).toMatch(/^application\/json/);
    expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
    const { rows } = (await answer.json()) as WorklistPage;
    const names = rows.map(({ subject }) => subject?.shown === 'identity' && subject.name);
    expect(names).toContain(HOSTILE.replaceAll(/[\^=]/g, ' '));
  });
});

describe('the hold queue', () => {
  it('shows a viewer that a report is waiting, and only the code of the reason', async () => {
    const [hold] = await (await site.signIn('viewer')).get<{ detail: null; subject: object }[]>(
      '/holds',
    );
    expect(hold).toMatchObject({
      code: 'ehr_patient_ambiguous',
      needs: 'patient',
      detail: null,
    });
    expect(hold?.subject).toMatchObject({ shown: 'hidden' });
  });

  it('audits who opened a report', async () => {
    const client = await site.signIn('clinician');
    await client.get(`/holds/${heldDelivery}`);
    const { rows } = await site.database.query(
      'SELECT action, person FROM hold_actions WHERE delivery_id = $1',
      [heldDelivery],
    );
    expect(rows).toContainEqual({ action: 'show', person: 'Dr clinician' });
  });
});
