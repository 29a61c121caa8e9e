import { expect, test } from 'vitest';
import type { AuditEntry } from '../../../../src/core/audit/audit.ts';
import { auditedDeliverer } from '../../../../src/core/outbox/audited-deliverer.ts';
import { DELIVERY } from '../../../fhir/delivering.ts';

test.each(['fhir', 'hl7v2'] as const)(
  'the audit records for a report (%s) that it was not sent',
  async (kind) => {
    const written: AuditEntry[] = [];
    const send = async () => ({ outcome: 'delivered', notSent: true, detail: 'Not sent' }) as const;
    const audited = auditedDeliverer(
      { kind, send },
      {
        writeAudit: async (entry) => void written.push(entry),
        actorOf: (destination) => destination,
        studyOf: async () => null,
      },
    );
    await audited.send(DELIVERY, AbortSignal.timeout(1000));
    expect(written).toMatchObject([
      { action: 'report.sent', outcome: 'success', detail: { notSent: true } },
    ]);
  },
);
