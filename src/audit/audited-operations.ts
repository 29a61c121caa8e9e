import type { AdminOperations } from '../admin/socket.ts';
import type { AuditAction } from './actions.ts';
import type { AuditEntry, WriteAudit } from './audit.ts';

/** Commands of the admin socket that are written down; the others change nothing and show no one. */
const COMMANDS: Readonly<Record<string, AuditAction>> = {
  'keys.create': 'key.create',
  'keys.rotate': 'key.rotate',
  'keys.revoke': 'key.revoke',
  'studies.complete': 'study.complete',
  'studies.release': 'study.release',
  'studies.rerun': 'study.rerun',
  'archives.fetch': 'study.fetch',
  'deliveries.replay': 'delivery.replay',
  'deliveries.replay-all': 'delivery.replay',
  'deliveries.divert': 'delivery.divert',
  'deliveries.divert-all': 'delivery.divert',
  'holds.show': 'hold.show',
  'holds.release': 'hold.release',
  'holds.reject': 'hold.reject',
  'audit.verify': 'audit.verify',
  'audit.export': 'audit.export',
};

/** The same operations, each writing down who ran it and how it ended. */
export function auditedOperations(
  operations: AdminOperations,
  writeAudit: WriteAudit,
): AdminOperations {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => {
      const action = COMMANDS[name];
      if (!action) return [name, operation];
      return [
        name,
        async (parameters: unknown) => {
          const entry = entryOf(action, parameters);
          try {
            const answer = await operation(parameters);
            await writeAudit({ ...entry, outcome: 'success' });
            return answer;
          } catch (error) {
            await writeAudit({ ...entry, outcome: 'refused' });
            throw error;
          }
        },
      ];
    }),
  );
}

/** Ids that a command names: of a study, a delivery, a key. */
const ID = /^[A-Za-z0-9_.-]{1,64}$/;

function entryOf(action: AuditAction, parameters: unknown): Omit<AuditEntry, 'outcome'> {
  const given = (typeof parameters === 'object' && parameters !== null ? parameters : {}) as Record<
    string,
    unknown
  >;
  const person = typeof given.person === 'string' ? given.person : null;
  const named = [given.id, given.study].find(
    (value): value is string => typeof value === 'string' && ID.test(value),
  );
  return {
    at: new Date(),
    action,
    actor: person === null ? 'command-line' : `person:${person}`,
    detail: named === undefined ? null : { id: named },
  };
}
