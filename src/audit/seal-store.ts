import type { Queryable } from '../database/port.ts';
import type { Seal } from './chain.ts';

interface SealRow {
  id: string;
  sealed_at: Date;
  last_row: string;
  row_ids: string[];
  row_hashes: string;
  previous: string;
  head: string;
  key_id: string;
  signature: string;
}

const COLUMNS = `id::text, sealed_at, last_row::text, row_ids::text[] AS row_ids,
  encode(row_hashes, 'hex') AS row_hashes, encode(previous, 'hex') AS previous,
  encode(head, 'hex') AS head, key_id, encode(signature, 'hex') AS signature`;

const bytes = (hex: string) => Buffer.from(hex, 'hex');

function asSeal(row: SealRow): Seal {
  return {
    id: BigInt(row.id),
    sealedAt: row.sealed_at,
    lastRow: BigInt(row.last_row),
    rowIds: row.row_ids.map(BigInt),
    rowHashes: bytes(row.row_hashes),
    previous: bytes(row.previous),
    head: bytes(row.head),
    keyId: row.key_id,
    signature: bytes(row.signature),
  };
}

/** Null when nothing has been sealed. */
export async function lastSeal(database: Queryable): Promise<Seal | null> {
  const { rows } = await database.query<SealRow>(
    `SELECT ${COLUMNS} FROM audit_seals ORDER BY audit_seals.id DESC LIMIT 1`,
  );
  return rows[0] ? asSeal(rows[0]) : null;
}

/** The next seals after one, oldest first. */
export async function sealsAfter(database: Queryable, id: bigint, limit: number): Promise<Seal[]> {
  const { rows } = await database.query<SealRow>(
    `SELECT ${COLUMNS} FROM audit_seals WHERE id > $1 ORDER BY audit_seals.id LIMIT $2`,
    [String(id), limit],
  );
  return rows.map(asSeal);
}

/** Up to which row the audit is sealed: rows up to it can no longer change. */
export async function sealedUpTo(database: Queryable): Promise<bigint> {
  const { rows } = await database.query<{ last_row: string }>(
    'SELECT last_row::text FROM audit_seals ORDER BY id DESC LIMIT 1',
  );
  return BigInt(rows[0]?.last_row ?? 0);
}

export async function storeSeal(database: Queryable, seal: Seal): Promise<void> {
  await database.query(
    `INSERT INTO audit_seals
       (id, sealed_at, last_row, row_ids, row_hashes, previous, head, key_id, signature)
     VALUES ($1, $2, $3, $4::bigint[], decode($5, 'hex'), decode($6, 'hex'), decode($7, 'hex'), $8,
       decode($9, 'hex'))`,
    [
      String(seal.id),
      seal.sealedAt,
      String(seal.lastRow),
      seal.rowIds.map(String),
      seal.rowHashes.toString('hex'),
      seal.previous.toString('hex'),
      seal.head.toString('hex'),
      seal.keyId,
      seal.signature.toString('hex'),
    ],
  );
}
