import type { AuditEntry, WriteAudit } from '../../src/core/audit/audit.ts';
import type { RefusalAudit } from '../../src/core/audit/refusals.ts';
import type { ErrorCode } from '../../src/platform/errors/catalogue.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import type { AssociationEnd, AssociationPeer } from '../network/service-ports.ts';

/**
 * Writes the audit entries of the DICOM listener and of queries to archives: which peer sent,
 * searched or retrieved objects of which study, and which peer was refused.
 */
export interface DicomAudit {
  arrived(peer: AssociationPeer, studyId: string): void;
  ended(peer: AssociationPeer, end: AssociationEnd): Promise<void>;
  refused(peer: AssociationPeer, code: ErrorCode): void;
  tlsRefused(address: string, reason: string): void;
  /** Records that a peer queried the studies stored here (PS3.15 A.5.3.10). */
  searched(peer: AssociationPeer, found: number): Promise<void>;
  /** Records that objects of a study were sent to a peer that retrieved them (PS3.15 A.5.3.7). */
  retrieved(
    peer: AssociationPeer,
    sent: { studyId: string; to: string; objects: number },
  ): Promise<void>;
  /**
   * Records that an archive was queried for a patient's studies; `found` is null if it did not
   * answer.
   */
  queried(archive: string, found: number | null): Promise<void>;
}

/** Refusals due to the caller's AE titles, address or certificate. Only these are audited. */
const OF_IDENTITY: ReadonlySet<ErrorCode> = new Set([
  'calling_ae_not_recognized',
  'called_ae_not_recognized',
  'certificate_not_of_calling_ae',
]);

/** Records nothing; for a gateway without an audit trail, such as a test receiver. */
export const NO_AUDIT: DicomAudit = {
  arrived() {},
  async ended() {},
  refused() {},
  tlsRefused() {},
  async searched() {},
  async retrieved() {},
  async queried() {},
};

/**
 * Writes one entry per study when its association ends, with the number of objects (PS3.15
 * A.5.3.7). If the process is killed before that, there is no entry; the objects are in the
 * database with their source and time.
 */
export function createDicomAudit(parts: {
  write: WriteAudit;
  refusals: Pick<RefusalAudit, 'refused'>;
  logger: Logger;
  now?: () => Date;
}): DicomAudit {
  const { write, refusals, logger, now = () => new Date() } = parts;
  const open = new Map<string, Map<string, number>>();
  return {
    arrived({ id }, studyId) {
      const studies = open.get(id) ?? new Map<string, number>();
      open.set(id, studies.set(studyId, (studies.get(studyId) ?? 0) + 1));
    },
    async ended({ id, callingAeTitle, address, source = null }, end) {
      const studies = [...(open.get(id) ?? [])];
      open.delete(id);
      const written = studies.map(([studyId, objects]) =>
        write({
          at: now(),
          action: 'dicom.received',
          actor: `ae:${callingAeTitle}`,
          address,
          studyId,
          outcome: 'success',
          detail: { objects, source, association: id, end },
        }),
      );
      // The objects are already durable, so a failure to audit them is only logged.
      for (const result of await Promise.allSettled(written)) {
        if (result.status === 'rejected') {
          logger.event('receipt_unaudited', { err: result.reason, association: id });
        }
      }
    },
    refused({ callingAeTitle, address }, code) {
      if (!OF_IDENTITY.has(code)) return;
      const actor = `ae:${callingAeTitle}`;
      refusals.refused({ action: 'dicom.refused', actor, address, detail: { code } });
    },
    tlsRefused(address, reason) {
      const actor = 'tls:unknown';
      refusals.refused({ action: 'dicom.tls-refused', actor, address, detail: { reason } });
    },
    async searched({ callingAeTitle, address }, found) {
      const actor = `ae:${callingAeTitle}`;
      const detail = { found };
      await write({ at: now(), action: 'dicom.query', actor, address, outcome: 'success', detail });
    },
    async retrieved({ callingAeTitle, address }, { studyId, to, objects }) {
      const actor = `ae:${callingAeTitle}`;
      const detail = { to, objects };
      const entry = { action: 'study.retrieve', outcome: 'success' } as const;
      await write({ at: now(), actor, address, studyId, detail, ...entry });
    },
    async queried(archive, found) {
      try {
        await write(queryEntry(archive, found, { actor: 'gateway', at: now() }));
      } catch (error) {
        logger.event('archive_query_unaudited', { err: error, archive });
      }
    },
  };
}

/**
 * Returns the audit entry of a query for studies (PS3.15 A.5.3.10).
 * @param found number of studies; null if the archive did not answer.
 */
export function queryEntry(
  archive: string,
  found: number | null,
  { actor, at }: { actor: string; at: Date },
): AuditEntry {
  const outcome = found === null ? 'failed' : 'success';
  return { at, action: 'dicom.query', actor, outcome, detail: { archive, found } };
}
