import type { SourceInstance, Subject } from '../pipelines/artifacts/subject.ts';
import type { Queryable } from '../src/database/port.ts';
import { contextFromHeaders } from './clinical-context.ts';
import { ownSeries } from './own-results.ts';
import { identityOf } from './study-patient.ts';
import {
  fileName,
  findStudy,
  instancesOf,
  studyOfRequest,
  supersededRequest,
} from './study-queries.ts';

/**
 * Whose result a request of a DICOM study is: the identity of the study and the objects of the
 * revision that was submitted, under the file names of the request.
 * @param study our own id of the study (`RequestSource.study`).
 * @returns null when the study is no longer there.
 */
export async function subjectOf(
  database: Queryable,
  { requestId, study, revision }: { requestId: string; study: string; revision: number },
): Promise<Subject | null> {
  const row = await findStudy(database, study);
  if (!row) return null;
  const instances = await instancesOf(database, { id: row.id, revision });
  const headers = instances.map((instance) => instance.header);
  const { dating } = contextFromHeaders(headers);
  // A PACS may send back what the study was before its patient was corrected.
  const ours = await ownSeries(database, row.study_instance_uid);
  const received = headers.filter(({ seriesInstanceUid }) => !ours.has(seriesInstanceUid));
  return {
    requestId,
    identity: identityOf(received.map(({ identity }) => identity)) ?? row.identity,
    instances: instances.map(
      (instance): SourceInstance => ({
        sopClassUid: instance.header.sopClassUid,
        sopInstanceUid: instance.header.sopInstanceUid,
        seriesInstanceUid: instance.header.seriesInstanceUid,
        modality: instance.header.modality,
        file: fileName(instance),
        numberOfFrames: instance.header.numberOfFrames,
        rows: instance.header.rows,
        columns: instance.header.columns,
        lossy: instance.header.lossy ?? null,
      }),
    ),
    supersedes: await supersededRequest(database, { requestId, study: row.id, revision }),
    indication: headers.find(({ indication }) => indication)?.indication ?? null,
    dating: dating && { gaDays: dating.ga_days, basis: dating.basis },
  };
}

/** The same by request alone; null for a request that did not come by DICOM. */
export async function subjectOfRequest(
  database: Queryable,
  requestId: string,
): Promise<Subject | null> {
  const submitted = await studyOfRequest(database, requestId);
  return submitted && subjectOf(database, { requestId, ...submitted });
}
