import { expect, test } from 'vitest';
import type { KeyRecord } from '../../../src/core/accounts/keys.ts';
import type { AuditEntry, RecordAction } from '../../../src/core/audit/audit.ts';
import type { DeliveryRow } from '../../../src/core/outbox/deliveries.ts';
import type { Queryable } from '../../../src/platform/database/port.ts';
import { newId } from '../../../src/platform/ids.ts';
import { commandsOf, NO_OPERATIONS } from './no-operations.ts';

const OLD_KEY = newId('key');
const NEW_KEY = newId('key');
const STUDY = 'd4b4f0a2-8f5e-4f2b-9f53-1f0f5f8f3f10';

/** Returns the entries that a command writes. Only the first `failures` attempts to write fail. */
async function entriesOf(name: string, parameters: unknown, failures = 0): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  let left = failures;
  const operations = {
    alerts: { acknowledge: async () => {} },
    deliveries: {
      ...NO_OPERATIONS.deliveries,
      replay: async () => ({ id: 'dlv_1', request_id: 'req_1', study: STUDY }) as DeliveryRow,
      divert: async () => ({ id: 'dlv_1', request_id: null, study: STUDY }) as DeliveryRow,
      replayAll: async () => 2,
      async close({ reason }: { reason: string }) {
        if (reason === 'Mrs Roe') throw new Error('the reason names a patient');
        return { id: 'dlv_1', request_id: 'req_1', study: STUDY } as DeliveryRow;
      },
    },
    studies: {
      ...NO_OPERATIONS.studies,
      rerun: async () => ({ studyId: STUDY }),
      release: async () => ({ studyId: STUDY }),
    },
    results: {
      withdraw: async () => ({
        at: '2026-11-30T06:00:00Z',
        by: 'ana',
        reason: 'wrong-patient' as const,
        text: null,
        receivers: [],
      }),
    },
    keys: {
      ...NO_OPERATIONS.keys,
      rotate: async () => ({ key: 'secret', record: { id: NEW_KEY } as KeyRecord }),
    },
  };
  const run = commandsOf(operations, async (entry) => {
    left -= 1;
    if (left >= 0) throw new Error('the database is away');
    entries.push(entry);
  });
  await run(name, parameters).catch(() => {});
  return entries;
}

test.each([
  [
    'alerts.acknowledge',
    { request: 'req_1', person: 'ana' },
    { actor: 'person:ana', requestId: 'req_1', detail: { id: 'req_1' } },
  ],
  [
    'results.withdraw',
    { request: 'req_1', reason: 'wrong-patient', person: 'ana' },
    {
      action: 'result.withdraw',
      actor: 'person:ana',
      requestId: 'req_1',
      detail: { id: 'req_1', reason: 'wrong-patient' },
    },
  ],
  [
    'deliveries.replay',
    { id: 'dlv_1', person: 'ana' },
    { actor: 'person:ana', requestId: 'req_1', studyId: STUDY, detail: { id: 'dlv_1' } },
  ],
  [
    'deliveries.close',
    { id: 'dlv_1', reason: 'The PACS was replaced', person: 'ana' },
    {
      action: 'delivery.close',
      actor: 'person:ana',
      requestId: 'req_1',
      studyId: STUDY,
      detail: { id: 'dlv_1', reason: 'The PACS was replaced' },
    },
  ],
  [
    'deliveries.replay-all',
    { destination: 'pacs' },
    { requestId: null, detail: { destination: 'pacs' } },
  ],
  [
    'studies.rerun',
    { study: '1.2.3' },
    { actor: 'command-line', requestId: null, studyId: STUDY, detail: { id: '1.2.3' } },
  ],
  [
    'studies.rerun',
    { study: 'Doe, Jane' }, // no id: the trail must not hold what may be a name
    { requestId: null, studyId: STUDY, detail: null },
  ],
  [
    'studies.release',
    { study: '1.2.3', rule: 'echo', under: 'own-id' },
    { studyId: STUDY, detail: { id: '1.2.3', under: 'own-id' } },
  ],
  [
    'deliveries.divert', // of an object that was forwarded: it belongs to a study, but no request
    { id: 'dlv_1', destination: 'archive' },
    { requestId: null, studyId: STUDY, detail: { id: 'dlv_1', destination: 'archive' } },
  ],
  [
    'keys.rotate',
    { id: OLD_KEY },
    { requestId: null, detail: { key: OLD_KEY, replacement: NEW_KEY } },
  ],
])('the entry of %s %j names what it changed', async (name, parameters, expected) => {
  expect(await entriesOf(name, parameters)).toMatchObject([{ outcome: 'success', ...expected }]);
});

