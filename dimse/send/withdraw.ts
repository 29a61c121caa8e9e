import { OBJECT_SERIES, type ObjectForms } from '../../pipelines/artifacts/dicom-objects.ts';
import {
  buildRejectionNote,
  type RejectedObject,
} from '../../pipelines/artifacts/ko/rejection-note.ts';
import { uidOf } from '../../pipelines/artifacts/modules.ts';
import type { Withdrawal } from '../../pipelines/contract/withdrawal.ts';
import type { Subject } from '../../pipelines/dicom/subject.ts';
import {
  type Deliverer,
  failed,
  type RequestDelivery,
  type StoredObject,
} from '../../src/core/outbox/delivery.ts';
import { NOT_PRESENT, type SentDelivery } from '../../src/core/outbox/withdrawals.ts';
import { readEnvelope } from '../../src/core/requests/results.ts';
import { type DicomDelivererOptions, objectsOf } from './deliver.ts';
import { outgoingBuffer, sendOutcomeOf } from './store-scu.ts';

interface DicomWithdrawerOptions extends DicomDelivererOptions {
  /** Returns the withdrawal of a request's result. */
  withdrawalOf: (requestId: string) => Promise<Withdrawal>;
  /** Returns the deliveries whose objects the PACS has or may have. */
  sentTo: (delivery: RequestDelivery) => Promise<readonly SentDelivery[]>;
}

/**
 * Withdraws results from PACS by rejection notes. If a PACS does not act on them, people have to
 * withdraw the result there: the delivery then ends as dead, and says so.
 */
export function createDicomWithdrawer(
  options: DicomWithdrawerOptions,
): Deliverer<'dicom-withdrawal'> {
  const { destinations, transports, results } = options;
  return {
    kind: 'dicom-withdrawal',
    async send(delivery, signal) {
      const { requestId, destination: name } = delivery;
      const destination = destinations.find((each) => each.name === name);
      const transport = transports.get(name);
      if (!destination || !transport) {
        return failed('destination_not_configured', `There is no PACS named "${name}".`);
      }
      const sent = await options.sentTo(delivery);
      if (sent.length === 0) return NOT_PRESENT;
      if (!destination.rejectionNotes) {
        return failed(
          'withdrawal_by_hand',
          'The PACS has no `rejectionNotes: true`, so its objects of this result must be deleted by hand.',
        );
      }
      const result = await readEnvelope(results, requestId);
      const subject = await options.subject(requestId);
      if (result === null || subject === null) {
        return failed('expired', 'The result or its study has been removed.');
      }
      const rejected: RejectedObject[] = [];
      for (const each of sent) {
        const stored =
          each.stored ?? (await firstForms({ ...each, requestId }, destination, options));
        rejected.push(...stored.map((object) => inSeries(object, each, subject)));
      }
      if (rejected.length === 0) return NOT_PRESENT;
      const withdrawal = await options.withdrawalOf(requestId);
      const note = buildRejectionNote(result, subject, withdrawal, { destination: name, rejected });
      const outcome = sendOutcomeOf(
        await transport.send([[outgoingBuffer(note)]], signal),
        transport,
      );
      return outcome.outcome === 'delivered' ? { ...outcome, commits: false } : outcome;
    },
  };
}

/**
 * Returns the objects of a delivery whose response was lost, or that was made before objects were
 * recorded. If an object has several forms, it is the preferred one, which a PACS would have
 * stored.
 */
async function firstForms(
  sent: SentDelivery & { requestId: string },
  destination: DicomWithdrawerOptions['destinations'][number],
  options: DicomWithdrawerOptions,
): Promise<StoredObject[]> {
  const objects: readonly ObjectForms[] = (await objectsOf(sent, destination, options)) ?? [];
  return objects.flatMap(([file]) => (file ? [outgoingBuffer(file)] : []));
}

function inSeries(
  { sopClassUid, sopInstanceUid }: StoredObject,
  { object, resultRevision }: SentDelivery,
  subject: Subject,
): RejectedObject {
  const series = OBJECT_SERIES[object as keyof typeof OBJECT_SERIES];
  return {
    sopClassUid,
    sopInstanceUid,
    seriesInstanceUid: uidOf({ ...subject, signedRevision: resultRevision }, `series-${series}`),
  };
}
