import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditIdentityView, createAuditWriter } from '../../../../src/core/audit/audit.ts';
import {
  loadPublicKeys,
  loadSealKey,
  readCheckpoint,
  type SealKey,
  sealAudit,
  startSealing,
  verifyAudit,
} from '../../../../src/core/audit/seal.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../peers/database.ts';

let fresh: OpenDatabase;
let dataDir = '';
let database: PooledDatabase;
let key: SealKey;

beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database, dataDir } = fresh);
  key = await loadSealKey(dataDir);
});
afterAll(async () => {
  await fresh.close();
});

/** The test data are rows 1 to 9, sealed in groups of three. */
beforeEach(async () => {
  await database.query('TRUNCATE audit, audit_seals RESTART IDENTITY');
  const write = createAuditWriter(database);
  for (let row = 1; row <= 9; row++) {
    await write({
      at: new Date(),
      action: 'dicom.received',
      actor: `ae:CART${row}`,
      detail: { row },
    });
    if (row % 3 === 0) await sealAudit(database, key, new Date());
  }
});

const verify = async (checkpoint = null as { seal: string; head: string } | null) =>
  verifyAudit(database, await loadPublicKeys(dataDir), checkpoint);

describe('the sealed audit', () => {
  test('is intact as written, and states what no seal covers yet', async () => {
    const write = createAuditWriter(database);
    await write({ at: new Date(), action: 'gateway.stop', actor: 'gateway' });
    expect(await verify()).toEqual({ intact: true, seals: 3, rows: 9, unsealed: 1, findings: [] });
  });

  test.each([
    ["UPDATE audit SET actor = 'ae:OTHER' WHERE id = 5", 'row_altered', 5n],
    ['UPDATE audit SET detail = \'{"row": 6}\' WHERE id = 5', 'row_altered', 5n],
    ["UPDATE audit SET at = at - interval '1 s' WHERE id = 4", 'row_altered', 4n],
    ['DELETE FROM audit WHERE id = 6', 'row_removed', 6n],
    ['DELETE FROM audit WHERE id = 1', 'row_removed', 1n],
  ])('%s: %s', async (statement, what, row) => {
    await database.query(statement);
    const { intact, findings } = await verify();
    expect(intact).toBe(false);
    expect(findings).toEqual([{ what, row, seal: row < 4n ? 1n : 2n }]);
  });

  test.each([0, -7])('reports a row that was inserted among sealed ones, as %i', async (id) => {
    await database.query(
      `INSERT INTO audit (id, at, action, actor) OVERRIDING SYSTEM VALUE
       VALUES ($1, now(), 'identity.view', 'person:x')`,
      [id],
    );
    expect((await verify()).findings).toEqual([
      { what: 'row_inserted', row: BigInt(id), seal: 1n },
    ]);
  });

  test.each([
    ['UPDATE audit_seals SET last_row = 7 WHERE id = 2', { what: 'signature_wrong', seal: 2n }],
    [
      "UPDATE audit_seals SET head = decode(repeat('00', 32), 'hex') WHERE id = 2",
      { what: 'seal_altered', seal: 2n },
    ],
    ['DELETE FROM audit_seals WHERE id = 2', { what: 'seal_missing', seal: 2n }],
    ['DELETE FROM audit_seals WHERE id = 1', { what: 'seal_missing', seal: 1n }],
  ])('%s is detected', async (statement, finding) => {
    await database.query(statement);
    expect((await verify()).findings).toContainEqual(finding);
  });

  test('is not valid if somebody changes a row and seals the chain again with another key', async () => {
    await database.query("UPDATE audit SET actor = 'ae:OTHER' WHERE id = 5");
    await database.query('TRUNCATE audit_seals');
    const stranger = { key: generateKeyPairSync('ed25519').privateKey, keyId: 'stranger' };
    await sealAudit(database, stranger, new Date());
    expect((await verify()).findings).toEqual([{ what: 'key_unknown', seal: 1n }]);
    await database.query('UPDATE audit_seals SET key_id = $1', [key.keyId]);
    expect((await verify()).findings).toEqual([{ what: 'signature_wrong', seal: 1n }]);
  });

  test('cut off at its end is detected by the last seal that the data folder remembers', async () => {
    const sealing = await startSealing({ database, dataDir, logger: silentLogger });
    await auditIdentityView(createAuditWriter(database), {
      at: new Date(),
      actor: 'person:nurse',
      studyIds: ['5b1f0f0e-9c38-4a49-a0e5-26ac9ee1b1a1', '0b1f0f0e-9c38-4a49-a0e5-26ac9ee1b1a1'],
      where: 'worklist',
    });
    await sealing.stop();
    const checkpoint = await readCheckpoint(dataDir);
    expect(checkpoint?.seal).toBe('4');
    expect(await verify(checkpoint)).toMatchObject({ intact: true, rows: 11, unsealed: 0 });
    await database.query('DELETE FROM audit_seals WHERE id = 4');
    await database.query('DELETE FROM audit WHERE id > 9');
    expect((await verify(checkpoint)).findings).toEqual([{ what: 'seal_missing', seal: 4n }]);
  });

  test('is sealed once if two processes seal simultaneously, and not without new rows', async () => {
    const write = createAuditWriter(database);
    await write({ at: new Date(), action: 'gateway.stop', actor: 'gateway' });
    const both = await Promise.all([1, 2].map(() => sealAudit(database, key, new Date())));
    expect(both.filter((seal) => seal !== null)).toHaveLength(1);
    expect(await sealAudit(database, key, new Date())).toBeNull();
  });
});
