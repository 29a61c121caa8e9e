import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Withdrawal } from '../../../../pipelines/contract/withdrawal.ts';
import { closeByHand } from '../../../../src/core/outbox/close.ts';
import {
  enqueueDeliveries,
  listDeliveries,
  replayAll,
  replayDelivery,
} from '../../../../src/core/outbox/deliveries.ts';
import type {
  Deliverer,
  DeliveryKind,
  DeliveryTarget,
  SendOutcome,
} from '../../../../src/core/outbox/delivery.ts';
import { divertByHand } from '../../../../src/core/outbox/divert.ts';
import { claimDelivery, type Outbox, startOutbox } from '../../../../src/core/outbox/outbox.ts';
import { withdrawalReceivers } from '../../../../src/core/outbox/withdrawals.ts';
import { withdrawResult } from '../../../../src/core/requests/withdrawal.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { openSite, type Site } from './site.ts';

const HOUR = 3600;
const AT = new Date('2026-11-30T06:00:00Z');
const OK: SendOutcome = { outcome: 'delivered', detail: 'Success (0000H)' };
const WRONG = { person: 'Dr Ada Reader', reason: 'wrong-patient', text: null } as const;
const PACS: DeliveryTarget = { kind: 'dicom', destination: 'pacs', object: 'sr-tid1500' };
const EHR: DeliveryTarget = { kind: 'fhir', destination: 'ehr', object: 'fhir-bundle' };
const HIS: DeliveryTarget = { kind: 'hl7v2', destination: 'his', object: 'oru-r01' };
const KINDS: DeliveryKind[] = [
  'dicom',
  'fhir',
  'hl7v2',
  'mail',
  'dicom-withdrawal',
  'fhir-withdrawal',
  'hl7v2-withdrawal',
];

