import type { KeyObject } from 'node:crypto';
import type { Queryable } from '../database/port.ts';
import { checkSeal, type Finding, type Seal } from './chain.ts';
import { auditRows } from './row.ts';
import { sealsAfter } from './seal-store.ts';
import type { Checkpoint } from './sealing.ts';

const SEALS_AT_A_TIME = 100;

export interface AuditVerdict {
  /** True when every sealed row is as it was. */
  intact: boolean;
  seals: number;
  rows: number;
  /** Rows after the last seal, a second's worth while a gateway runs. */
  unsealed: number;
  findings: Finding[];
}

/**
 * Goes through the whole chain, oldest first.
 * @param keys public keys whose seals count, by id.
 * @param checkpoint what the data folder remembers of the chain: finds seals cut off at its end.
 */
export async function verifyAudit(
  database: Queryable,
  keys: ReadonlyMap<string, KeyObject>,
  checkpoint: Checkpoint | null,
): Promise<AuditVerdict> {
  const findings: Finding[] = [];
  let before: Seal | null = null;
  let seals = 0;
  let rows = 0;
  let remembered = checkpoint === null;
  for (;;) {
    const batch: Seal[] = await sealsAfter(database, before?.id ?? 0n, SEALS_AT_A_TIME);
    if (batch.length === 0) break;
    for (const seal of batch) {
      const range = { after: before?.lastRow ?? LOWEST, until: seal.lastRow, limit: MOST };
      const covered = await auditRows(database, range);
      findings.push(...checkSeal(seal, before, covered, keys.get(seal.keyId) ?? null));
      if (checkpoint?.seal === String(seal.id)) {
        remembered = true;
        if (checkpoint.head !== seal.head.toString('hex')) {
          findings.push({ what: 'seal altered', seal: seal.id });
        }
      }
      seals += 1;
      rows += seal.rowIds.length;
      before = seal;
    }
  }
  if (!remembered && checkpoint) {
    findings.push({ what: 'seal missing', seal: BigInt(checkpoint.seal) });
  }
  const unsealed = await countAfter(database, before?.lastRow ?? 0n);
  return { intact: findings.length === 0, seals, rows, unsealed, findings };
}

/** The lowest id of a bigint column: what was put before the first row is seen as well. */
const LOWEST = -(2n ** 63n);
/** More than a seal can cover: rows put among them are seen as well. */
const MOST = 1_000_000;

async function countAfter(database: Queryable, id: bigint): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM audit WHERE id > $1',
    [String(id)],
  );
  return rows[0]?.count ?? 0;
}
