import { createHash, type KeyObject, sign, verify } from 'node:crypto';
import type { AuditRow } from './row.ts';

/** SHA-256. */
const HASH_BYTES = 32;

/** What the first row is chained to. */
const GENESIS: Buffer = Buffer.alloc(HASH_BYTES);

/** Every member of a row, in one order for good: a member that is added later goes to the end. */
function canonical(row: AuditRow): string {
  const { detail } = row;
  // The database keeps the members of a JSON object in an order of its own.
  const sorted = detail && Object.entries(detail).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([
    row.id,
    row.at.toISOString(),
    row.action,
    row.account_id,
    row.key_id,
    row.actor,
    row.address,
    row.request_id,
    row.study_id,
    row.status,
    row.call_id,
    row.outcome,
    sorted,
  ]);
}

/** SHA-256 over the hash of the row before and the content of this one. */
function chainHash(previous: Uint8Array, row: AuditRow): Buffer {
  return createHash('sha256').update(previous).update(canonical(row)).digest();
}

/** One entry of `audit_seals`: the rows since the seal before it. */
export interface Seal {
  id: bigint;
  sealedAt: Date;
  lastRow: bigint;
  rowIds: readonly bigint[];
  /** `HASH_BYTES` for each row. */
  rowHashes: Buffer;
  previous: Buffer;
  /** The hash of the last row. */
  head: Buffer;
  keyId: string;
  signature: Buffer;
}

/** What a seal signs: its place, how far it reaches, and the head of the chain there. */
function signedText({ id, sealedAt, lastRow, head }: Omit<Seal, 'signature'>): Buffer {
  const lines = ['sonogate audit 1', id, sealedAt.toISOString(), lastRow, head.toString('hex')];
  return Buffer.from(lines.join('\n'));
}

/** Chains rows to the seal before them and signs where that leads (Ed25519). */
export function sealRows(
  rows: readonly AuditRow[],
  before: Pick<Seal, 'id' | 'head'> | null,
  { key, keyId, at }: { key: KeyObject; keyId: string; at: Date },
): Seal {
  const previous = before?.head ?? GENESIS;
  const hashes: Buffer[] = [];
  for (const row of rows) hashes.push(chainHash(hashes.at(-1) ?? previous, row));
  const seal = {
    id: (before?.id ?? 0n) + 1n,
    sealedAt: at,
    lastRow: BigInt(rows.at(-1)?.id ?? 0),
    rowIds: rows.map(({ id }) => BigInt(id)),
    rowHashes: Buffer.concat(hashes),
    previous,
    head: hashes.at(-1) ?? previous,
    keyId,
  };
  return { ...seal, signature: sign(null, signedText(seal), key) };
}

/** Something that is not as it was when it was sealed; `row` and `seal` are ids. */
export type Finding =
  | { what: 'row altered' | 'row removed' | 'row inserted'; row: bigint; seal: bigint }
  | { what: 'seal missing' | 'seal altered' | 'signature wrong' | 'key unknown'; seal: bigint };

/**
 * Compares a seal with the one before it and with the rows that the audit has in its range.
 * @param publicKey of the key that it names; null when we do not have it.
 */
export function checkSeal(
  seal: Seal,
  before: Pick<Seal, 'id' | 'head'> | null,
  rows: readonly AuditRow[],
  publicKey: KeyObject | null,
): Finding[] {
  const findings: Finding[] = [];
  const expectedId = (before?.id ?? 0n) + 1n;
  for (let id = expectedId; id < seal.id; id++) findings.push({ what: 'seal missing', seal: id });
  const inOrder = seal.id === expectedId;
  const own = hashesOf(seal);
  const consistent =
    own.length === seal.rowIds.length && (own.at(-1) ?? seal.previous).equals(seal.head);
  if (!consistent || (inOrder && !seal.previous.equals(before?.head ?? GENESIS))) {
    findings.push({ what: 'seal altered', seal: seal.id });
  }
  if (publicKey === null) findings.push({ what: 'key unknown', seal: seal.id });
  else if (!verify(null, signedText(seal), publicKey, seal.signature)) {
    findings.push({ what: 'signature wrong', seal: seal.id });
  }
  return [...findings, ...checkRows(seal, own, rows)];
}

function checkRows(seal: Seal, hashes: readonly Buffer[], rows: readonly AuditRow[]): Finding[] {
  const there = new Map(rows.map((row) => [BigInt(row.id), row]));
  const findings = seal.rowIds.flatMap((id, n): Finding[] => {
    const row = there.get(id);
    there.delete(id);
    if (!row) return [{ what: 'row removed', row: id, seal: seal.id }];
    const hash = chainHash(hashes[n - 1] ?? seal.previous, row);
    return hashes[n]?.equals(hash) ? [] : [{ what: 'row altered', row: id, seal: seal.id }];
  });
  const inserted = [...there.keys()].map((row): Finding => {
    return { what: 'row inserted', row, seal: seal.id };
  });
  return [...findings, ...inserted];
}

function hashesOf({ rowHashes }: Seal): Buffer[] {
  const count = Math.floor(rowHashes.length / HASH_BYTES);
  return Array.from({ length: count }, (_, n) =>
    rowHashes.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES),
  );
}
