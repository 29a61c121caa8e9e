import { type SERIES, uidOf } from '../../../pipelines/artifacts/modules.ts';
import { STORAGE_CLASS } from '../../../pipelines/dicom/sop-classes.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { fileName, instancesOf } from '../studies/study-store.ts';
import type { WorkitemRow } from './workitem.ts';

/** Objects read or created by a workitem, by series, and where they can be retrieved. */
export interface ReferencedSeries {
  study: string;
  series: string;
  objects: { sopClassUid: string; sopInstanceUid: string }[];
  /** Name of the destination where the objects can be retrieved; null if on this gateway. */
  destination: string | null;
}

/** Returns the received objects that a request reads; empty for uploaded files. */
export async function inputReferences(
  database: Queryable,
  { source, study_instance_uid: study, input }: WorkitemRow,
): Promise<ReferencedSeries[]> {
  if (source.kind !== 'dicom' || study === null) return [];
  const files = new Set(input?.files);
  const held = await instancesOf(database, { id: source.study, revision: source.revision });
  return bySeries(
    held
      .filter((instance) => files.has(fileName(instance)))
      .map(({ header }) => ({ ...header, study, destination: null })),
  );
}

/** Returns those objects of the result that were delivered as DICOM; none of a withdrawn result. */
export async function outputReferences(
  database: Queryable,
  { id, study_instance_uid: study, identity, withdrawal }: WorkitemRow,
): Promise<ReferencedSeries[]> {
  if (study === null || identity === null || withdrawal !== null) return [];
  const { rows } = await database.query<{
    destination: string;
    sopClassUid: string;
    sopInstanceUid: string;
    signedRevision: number;
  }>(
    `SELECT o.destination, o.sop_class_uid AS "sopClassUid", o.sop_instance_uid AS "sopInstanceUid",
       d.result_revision AS "signedRevision"
     FROM deliveries d JOIN delivered_objects o ON o.delivery_id = d.id
     WHERE d.request_id = $1 AND d.kind = 'dicom' AND d.state = 'delivered'
     ORDER BY o.destination, d.result_revision, o.sop_class_uid, o.sop_instance_uid`,
    [id],
  );
  return bySeries(
    rows.map(({ signedRevision, ...object }) => ({
      ...object,
      study,
      seriesInstanceUid: resultSeries(object.sopClassUid, {
        requestId: id,
        identity,
        signedRevision,
      }),
    })),
  );
}

/** The series in which each SOP class of a result is sent. Every class not listed is a report. */
const SERIES_OF: Readonly<Record<string, keyof typeof SERIES>> = {
  [STORAGE_CLASS.segmentation]: 'seg',
  [STORAGE_CLASS.labelMapSegmentation]: 'seg',
  [STORAGE_CLASS.presentationState]: 'pr',
  [STORAGE_CLASS.encapsulatedPdf]: 'doc',
  [STORAGE_CLASS.keyObjects]: 'ko',
  [STORAGE_CLASS.secondaryCapture]: 'sc',
};

function resultSeries(
  sopClassUid: string,
  subject: { requestId: string; identity: DicomIdentity; signedRevision: number },
): string {
  return uidOf(subject, `series-${SERIES_OF[sopClassUid] ?? 'sr'}`);
}

interface Referenced {
  study: string;
  seriesInstanceUid: string;
  sopClassUid: string;
  sopInstanceUid: string;
  destination: string | null;
}

function bySeries(objects: readonly Referenced[]): ReferencedSeries[] {
  const series = Map.groupBy(objects, (one) => `${one.seriesInstanceUid} ${one.destination}`);
  return [...series.values()].flatMap((members) => {
    const [first] = members;
    if (!first) return [];
    const { study, seriesInstanceUid, destination } = first;
    return {
      study,
      series: seriesInstanceUid,
      objects: members.map(({ sopClassUid, sopInstanceUid }) => ({ sopClassUid, sopInstanceUid })),
      destination,
    };
  });
}
