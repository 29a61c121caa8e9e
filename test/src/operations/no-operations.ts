import type { WriteAudit } from '../../../src/core/audit/audit.ts';
import { commandsOn, type RunByName } from '../../../src/operations/commands.ts';
import type { Operations } from '../../../src/operations/operations.ts';

const never = () => {
  throw new Error('a test does not expect this operation');
};

/** Operations that all fail; a test replaces those it needs. */
export const NO_OPERATIONS: Operations = {
  keys: { create: never, list: never, rotate: never, revoke: never },
  studies: {
    list: never,
    explain: never,
    complete: never,
    hold: never,
    release: never,
    rerun: never,
  },
  rules: {
    current: never,
    check: never,
    dryRun: never,
    judgeFile: never,
    canSave: never,
    save: never,
  },
  deliveries: {
    list: never,
    breakers: never,
    replay: never,
    replayAll: never,
    divert: never,
    divertAll: never,
    close: never,
  },
  holds: { list: never, show: never, release: never, reject: never },
  patients: { merges: never, separate: never },
  quarantine: { list: never, register: never, remove: never },
  alerts: { acknowledge: never },
  results: { withdraw: never },
  archives: { find: never, fetch: never, retrieval: never },
  retention: { remove: never, clean: never },
  audit: { verify: never, export: never },
  together: never,
  doctor: never,
};

/** Returns the commands on some operations, without transactions. */
export function commandsOf(parts: Partial<Operations>, writeAudit: WriteAudit): RunByName {
  const operations: Operations = {
    ...NO_OPERATIONS,
    together: (work) => work(operations, writeAudit),
    ...parts,
  };
  return commandsOn(operations, writeAudit);
}
