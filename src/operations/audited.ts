import type { AuditAction, AuditEntry, WriteAudit } from '../core/audit/audit.ts';
import { keyChange } from '../core/audit/audit.ts';
import type { AdminOperations } from './socket.ts';

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
            const detail = detailOf(action, parameters, answer);
            await writeAudit({ ...entry, outcome: 'success', detail });
            return answer;
          } catch (error) {
            const detail = detailOf(action, parameters, null);
            await writeAudit({ ...entry, outcome: 'refused', detail });
            throw error;
          }
        },
      ];
    }),
  );
}

function entryOf(
  action: AuditAction,
  parameters: unknown,
): Pick<AuditEntry, 'at' | 'action' | 'actor'> {
  const { person } = membersOf(parameters);
  const actor = typeof person === 'string' ? `person:${person}` : 'command-line';
  return { at: new Date(), action, actor };
}

/** Ids that a command names: of a study, a delivery, a held report. */
const ID = /^[A-Za-z0-9_.-]{1,64}$/;
const OF_KEYS: ReadonlySet<AuditAction> = new Set(['key.create', 'key.rotate', 'key.revoke']);

function detailOf(action: AuditAction, parameters: unknown, answer: unknown): AuditEntry['detail'] {
  const { id, study } = membersOf(parameters);
  if (OF_KEYS.has(action)) return keyChange(id, membersOf(membersOf(answer).record).id);
  const named = [id, study].find(
    (value): value is string => typeof value === 'string' && ID.test(value),
  );
  return named === undefined ? null : { id: named };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
