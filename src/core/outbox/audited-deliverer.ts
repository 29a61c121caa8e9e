import type { AuditAction, WriteAudit } from '../audit/audit.ts';
import type { Deliverer, DeliveryKind } from './delivery.ts';

/**
 * Audit actions for each kind of delivery that may reveal a patient's identity. Webhooks never do.
 * Notifications of subscriptions are audited in subscriptions/deliver.ts.
 */
const SENT: Partial<Record<DeliveryKind, { before?: AuditAction; after: AuditAction }>> = {
  dicom: { before: 'dicom.sending', after: 'dicom.sent' },
  forward: { before: 'dicom.sending', after: 'dicom.sent' },
  deidentified: { before: 'dicom.sending', after: 'dicom.sent' },
  fhir: { after: 'report.sent' },
  hl7v2: { after: 'report.sent' },
  'dicom-withdrawal': { before: 'dicom.sending', after: 'dicom.sent' },
  'fhir-withdrawal': { after: 'report.sent' },
  'hl7v2-withdrawal': { after: 'report.sent' },
  mail: { after: 'alert.sent' },
};

/**
 * Audits every attempt to send patient identity to another system: for DICOM, its beginning and its
 * outcome (PS3.15 A.5.3.3, A.5.3.7); for a report, its withdrawal or a mail, only its outcome. No
 * DICOM object is sent if the entry for the beginning cannot be written.
 * @param actorOf returns the destination as identified in the audit trail: `ae:PACS`, or the
 * destination's name.
 * @param studyOf returns our id of the study to which a forwarded object belongs.
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
        requestId,
        studyId: requestId === null ? await studyOf(object) : null,
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
        detail: delivered
          ? { ...detail, ...(sent.notSent && { notSent: true }) }
          : { ...detail, code: sent.code },
      });
      return sent;
    },
  };
}
