import type { Database, Queryable } from '../../../../src/platform/database/port.ts';

/**
 * The fixture's n-th patient and study. Every value contains the number, so it is easy to search
 * for.
 */
export interface FixtureStudy {
  patientName: string;
  patientId: string;
  accessionNumber: string;
  studyInstanceUid: string;
  studyDescription: string;
}

export const fixtureStudy = (n: number): FixtureStudy => ({
  patientName: `FAMILY${n}^GIVEN${n}`,
  patientId: `MRN-${String(n).padStart(7, '0')}`,
  accessionNumber: `ACC${n}`,
  studyInstanceUid: `1.2.826.0.1.3680043.9.7433.${n}`,
  studyDescription: `Examination of Family${n}`,
});

/**
 * Fills an empty gateway with studies, as after years of use. Every patient has two studies. The
 * latest studies are still receiving or running, one in twenty failed, one in a hundred is
 * critical, and each that succeeded was delivered twice. Uses only SQL, so that 100,000 studies
 * take only seconds.
 * @param count number of studies, each newer than all before it.
 */
export async function fillWorklist(database: Database, count: number): Promise<void> {
  await database.transaction(async (tx) => {
    // A single statement at the end does what the triggers would do row by row.
    await tx.query('SET LOCAL session_replication_role = replica');
    await fillTables(tx, count);
    await tx.query('SELECT worklist_fill()');
  });
  await database.query('ANALYZE');
}

async function fillTables(database: Queryable, count: number): Promise<void> {
  await database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       revision, instance_count, identity, first_received_at, last_received_at, complete_after, tags,
       acting_rules)
     SELECT md5('study ' || n)::uuid, '1.2.826.0.1.3680043.9.7433.' || n, 'cart-' || n % 5,
       'CART' || n % 5, 'SONOGATE',
       CASE WHEN n > $1 - 3 THEN 'receiving' WHEN n % 50 = 0 THEN 'unrouted' ELSE 'submitted' END,
       1, 30,
       jsonb_build_object('SpecificCharacterSet', 'ISO_IR 192',
         'PatientName', 'FAMILY' || n || '^GIVEN' || n,
         'PatientID', 'MRN-' || lpad((n - n % 2)::text, 7, '0'),
         'IssuerOfPatientID', 'HOSPITAL', 'PatientBirthDate', '19700102', 'PatientSex', 'F',
         'StudyInstanceUID', '1.2.826.0.1.3680043.9.7433.' || n, 'StudyDate', '20240315',
         'StudyTime', '091500', 'StudyID', 'STUDYID' || n,
         'StudyDescription', 'Examination of Family' || n, 'AccessionNumber', 'ACC' || n,
         'ReferringPhysicianName', 'REFERRER' || n || '^ANNE', 'AcquisitionDateTime', '',
         'TimezoneOffsetFromUTC', ''),
       now() - make_interval(mins => $1 - n), now() - make_interval(mins => $1 - n),
       now() + interval '1 hour', CASE WHEN n % 40 = 0 THEN '{urgent}' ELSE '{}' END::text[],
       CASE WHEN n > $1 - 3 OR n % 50 = 0 THEN '{}' ELSE '{obstetric}' END::text[]
     FROM generate_series(1, $1::integer) AS n`,
    [count],
  );
  await database.query(
    `INSERT INTO requests (id, account_id, model, endpoint, version, status, stage, priority, test,
       input, files, prior_files, metadata, source, cost, fault, deliver_to, created_at, started_at,
       ended_at, expires_at)
     SELECT 'req_' || lpad(n::text, 26, '0'), 'default', 'us/obstetric', 'us/obstetric/interpret',
       '1.0.0',
       CASE WHEN n > $1 - 5 THEN 'running' WHEN n % 20 = 0 THEN 'failed' ELSE 'succeeded' END,
       '{"name": "completed", "label": "Completed", "progress": 1, "eta_s": 0}', 'normal', false,
       '{"files": []}', '[]', '[]', '{}',
       jsonb_build_object('kind', 'dicom', 'study', md5('study ' || n)::uuid, 'revision', 1,
         'rule', 'obstetric'),
       '{"currency": "USD", "total": "0.08", "lines": []}',
       CASE WHEN n % 20 = 0 THEN jsonb_build_object('code', 'pipeline_failed', 'detail',
         'no view of Family' || n) END,
       '[]', now() - make_interval(mins => $1 - n), now() - make_interval(mins => $1 - n),
       now() - make_interval(mins => $1 - n), now() + interval '30 days'
     FROM generate_series(1, $1::integer) AS n WHERE n <= $1 - 3 AND n % 50 <> 0`,
    [count],
  );
  await database.query(
    `INSERT INTO request_events (request_id, seq, name, data, at)
     SELECT id, 1, 'triage', '{"display": "Placenta covers the internal os", "section": "placenta"}',
       created_at
     FROM requests WHERE right(id, 2) = '51'`,
  );
  await database.query(
    `INSERT INTO triage_acknowledgements (request_id, at, person)
     SELECT id, created_at, 'Fixture' FROM requests
     WHERE right(id, 2) = '51' AND right(id, 3) <> '051'`,
  );
  await database.query(
    `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
     SELECT (source ->> 'study')::uuid, 1, 'obstetric', id, created_at FROM requests`,
  );
  await database.query(
    `INSERT INTO deliveries (id, request_id, kind, destination, object, state, attempt, give_up_at,
       created_at, ended_at, detail, code)
     SELECT 'dlv_' || right(r.id, 25) || n, r.id, CASE n WHEN 1 THEN 'dicom' ELSE 'fhir' END,
       CASE n WHEN 1 THEN 'pacs' ELSE 'ehr' END,
       CASE n WHEN 1 THEN 'sr-tid1500' ELSE 'fhir-bundle' END,
       CASE WHEN right(r.id, 2) = '33' AND n = 1 THEN 'dead' ELSE 'delivered' END, 1,
       now() + interval '3 days', r.created_at, r.created_at, 'taken',
       CASE WHEN right(r.id, 2) = '33' AND n = 1 THEN 'peer_unreachable' END
     FROM requests r, generate_series(1, 2) AS n WHERE r.status = 'succeeded'`,
  );
  // The fixture has no results. Without stored glances, each row would search for one.
  await database.query(
    `INSERT INTO result_glances (request_id, glance)
     SELECT id, '{"age": "29+0", "values": ["EFW 1240 g", "HC 262.1 mm"], "toConfirm": 0, "abnormal": [],
       "assessed": 9, "sections": 14}'
     FROM requests WHERE status = 'succeeded'`,
  );
}
