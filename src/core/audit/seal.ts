import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../platform/rounds.ts';
import { type AuditRow, auditRows } from './audit.ts';

const HASH_BYTES = 32;

/** The hash that precedes the first row of the chain. */
const GENESIS: Buffer = Buffer.alloc(HASH_BYTES);

/**
 * Serialises every member of a row in a fixed order. Members added by later versions go at the end.
 */
function canonical(row: AuditRow): string {
  const { detail } = row;
  // Sorted, because the database does not preserve the order of the members of a JSON object.
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

function chainHash(previous: Uint8Array, row: AuditRow): Buffer {
  return createHash('sha256').update(previous).update(canonical(row)).digest();
}

/** One entry of `audit_seals`: the rows since the previous seal. */
interface Seal {
  id: bigint;
  sealedAt: Date;
  lastRow: bigint;
  rowIds: readonly bigint[];
  /** The hashes of the rows, one after the other, `HASH_BYTES` bytes each. */
  rowHashes: Buffer;
  previous: Buffer;
  /** The hash of the last row. */
  head: Buffer;
  keyId: string;
  signature: Buffer;
}

/**
 * Returns the bytes that a seal signs: its number, its time, its last row, and the head of the
 * chain at that row.
 */
function signedText({ id, sealedAt, lastRow, head }: Omit<Seal, 'signature'>): Buffer {
  const lines = ['sonogate audit 1', id, sealedAt.toISOString(), lastRow, head.toString('hex')];
  return Buffer.from(lines.join('\n'));
}

/** Chains rows to the previous seal and signs the new head (Ed25519). */
function sealRows(
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

/** A discrepancy between the audit trail and its seals. `row` and `seal` are ids. */
type Finding =
  | { what: 'row_altered' | 'row_removed' | 'row_inserted'; row: bigint; seal: bigint }
  | { what: 'seal_missing' | 'seal_altered' | 'signature_wrong' | 'key_unknown'; seal: bigint };

/**
 * Checks a seal against the previous one and against the audit rows it covers.
 * @param publicKey the public half of the key that made the seal; null if we do not have that key.
 */
function checkSeal(
  seal: Seal,
  before: Pick<Seal, 'id' | 'head'> | null,
  rows: readonly AuditRow[],
  publicKey: KeyObject | null,
): Finding[] {
  const findings: Finding[] = [];
  const expectedId = (before?.id ?? 0n) + 1n;
  for (let id = expectedId; id < seal.id; id++) findings.push({ what: 'seal_missing', seal: id });
  const inOrder = seal.id === expectedId;
  const own = hashesOf(seal);
  const consistent =
    own.length === seal.rowIds.length && (own.at(-1) ?? seal.previous).equals(seal.head);
  if (!consistent || (inOrder && !seal.previous.equals(before?.head ?? GENESIS))) {
    findings.push({ what: 'seal_altered', seal: seal.id });
  }
  if (publicKey === null) findings.push({ what: 'key_unknown', seal: seal.id });
  else if (!verify(null, signedText(seal), publicKey, seal.signature)) {
    findings.push({ what: 'signature_wrong', seal: seal.id });
  }
  return [...findings, ...checkRows(seal, own, rows)];
}

function checkRows(seal: Seal, hashes: readonly Buffer[], rows: readonly AuditRow[]): Finding[] {
  const there = new Map(rows.map((row) => [BigInt(row.id), row]));
  const findings = seal.rowIds.flatMap((id, n): Finding[] => {
    const row = there.get(id);
    there.delete(id);
    if (!row) return [{ what: 'row_removed', row: id, seal: seal.id }];
    const hash = chainHash(hashes[n - 1] ?? seal.previous, row);
    return hashes[n]?.equals(hash) ? [] : [{ what: 'row_altered', row: id, seal: seal.id }];
  });
  const inserted = [...there.keys()].map((row): Finding => {
    return { what: 'row_inserted', row, seal: seal.id };
  });
  return [...findings, ...inserted];
}

function hashesOf({ rowHashes }: Seal): Buffer[] {
  const count = Math.floor(rowHashes.length / HASH_BYTES);
  return Array.from({ length: count }, (_, n) =>
    rowHashes.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES),
  );
}

const PRIVATE_KEY = 'seal-key.pem';
const PUBLIC_SUFFIX = '.pub.pem';

/**
 * Returns the folder, inside the data folder, that holds the audit keys and the last chain head.
 */
function auditFolder(dataDir: string): string {
  return join(dataDir, 'audit');
}

export interface SealKey {
  key: KeyObject;
  /** SHA-256 of the public key, in hexadecimal digits. */
  keyId: string;
}

/**
 * Returns the Ed25519 key with which this data folder seals its audit trail. It is created at first
 * use, and only the owner of the file can read it. The public key is stored in the same folder; the
 * installation should also keep a copy in a different place.
 */
export async function loadSealKey(dataDir: string): Promise<SealKey> {
  const folder = auditFolder(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, PRIVATE_KEY);
  const pem = await readFile(path, 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    const { privateKey } = generateKeyPairSync('ed25519');
    await writeOnce(path, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    // If two processes start at the same time, only one of them creates the key, and both read it.
    return readFile(path, 'utf8');
  });
  const key = createPrivateKey(pem);
  const publicKey = createPublicKey(key);
  const keyId = keyIdOf(publicKey);
  const spki = publicKey.export({ type: 'spki', format: 'pem' });
  await writeOnce(join(folder, `${keyId}${PUBLIC_SUFFIX}`), spki);
  return { key, keyId };
}

/**
 * Returns the trusted public keys, by id: those stored with our own key, and those in the PEM files
 * given by the caller.
 */
export async function loadPublicKeys(
  dataDir: string,
  more: readonly string[] = [],
): Promise<Map<string, KeyObject>> {
  const folder = auditFolder(dataDir);
  const names = await ifMissing(readdir(folder), []);
  const beside = names.filter((name) => name.endsWith(PUBLIC_SUFFIX));
  const keys = new Map<string, KeyObject>();
  for (const path of [...beside.map((name) => join(folder, name)), ...more]) {
    const key = createPublicKey(await readFile(path, 'utf8'));
    keys.set(keyIdOf(key), key);
  }
  return keys;
}

function keyIdOf(publicKey: KeyObject): string {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex');
}

async function writeOnce(path: string, content: string | Buffer): Promise<void> {
  const making = `${path}.${randomUUID()}`;
  const file = await open(making, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await link(making, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(making);
}

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

async function lastSeal(database: Queryable): Promise<Seal | null> {
  const { rows } = await database.query<SealRow>(
    `SELECT ${COLUMNS} FROM audit_seals ORDER BY audit_seals.id DESC LIMIT 1`,
  );
  return rows[0] ? asSeal(rows[0]) : null;
}

async function sealsAfter(database: Queryable, id: bigint): Promise<Seal[]> {
  const { rows } = await database.query<SealRow>(
    `SELECT ${COLUMNS} FROM audit_seals WHERE id > $1 ORDER BY audit_seals.id LIMIT $2`,
    [String(id), SEALS_AT_A_TIME],
  );
  return rows.map(asSeal);
}

/**
 * Returns the id of the last sealed row, or 0 if no row is sealed. No further row up to it can
 * appear.
 */
export async function sealedUpTo(database: Queryable): Promise<bigint> {
  const { rows } = await database.query<{ last_row: string }>(
    'SELECT last_row::text FROM audit_seals ORDER BY id DESC LIMIT 1',
  );
  return BigInt(rows[0]?.last_row ?? 0);
}

async function storeSeal(database: Queryable, seal: Seal): Promise<void> {
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

const EVERY_MILLISECONDS = 1000;
/** Maximum number of rows per seal. Further rows follow in the next seal. */
const MOST_ROWS = 5000;
/**
 * Milliseconds to wait for the lock. If a writer holds it for longer, the rows are sealed a second
 * later.
 */
const LOCK_TIMEOUT_MILLISECONDS = 200;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Seals the committed rows, at most `MOST_ROWS` of them. A row gets its id before it is committed,
 * so a row with a lower id could still appear after a seal. The audit table is therefore locked
 * first: the lock is granted only when every transaction that has written to the table has ended.
 * Only one process seals at a time.
 * @returns the seal; null if there was nothing to seal, or if another process was writing or
 * sealing.
 */
export async function sealAudit(database: Database, key: SealKey, at: Date): Promise<Seal | null> {
  if (!(await hasUnsealedRows(database))) return null;
  try {
    return await database.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MILLISECONDS}`);
      await tx.query('LOCK TABLE audit_seals IN EXCLUSIVE MODE');
      const before = await lastSeal(tx);
      const after = before?.lastRow ?? 0n;
      if (!(await hasRowsAfter(tx, after))) return null;
      await tx.query('LOCK TABLE audit IN SHARE MODE');
      const all = { after, until: HIGHEST, limit: MOST_ROWS };
      const seal = sealRows(await auditRows(tx, all), before, { ...key, at });
      await storeSeal(tx, seal);
      return seal;
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return null;
    throw error;
  }
}

/** Takes no lock, because it runs every second and usually there is nothing to seal. */
async function hasUnsealedRows(database: Queryable): Promise<boolean> {
  const { rows } = await database.query<{ unsealed: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM audit WHERE id > COALESCE(
       (SELECT last_row FROM audit_seals ORDER BY id DESC LIMIT 1), 0)) AS unsealed`,
  );
  return rows[0]?.unsealed === true;
}

/** The highest value of a bigint column. */
const HIGHEST = 2n ** 63n - 1n;

async function hasRowsAfter(tx: Queryable, after: bigint): Promise<boolean> {
  const { rows } = await tx.query('SELECT 1 FROM audit WHERE id > $1 ORDER BY id LIMIT 1', [
    String(after),
  ]);
  return rows.length > 0;
}

/**
 * Head of the chain at the last seal made from this data folder. It is kept outside the database so
 * that tampering with the database does not go unnoticed.
 */
interface Checkpoint {
  seal: string;
  head: string;
}

const CHECKPOINT = 'checkpoint.json';

/** Reads the chain head stored in the data folder; null before the first seal. */
export async function readCheckpoint(dataDir: string): Promise<Checkpoint | null> {
  const path = join(auditFolder(dataDir), CHECKPOINT);
  const text = await ifMissing(readFile(path, 'utf8'), null);
  return text === null ? null : (JSON.parse(text) as Checkpoint);
}

async function writeCheckpoint(dataDir: string, { id, head }: Seal): Promise<void> {
  const path = join(auditFolder(dataDir), CHECKPOINT);
  const checkpoint: Checkpoint = { seal: String(id), head: head.toString('hex') };
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(checkpoint));
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

/** Seals every second until stopped, and once more when stopping. */
export async function startSealing(parts: {
  database: Database;
  dataDir: string;
  logger: Logger;
  now?: () => Date;
}): Promise<Rounds> {
  const { database, dataDir, logger, now = () => new Date() } = parts;
  const key = await loadSealKey(dataDir);
  return startRounds({
    async work() {
      const made = await sealAudit(database, key, now());
      if (made) await writeCheckpoint(dataDir, made);
    },
    pauseMilliseconds: EVERY_MILLISECONDS,
    onceMoreAtStop: true,
    ...logRounds(logger, 'sealing of the audit', (error) =>
      logger.event('audit_unsealed', { err: error }),
    ),
  });
}

const SEALS_AT_A_TIME = 100;

export interface AuditVerdict {
  /** True if there are no findings. */
  intact: boolean;
  seals: number;
  rows: number;
  /** Number of rows after the last seal: about one second's worth while a gateway is running. */
  unsealed: number;
  findings: Finding[];
}

/**
 * Checks the whole chain, oldest first.
 * @param keys trusted public keys, by id.
 * @param checkpoint chain head recorded in the data folder, which reveals whether seals were
 * removed from the end of the chain.
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
    const batch: Seal[] = await sealsAfter(database, before?.id ?? 0n);
    if (batch.length === 0) break;
    for (const seal of batch) {
      const range = { after: before?.lastRow ?? LOWEST, until: seal.lastRow, limit: MOST };
      const covered = await auditRows(database, range);
      findings.push(...checkSeal(seal, before, covered, keys.get(seal.keyId) ?? null));
      if (checkpoint?.seal === String(seal.id)) {
        remembered = true;
        if (checkpoint.head !== seal.head.toString('hex')) {
          findings.push({ what: 'seal_altered', seal: seal.id });
        }
      }
      seals += 1;
      rows += seal.rowIds.length;
      before = seal;
    }
  }
  if (!remembered && checkpoint) {
    findings.push({ what: 'seal_missing', seal: BigInt(checkpoint.seal) });
  }
  const unsealed = await countAfter(database, before?.lastRow ?? 0n);
  return { intact: findings.length === 0, seals, rows, unsealed, findings };
}

/**
 * The lowest value of a bigint column, so that rows inserted before the first row are found too.
 */
const LOWEST = -(2n ** 63n);
/**
 * Maximum number of rows read for one seal. It exceeds what a seal can cover, so that rows inserted
 * between sealed rows are found too.
 */
const MOST = 1_000_000;

async function countAfter(database: Queryable, id: bigint): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM audit WHERE id > $1',
    [String(id)],
  );
  return rows[0]?.count ?? 0;
}
