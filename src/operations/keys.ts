import { createKey, listKeys, revokeKey, rotateKey } from '../core/accounts/keys.ts';
import type { Database } from '../platform/database/port.ts';
import type { KeyOperations } from './operations.ts';

export function createKeyOperations(database: Database): KeyOperations {
  return {
    create: (key) => createKey(database, key),
    list: () => listKeys(database),
    rotate: (id, overlapHours) =>
      rotateKey(database, { id, overlapHours, accountId: null, testOnly: false }),
    revoke: (id) => revokeKey(database, id),
  };
}
