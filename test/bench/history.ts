import type { Database } from '../../src/platform/database/port.ts';

/**
 * Fills an empty, migrated database so that it resembles a hospital's after years of use: `studies`
 * studies of `objects` objects, each interpreted and delivered, with its history, request events,
 * the objects accepted by the PACS, audit entries, and a hold for every tenth. In addition, API
 * clients made a third as many requests, and each study has a webhook. Names and IDs are padded to the same number of digits, so
 * that a search for one finds only that one.
 */
export async function fillHistory(database: Database, studies: number, objects = 1): Promise<void> {
  // The triggers' work for each row is done afterwards, once for all rows.
  await database.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    for (const statement of STATEMENTS) await tx.query(statement, [studies]);
    await tx.query(INSTANCES, [studies, objects]);
    await tx.query('SELECT worklist_fill()');
  });
  await database.query('ANALYZE');
}

const UUID = `lpad(to_hex(n), 32, '0')::uuid`;
/** Returns a study's number as it appears in names and IDs. `PADDED` is the same in SQL. */
export const numberText = (n: number) => String(n).padStart(8, '0');
const PADDED = `lpad(n::text, 8, '0')`;
const IDENTITY = `jsonb_build_object('SpecificCharacterSet', NULL, 'PatientName', 'N' || ${PADDED},
  'PatientID', 'P' || ${PADDED}, 'IssuerOfPatientID', '', 'PatientBirthDate', '19900101', 'PatientSex', 'F',
  'StudyInstanceUID', '1.2.840.99.' || n, 'StudyDate', '20260101', 'StudyTime', '', 'StudyID', '',
  'StudyDescription', '', 'AccessionNumber', 'A' || n, 'ReferringPhysicianName', '',
  'AcquisitionDateTime', '', 'TimezoneOffsetFromUTC', '')`;
const HEADER = `jsonb_build_object('sopClassUid', '1.2.840.10008.5.1.4.1.1.6.1', 'sopInstanceUid',
  '1.2.840.99.' || n || '.' || o, 'studyInstanceUid', '1.2.840.99.' || n, 'modality', 'US',
  'procedureCodes', '[]'::jsonb, 'identity', ${IDENTITY})`;
const AT = `now() - make_interval(secs => 60.0 * n)`;

const STATEMENTS = [
  `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
     instance_count, identity, first_received_at, last_received_at, complete_after)
   SELECT ${UUID}, '1.2.840.99.' || n, 'cart', 'CART', 'SONOGATE', 'submitted', 1,
     ${IDENTITY}, ${AT}, ${AT}, ${AT}
   FROM generate_series(1, $1::int) AS n`,
  `INSERT INTO requests (id, model, endpoint, version, status, stage, priority, test, input, files,
     prior_files, metadata, source, cost, deliver_to, unique_key, attempts, last_seq, created_at,
     started_at, ended_at, expires_at)
   SELECT 'req_' || n, 'us/obstetric', 'us/obstetric/interpret', '1.0.0', 'succeeded', '{}', 'normal',
     false, '{}', '[]', '[]', '{}', jsonb_build_object('kind', 'dicom'), '{}', '[]',
     'dicom:' || ${UUID} || ':1', 1, 3, ${AT}, ${AT}, ${AT}, now() + interval '1 year'
   FROM generate_series(1, $1::int) AS n`,
  `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
   SELECT ${UUID}, 1, 'all', 'req_' || n, ${AT} FROM generate_series(1, $1::int) AS n`,
  `INSERT INTO request_events (request_id, seq, name, data, at)
   SELECT 'req_' || n, seq, 'status', '{"status": "succeeded"}', ${AT}
   FROM generate_series(1, $1::int) AS n, generate_series(1, 3) AS seq`,
  `INSERT INTO deliveries (id, request_id, kind, destination, object, state, attempt, give_up_at,
     created_at, ended_at)
   SELECT 'dlv_' || n || object, 'req_' || n, 'dicom', 'pacs', object, 'delivered', 1, now(), ${AT},
     ${AT}
   FROM generate_series(1, $1::int) AS n, unnest(ARRAY['sr-tid1500', 'sr-tid5000']) AS object`,
  `INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid,
     transaction_uid, asked_at, committed_at)
   SELECT id, destination, '1.2.840.10008.5.1.4.1.1.88.33', '2.25.' || id, '2.25.9' || id, created_at,
     created_at
   FROM deliveries WHERE $1::int IS NOT NULL`,
  `INSERT INTO study_history (study_id, at, state, revision, complete_because)
   SELECT ${UUID}, ${AT}, state, 1, 'quiet-time'
   FROM generate_series(1, $1::int) AS n, unnest(ARRAY['receiving', 'complete', 'submitted']) AS state`,
  `INSERT INTO audit (at, action, request_id, actor, study_id, outcome)
   SELECT ${AT}, action, 'req_' || n, 'gateway', ${UUID}, 'success'
   FROM generate_series($1::int, 1, -1) AS n,
     unnest(ARRAY['study.complete', 'study.read', 'request.read', 'delivery.replay']) AS action`,
  `INSERT INTO hold_actions (at, delivery_id, request_id, destination, action, person)
   SELECT ${AT}, 'dlv_' || n || 'sr-tid1500', 'req_' || n, 'ehr', 'release', 'A'
   FROM generate_series(1, $1::int, 10) AS n`,
  `INSERT INTO requests (id, account_id, model, endpoint, version, status, stage, priority, test, input,
     files, prior_files, metadata, source, cost, deliver_to, attempts, last_seq, created_at,
     started_at, ended_at, expires_at)
   SELECT 'req_00' || ${PADDED}, 'default', 'us/obstetric', 'us/obstetric/interpret', '1.0.0',
     'succeeded', '{}', 'normal', false, '{}', '[]', '[]', '{}', jsonb_build_object('kind', 'api'), '{}',
     '[]', 1, 3, ${AT}, ${AT}, ${AT}, now() + interval '1 year'
   FROM generate_series(1, $1::int, 3) AS n`,
  `INSERT INTO deliveries (id, request_id, kind, destination, object, state, attempt, give_up_at,
     created_at, ended_at)
   SELECT 'whd_' || n, 'req_' || n, 'webhook', 'whe_1', 'request.completed', 'delivered', 1, now(),
     ${AT}, ${AT}
   FROM generate_series(1, $1::int) AS n`,
];

const INSTANCES = `INSERT INTO instances (id, study_id, sop_instance_uid, ordinal, revision, path,
     bytes, file_sha256, data_set_sha256, conflict, transfer_syntax, header, received_at)
   SELECT md5(n || '.' || o)::uuid, ${UUID}, '1.2.840.99.' || n || '.' || o, o, 1,
     'intake/cart/history/' || n || '-' || o || '.dcm', 20000, md5('a' || n) || md5('f' || o),
     md5('d' || n) || md5('o' || o), false, '1.2.840.10008.1.2.1', ${HEADER}, ${AT}
   FROM generate_series(1, $1::int) AS n, generate_series(1, $2::int) AS o`;
