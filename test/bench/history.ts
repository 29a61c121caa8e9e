import type { Database } from '../../src/platform/database/port.ts';

/**
 * Fills an empty, migrated database as a site of years has it: so many studies of one object, each
 * interpreted and delivered, with the events of its request.
 */
export async function fillHistory(database: Database, studies: number): Promise<void> {
  // What triggers do for each row is done once for all, behind it.
  await database.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    for (const statement of STATEMENTS) await tx.query(statement, [studies]);
    await tx.query('SELECT worklist_fill()');
  });
  await database.query('ANALYZE');
}

const UUID = `lpad(to_hex(n), 32, '0')::uuid`;
const HEADER = `jsonb_build_object('sopClassUid', '1.2.840.10008.5.1.4.1.1.6.1', 'sopInstanceUid',
  '1.2.840.99.' || n || '.1', 'studyInstanceUid', '1.2.840.99.' || n, 'modality', 'US',
  'procedureCodes', '[]'::jsonb, 'identity', jsonb_build_object('PatientID', 'P' || n))`;
const AT = `now() - make_interval(secs => 60.0 * n)`;

const STATEMENTS = [
  `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
     instance_count, identity, first_received_at, last_received_at, complete_after)
   SELECT ${UUID}, '1.2.840.99.' || n, 'cart', 'CART', 'SONOGATE', 'submitted', 1,
     jsonb_build_object('PatientID', 'P' || n, 'PatientName', 'N' || n), ${AT}, ${AT}, ${AT}
   FROM generate_series(1, $1::int) AS n`,
  `INSERT INTO instances (id, study_id, sop_instance_uid, ordinal, revision, path, bytes,
     file_sha256, data_set_sha256, conflict, transfer_syntax, header, received_at)
   SELECT ${UUID}, ${UUID}, '1.2.840.99.' || n || '.1', 1, 1, 'intake/cart/history/' || n || '.dcm',
     20000, md5(n::text) || md5('f' || n), md5('d' || n) || md5(n::text), false,
     '1.2.840.10008.1.2.1', ${HEADER}, ${AT}
   FROM generate_series(1, $1::int) AS n`,
  `INSERT INTO requests (id, model, endpoint, version, status, stage, priority, test, input, files,
     prior_files, metadata, source, cost, deliver_to, unique_key, attempts, last_seq, created_at,
     started_at, ended_at, expires_at)
   SELECT 'req_' || n, 'us/obstetric', 'us/obstetric/interpret', '1.0.0', 'succeeded', '{}', 'normal',
     false, '{}', '[]', '[]', '{}', jsonb_build_object('kind', 'dicom'), '{}', '[]',
     'dicom:1.2.840.99.' || n || ':1', 1, 3, ${AT}, ${AT}, ${AT}, now() + interval '1 year'
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
];
