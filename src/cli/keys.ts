import type { KeyRecord } from '../accounts/keys.ts';
import { runOperation } from './operations.ts';

/** Prints the new key alone on standard output; it is shown this once. */
export async function createKey(options: {
  name: string;
  test?: boolean;
  scopes: string;
  consoleRole?: string;
}): Promise<void> {
  const { key } = await runOperation<{ key: string }>('keys.create', {
    name: options.name,
    test: options.test ?? false,
    scopes: options.scopes.split(',').map((scope) => scope.trim()),
    ...(options.consoleRole && { consoleRole: options.consoleRole }),
  });
  process.stdout.write(`${key}\n`);
}

export async function listKeys(): Promise<void> {
  const keys = await runOperation<KeyRecord[]>('keys.list', {});
  for (const key of keys) {
    const state = key.revoked_at ? 'revoked' : key.test ? 'test' : 'live';
    const used = key.last_used_at ? `last used ${String(key.last_used_at)}` : 'never used';
    const role = key.console_role ? `  console ${key.console_role}` : '';
    process.stdout.write(
      `${key.id}  ${state}  ${key.name}  ${key.scopes.join(',')}${role}  ${used}\n`,
    );
  }
}

/** Prints the key that takes the place of another, alone on standard output; it is shown this once. */
export async function rotateKey(
  id: string,
  { overlapHours }: { overlapHours: number },
): Promise<void> {
  const { key } = await runOperation<{ key: string }>('keys.rotate', { id, overlapHours });
  process.stdout.write(`${key}\n`);
  process.stderr.write(`${id} works for ${overlapHours} more hours at most\n`);
}

export async function revokeKey(id: string): Promise<void> {
  await runOperation('keys.revoke', { id });
  process.stdout.write(`${id} is revoked\n`);
}
