import { randomUUID } from 'node:crypto';
import type { Database } from '../../../../../src/platform/database/port.ts';

/** Inserts only those rows of a received study that a workitem needs. The study has no files. */
export async function holdStudy(
  database: Pick<Database, 'query'>,
  study: string,
  objects: readonly string[],
  { patientId = 'P-1', holdReason = null as string | null } = {},
): Promise<void> {
  const identity = {
    PatientName: 'Example^Eve',
    PatientID: patientId,
    IssuerOfPatientID: '',
    PatientBirthDate: '19900101',
    PatientSex: 'F',
    StudyDate: '20260115',
  };
  const id = randomUUID();
  await database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after, hold_reason)
     VALUES ($1, $2, 's', 'CART', 'SONOGATE', 'routed', $3, now(), now(), now(), $4)`,
    [id, study, JSON.stringify(identity), holdReason],
  );
  for (const [index, uid] of objects.entries()) {
    const header = {
      sopClassUid: '1.2.840.10008.5.1.4.1.1.6.1',
      sopInstanceUid: uid,
      studyInstanceUid: study,
      seriesInstanceUid: `${study}.1`,
      modality: 'US',
      rows: 10,
      columns: 10,
      numberOfFrames: 1,
      procedureCodes: [],
      lastMenstrualDate: '',
      statedAgeDays: null,
      patientAge: '',
      patientSizeMetres: null,
      patientWeightKilograms: null,
      // The endpoint in these tests has no field for the patient's sex.
      identity: { ...identity, PatientSex: '' },
    };
    await database.query(
      `INSERT INTO instances (id, study_id, sop_instance_uid, ordinal, revision, path, bytes,
         file_sha256, data_set_sha256, conflict, transfer_syntax, header, received_at)
       VALUES ($1, $2, $3, $4, 1, $5, 1, 'a', $5, false, '1.2.840.10008.1.2.1', $6, now())`,
      [randomUUID(), id, uid, index + 1, `received/${uid}.dcm`, JSON.stringify(header)],
    );
  }
}
