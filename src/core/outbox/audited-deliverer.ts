import type { AuditAction, WriteAudit } from '../audit/audit.ts';
import type { Deliverer, DeliveryKind } from './delivery.ts';

/** Deliveries that carry identity, and what they are to the audit; webhooks carry none. */
const SENT: Partial<Record<DeliveryKind, { before?: AuditAction; after: AuditAction }>> = {
  dicom: { before: 'dicom.sending', after: 'dicom.sent' },
  forward: { before: 'dicom.sending', after: 'dicom.sent' },
  fhir: { after: 'report.sent' },
};

/**
 * Writes down each attempt to send identity to another node: of DICOM before it begins and how it
 * ended (PS3.15 A.5.3.3, A.5.3.7), of a report how it ended. What cannot be written down is not sent.
 * @param actorOf who the destination is to the audit: `ae:PACS`, its name.
 * @param studyOf our study id of a received object that is forwarded.
 */
export function auditedDeliverer(
  deliverer: Deliverer,
  parts: {
    writeAudit: WriteAudit;
    actorOf(destination: string): string;
    studyOf(object: string): Promise<string | null>;
  },
): Deliverer {
  const actions = SENT[deliverer.kind];
  if (!actions) return deliverer;
  const { writeAudit, actorOf, studyOf } = parts;
  return {
    ...deliverer,
    async send(delivery, signal) {
      const { id, destination, object, attempt, requestId } = delivery;
      const about = {
        actor: actorOf(destination),
        requestId: requestId || null,
        studyId: requestId ? null : await studyOf(object),
      };
      const detail = { delivery: id, destination, object, attempt };
      if (actions.before) {
        await writeAudit({
          ...about,
          at: new Date(),
          action: actions.before,
          outcome: 'success',
          detail,
        });
      }
      const sent = await deliverer.send(delivery, signal);
      const delivered = sent.outcome === 'delivered';
      await writeAudit({
        ...about,
        at: new Date(),
        action: actions.after,
        outcome: delivered ? 'success' : 'failed',
        detail: delivered ? detail : { ...detail, code: sent.code },
      });
      return sent;
    },
  };
}
