import type { Database } from '../../src/database/port.ts';
import { decodeDataSet, itemsOf } from '../data-set.ts';
import type { NormalizedService } from '../network/normalized-service.ts';
import { expectObjects } from './expected-objects.ts';
import { sopReferences, uidOf } from './referenced-objects.ts';
import { SERVICE_STATUS } from './service-status.ts';

/**
 * Instance Availability Notification as SCP (PS3.4 R): a PACS says which objects of a study it has.
 * When we have them all, the study is complete.
 */
export function instanceAvailabilityService({
  database,
  now,
}: {
  database: Database;
  now: () => Date;
}): NormalizedService {
  return async ({ operation, sopInstanceUid, dataSet, transferSyntax }) => {
    if (operation !== 'N-CREATE') return { status: SERVICE_STATUS.noSuchAction };
    const notification = decodeDataSet(dataSet, transferSyntax);
    const studyInstanceUid = uidOf(notification.StudyInstanceUID);
    if (!studyInstanceUid) return { status: SERVICE_STATUS.missingAttributeValue };
    const available = itemsOf(notification.ReferencedSeriesSequence).flatMap((series) =>
      sopReferences(series.ReferencedSOPSequence),
    );
    await expectObjects(database, {
      studyInstanceUid,
      statedBy: sopInstanceUid || studyInstanceUid,
      signal: 'instance-availability',
      sopInstanceUids: available.map((reference) => reference.sopInstanceUid),
      statedAt: now(),
    });
    return { status: SERVICE_STATUS.success };
  };
}