describe('the withdrawal of a result', () => {
  let site: Site;
  let outbox: Outbox | null = null;
  beforeEach(async () => {
    site = await openSite();
    await site.startWorker();
  });
  afterEach(async () => {
    await outbox?.stop();
    outbox = null;
    await site.close();
  });

  const finished = async (targets: DeliveryTarget[]) => {
    const id = await site.submit();
    await site.until(id, 'succeeded');
    await site.database.transaction((tx) => enqueueDeliveries(tx, id, targets, HOUR));
    return id;
  };
  const start = async (send: Deliverer['send']) => {
    outbox = await startOutbox({
      database: site.database,
      deliverers: KINDS.map((kind) => ({ kind, send })),
      config: site.config,
      logger: silentLogger,
    });
  };
  const withdraw = (id: string, command: Parameters<typeof withdrawResult>[2] = WRONG) =>
    withdrawResult(site.database, id, command, { at: AT, giveUpSeconds: HOUR });
  const rows = async (requestId: string) =>
    (await listDeliveries(site.database, { requestId })).toSorted((one, other) =>
      one.kind.localeCompare(other.kind),
    );
  const allDelivered = (id: string) =>
    expect
      .poll(async () => (await rows(id)).every(({ state }) => state === 'delivered'))
      .toBe(true);
  const set = (id: string, kind: DeliveryKind, assignments: string) =>
    site.database.query(
      `UPDATE deliveries SET ${assignments} WHERE request_id = $1 AND kind = $2`,
      [id, kind],
    );

  it('is known to a client that submits the request again', async () => {
    const id = await site.submit('result', { uniqueKey: 'study-1' });
    await site.until(id, 'succeeded');
    const { withdrawal } = await withdraw(id);
    const again = await site.core.submit(site.command('result', { uniqueKey: 'study-1' }));
    expect(again).toMatchObject({ id, withdrawal });
  });

  it('is sent to every receiver that has the result, and to no other', async () => {
    const id = await finished([PACS, EHR, HIS]);
    await set(id, 'dicom', "state = 'delivered'");
    await set(id, 'fhir', "state = 'dead', code = 'ehr_ambiguous'");
    await set(id, 'hl7v2', "state = 'dead', code = 'peer_unreachable'");
    const { withdrawal } = await withdraw(id);
    expect(withdrawal).toEqual({
      at: AT.toISOString(),
      by: 'Dr Ada Reader',
      reason: 'wrong-patient',
      text: null,
    } satisfies Withdrawal);
    expect(await withdrawalReceivers(site.database, id)).toEqual([
      { destination: 'ehr', state: 'pending' },
      { destination: 'pacs', state: 'pending' },
    ]);
    expect(await rows(id)).toMatchObject([
      { kind: 'dicom', state: 'delivered', not_sent: false },
      { kind: 'dicom-withdrawal', state: 'pending', object: 'withdrawal' },
      { kind: 'fhir', state: 'delivered', not_sent: true, maybe_received: true, code: null },
      { kind: 'fhir-withdrawal', state: 'pending' },
      { kind: 'hl7v2', state: 'delivered', not_sent: true, maybe_received: false },
    ]);
  });

  it('sends nothing of the result that was waiting', async () => {
    const id = await finished([PACS, { ...PACS, object: 'pdf' }]);
    await set(id, 'dicom', "state = CASE object WHEN 'pdf' THEN 'pending' ELSE 'delivered' END");
    await withdraw(id);
    const sent: string[] = [];
    await start(async ({ kind, object }) => {
      sent.push(`${kind} ${object}`);
      return OK;
    });
    await allDelivered(id);
    expect(sent).toEqual(['dicom-withdrawal withdrawal']);
    expect(await withdrawalReceivers(site.database, id)).toEqual([
      { destination: 'pacs', state: 'withdrawn' },
    ]);
  });

  it('is sent after a delivery that was being sent when the result was withdrawn', async () => {
    const id = await finished([PACS]);
    const sent: string[] = [];
    let arrive = (_: SendOutcome) => {};
    await start(async ({ kind }) => {
      sent.push(kind);
      return kind === 'dicom' ? new Promise((resolve) => (arrive = resolve)) : OK;
    });
    await expect.poll(() => sent).toEqual(['dicom']);
    await withdraw(id);
    outbox?.wake();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(sent).toEqual(['dicom']);
    arrive(OK);
    await allDelivered(id);
    expect(sent).toEqual(['dicom', 'dicom-withdrawal']);
  });

  it('is not overtaken by a repeated attempt whose process died', async () => {
    const id = await finished([PACS]);
    await claimDelivery(site.database, ['dicom'], [], 0);
    await withdraw(id);
    const sent: string[] = [];
    await start(async ({ kind }) => {
      sent.push(kind);
      return OK;
    });
    await allDelivered(id);
    expect(sent).toEqual(['dicom-withdrawal']);
    expect(await rows(id)).toMatchObject([
      { kind: 'dicom', not_sent: true, maybe_received: true },
      { kind: 'dicom-withdrawal', not_sent: false },
    ]);
  });

  it('by a process that dies before its deliveries begin loses none of them', async () => {
    const id = await finished([PACS, EHR]);
    await set(id, 'dicom', "state = 'delivered'");
    await set(id, 'fhir', "state = 'delivered'");
    await withdraw(id);
    // The process dies while it sends the first withdrawal: its lease expires.
    await claimDelivery(site.database, ['dicom-withdrawal'], [], 0);
    const sent: string[] = [];
    await start(async ({ kind }) => {
      sent.push(kind);
      return OK;
    });
    await allDelivered(id);
    expect(sent.toSorted()).toEqual(['dicom-withdrawal', 'fhir-withdrawal']);
  });

  it('a second time changes nothing', async () => {
    const id = await finished([PACS]);
    await set(id, 'dicom', "state = 'delivered'");
    await withdraw(id);
    const before = await rows(id);
    const again = await withdraw(id, { person: 'Dr Other', reason: 'quality', text: null });
    expect(again.withdrawal).toMatchObject({ by: 'Dr Ada Reader', reason: 'wrong-patient' });
    expect(await rows(id)).toEqual(before);
    const events = await site.core.events.list(id, 0, 'http://site');
    expect(events.filter(({ name }) => name === 'withdrawn')).toMatchObject([
      { data: { by: 'Dr Ada Reader', reason: 'wrong-patient' } },
    ]);
  });

  it('cannot be undone by sending a delivery again or to another destination', async () => {
    const id = await finished([PACS]);
    await withdraw(id);
    const [row] = await rows(id);
    const delivery = row?.id ?? '';
    await expect(replayDelivery(site.database, delivery, HOUR)).rejects.toMatchObject({
      code: 'result_withdrawn',
    });
    await expect(divertByHand(site.database, delivery, 'archive', HOUR)).rejects.toMatchObject({
      code: 'result_withdrawn',
    });
    // A delivery that fails after the withdrawal may end as dead.
    await set(id, 'dicom', "state = 'dead'");
    expect(await replayAll(site.database, 'pacs', HOUR)).toBe(0);
  });

  it('is over at a receiver once a person has closed its delivery', async () => {
    const id = await finished([PACS]);
    await set(id, 'dicom', "state = 'delivered'");
    await withdraw(id);
    await set(id, 'dicom-withdrawal', "state = 'dead', code = 'withdrawal_by_hand'");
    expect(await withdrawalReceivers(site.database, id)).toEqual([
      { destination: 'pacs', state: 'by_hand' },
    ]);
    const closing = { at: AT.toISOString(), by: 'Sam', reason: 'Series deleted there' };
    const [, withdrawal] = await rows(id);
    await closeByHand(site.database, withdrawal?.id ?? '', closing);
    expect(await withdrawalReceivers(site.database, id)).toEqual([
      { destination: 'pacs', state: 'closed', closed: closing },
    ]);
  });

  it('is sent to a receiver that may have got a delivery before a person closed it', async () => {
    const id = await finished([PACS, HIS]);
    await set(id, 'dicom', "state = 'dead', code = 'commitment_refused'");
    await set(id, 'hl7v2', "state = 'dead', code = 'peer_unreachable'");
    const closing = { at: AT.toISOString(), by: 'Sam', reason: 'Replaced' };
    for (const row of await rows(id)) await closeByHand(site.database, row.id, closing);
    await withdraw(id);
    expect(await rows(id)).toMatchObject([
      { kind: 'dicom', state: 'closed', closed: closing },
      { kind: 'dicom-withdrawal', state: 'pending' },
      { kind: 'hl7v2', state: 'closed', closed: closing },
    ]);
  });

  it('is refused for a request without a result, and with a text that names the patient', async () => {
    const running = await site.submit('hang');
    await expect(withdraw(running)).rejects.toMatchObject({ code: 'no_result' });
    await expect(withdraw('req_unknown')).rejects.toMatchObject({ code: 'not_found' });
    const named = { ...WRONG, text: 'Born 1984-03-12, seen in the other hospital' };
    await expect(withdraw(running, named)).rejects.toMatchObject({ code: 'invalid_input' });
    await site.core.cancel(running, null);
  });

  it('lets the deliveries of a later request leave', async () => {
    const [first, later] = [await finished([PACS]), await finished([PACS])];
    await withdraw(first);
    const sent: string[] = [];
    await start(async ({ kind, requestId }) => {
      sent.push(`${kind} ${requestId}`);
      return OK;
    });
    await allDelivered(later);
    expect(sent).toEqual([`dicom ${later}`]);
  });
});
