import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { runOperation } from './operations.ts';

interface Verdict {
  intact: boolean;
  seals: number;
  rows: number;
  unsealed: number;
  findings: { what: string; seal: string; row?: string }[];
}

/** Names everything in the audit that is not as it was sealed. @returns 0 when nothing is. */
export async function verifyAudit({ publicKey = [] }: { publicKey?: string[] }): Promise<number> {
  const { intact, seals, rows, unsealed, findings } = await runOperation<Verdict>('audit.verify', {
    publicKeys: publicKey.map((path) => resolve(path)),
    person: userInfo().username,
  });
  for (const { what, seal, row } of findings) {
    process.stdout.write(
      `${what}: ${row === undefined ? `seal ${seal}` : `row ${row} (seal ${seal})`}\n`,
    );
  }
  const rest = unsealed === 0 ? '' : `; ${unsealed} after the last seal`;
  const verdict = intact ? 'the audit is intact' : 'THE AUDIT IS NOT INTACT';
  process.stdout.write(`${verdict}: ${rows} rows in ${seals} seals${rest}\n`);
  return intact ? 0 : 1;
}

/** Writes the audit to standard output, an event a line: audit messages, AuditEvents or our own. */
export async function exportAudit({ format }: { format: string }): Promise<void> {
  let after: string | null = '0';
  while (after !== null) {
    const page: { lines: string[]; next: string | null } = await runOperation('audit.export', {
      format,
      after,
      person: userInfo().username,
    });
    for (const line of page.lines) process.stdout.write(`${line}\n`);
    after = page.next;
  }
}