test('a reason for which a delivery is not closed is not recorded: it may name a patient', async () => {
  const call = { id: 'dlv_1', reason: 'Mrs Roe', person: 'ana' };
  expect(await entriesOf('deliveries.close', call)).toMatchObject([
    { action: 'delivery.close', outcome: 'refused', detail: { id: 'dlv_1' } },
  ]);
});

test('a command with invalid parameters is recorded as refused, without what was given', async () => {
  expect(await entriesOf('studies.rerun', { study: '1.2.3', patient: 'Doe' })).toMatchObject([
    { action: 'study.rerun', outcome: 'refused', detail: null },
  ]);
});

test.each([
  ['nothing', 'removed', ['success']],
  ['its check', 'refused', ['refused']],
  ['the removal itself', 'failed', ['success', 'failed']],
])('the removal of a file that fails at %s is recorded first', async (_at, ends, outcomes) => {
  const entries: AuditEntry[] = [];
  const quarantine = {
    ...NO_OPERATIONS.quarantine,
    async remove(_id: string, record: RecordAction) {
      if (ends === 'refused') throw new Error('there is no such object');
      await record();
      expect(entries).toMatchObject([{ outcome: 'success' }]);
      if (ends === 'failed') throw new Error('the disk is read-only');
    },
  };
  const run = commandsOf({ quarantine }, async (entry) => void entries.push(entry));
  await run('quarantine.remove', { id: STUDY, person: 'ana' }).catch(() => {});
  expect(entries.map(({ outcome }) => outcome)).toEqual(outcomes);
  expect(entries[0]).toMatchObject({ actor: 'person:ana', detail: { id: STUDY } });
});

test('the removal of a study names the study and the person in the transaction that removes it', async () => {
  const entries: AuditEntry[] = [];
  const inTransaction: AuditEntry[] = [];
  const tx: Queryable = {
    async query(_text, values = []) {
      inTransaction.push(...JSON.parse(String(values[0])));
      return { rows: [], rowCount: null };
    },
  };
  const retention = {
    ...NO_OPERATIONS.retention,
    async remove(_study: string, record: (studyId: string, tx: Queryable) => Promise<void>) {
      await record(STUDY, tx);
      throw new Error('the disk is read-only');
    },
  };
  const run = commandsOf({ retention }, async (entry) => void entries.push(entry));
  await run('studies.remove', { study: '1.2.3', person: 'ana' }).catch(() => {});
  const entry = { action: 'study.purge', actor: 'person:ana', detail: { id: '1.2.3' } };
  expect(inTransaction).toMatchObject([{ ...entry, studyId: STUDY, outcome: 'success' }]);
  expect(entries).toMatchObject([{ ...entry, outcome: 'failed' }]);
});

test('a command for a person whose name is too long is refused', async () => {
  const person = 'a'.repeat(101);
  expect(await entriesOf('studies.rerun', { study: '1.2.3', person })).toMatchObject([
    { outcome: 'refused', actor: 'command-line' },
  ]);
});

test('a command that was carried out is never recorded as refused', async () => {
  expect(await entriesOf('deliveries.replay', { id: 'dlv_1' }, 1)).toEqual([]);
});
