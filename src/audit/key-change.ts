import { idForm } from '../requests/ids.ts';
import type { AuditEntry } from './audit.ts';

const KEY_ID = idForm('key');

/**
 * What an entry of `key.create`, `key.rotate` or `key.revoke` tells, through whatever door: the id of
 * the key, and of the one that takes its place. What is no id of a key is left out.
 * @param named in the call; `made` in the answer.
 */
export function keyChange(named: unknown, made: unknown): NonNullable<AuditEntry['detail']> | null {
  const [key, replacement] = [...new Set([named, made])].filter(isKeyId);
  if (key === undefined) return null;
  return replacement === undefined ? { key } : { key, replacement };
}

function isKeyId(value: unknown): value is string {
  return typeof value === 'string' && KEY_ID.test(value);
}
