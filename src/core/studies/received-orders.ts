import type { Database, Queryable } from '../../platform/database/port.ts';
import { newUuid } from '../../platform/ids.ts';
import { createAuditWriter } from '../audit/audit.ts';
import type { ChangeSource } from '../patients/corrections.ts';
import { survivingId } from '../patients/merges.ts';
import type { FoundOrder, OrderKeys, Worklist } from './order.ts';
import type { PatientIdentity } from './patient.ts';

/** A placer or filler order number; '' if the order has no such number. */
interface OrderNumber {
  number: string;
  /** The authority that assigned the number. */
  authority: string;
}

type Entry = Omit<FoundOrder, 'patient'>;

/** An order that a message creates, changes or withdraws. */
export interface ReceivedOrder {
  placer: OrderNumber;
  filler: OrderNumber;
  withdrawn: boolean;
  patient: PatientIdentity;
  /** One entry for each requested procedure. */
  entries: readonly Entry[];
}

const distinct = (values: readonly string[]) => [...new Set(values.filter(Boolean))];

/**
 * Stores an order in place of the former version with the same placer or filler order number, with
 * an audit entry. A message that is older than the stored order changes nothing. @returns whether
 * the message was the newest.
 */
export async function recordOrder(
  tx: Queryable,
  order: ReceivedOrder,
  { sender, address, controlId, effectiveAt, receivedAt }: ChangeSource,
): Promise<boolean> {
  const { placer, filler, withdrawn, entries } = order;
  const numbers = [placer.number, placer.authority, filler.number, filler.authority];
  const { rows: former } = await tx.query<{ id: string; ordered_at: Date; entries: Entry[] }>(
    `SELECT id, ordered_at, entries FROM received_orders
     WHERE ($1 <> '' AND placer = $1 AND placer_authority = $2)
       OR ($3 <> '' AND filler = $3 AND filler_authority = $4) FOR UPDATE`,
    numbers,
  );
  const isNewest = former.every(({ ordered_at }) => ordered_at <= effectiveAt);
  if (isNewest) {
    const ids = former.map(({ id }) => id);
    await tx.query('DELETE FROM received_orders WHERE id = ANY ($1::uuid[])', [ids]);
    await tx.query(
      `INSERT INTO received_orders (id, placer, placer_authority, filler, filler_authority,
         withdrawn, ordered_at, received_at, patient, entries, accession_numbers, study_uids)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        newUuid(),
        ...numbers,
        ...[withdrawn, effectiveAt, receivedAt],
        JSON.stringify(order.patient),
        JSON.stringify(entries),
        distinct(entries.map(({ accessionNumber }) => accessionNumber)),
        distinct(entries.map(({ studyInstanceUid }) => studyInstanceUid)),
      ],
    );
  }
  await createAuditWriter(tx)({
    at: receivedAt,
    action: withdrawn ? 'order.withdraw' : 'order.receive',
    actor: `node:${sender}`,
    address,
    outcome: 'success',
    detail: { control: controlId, procedures: entries.length, newest: isNewest },
  });
  return isNewest;
}

/** Name under which the received orders appear among the worklists. */
const NAME = 'hl7v2';
/** Maximum number of orders that are read for one study. */
const MAX_ORDERS = 200;

/**
 * Creates a worklist of the orders that arrived by HL7 version 2. An order without an accession
 * number is found by its filler or placer order number, because many sites use one of them as the
 * accession number.
 */
export function receivedOrders(database: Database): Worklist {
  return {
    name: NAME,
    isLocal: true,
    async orders(keys) {
      const { rows } = await database.query<{ patient: PatientIdentity; entries: Entry[] }>(
        'accessionNumber' in keys
          ? `SELECT patient, entries FROM received_orders WHERE NOT withdrawn AND (
               accession_numbers @> ARRAY[$1::text]
               OR (cardinality(accession_numbers) = 0 AND (filler = $1 OR placer = $1)))
             ORDER BY received_at DESC LIMIT ${MAX_ORDERS}`
          : `SELECT patient, entries FROM received_orders
             WHERE NOT withdrawn AND study_uids @> ARRAY[$1::text]
             ORDER BY received_at DESC LIMIT ${MAX_ORDERS}`,
        ['accessionNumber' in keys ? keys.accessionNumber : keys.studyInstanceUid],
      );
      const orders: FoundOrder[] = [];
      for (const { patient, entries } of rows) {
        const { patientId, issuerOfPatientId: issuer } = patient;
        const survivor = await survivingId(database, { patientId, issuer });
        const named = { ...patient, patientId: survivor };
        orders.push(...entries.map((entry) => ({ ...numbered(entry, keys), patient: named })));
      }
      return orders;
    },
  };
}

/** Returns the entry with the number by which it was found as its accession number. */
function numbered(entry: Entry, keys: OrderKeys): Entry {
  const isUnnumbered = 'accessionNumber' in keys && entry.accessionNumber === '';
  return isUnnumbered ? { ...entry, accessionNumber: keys.accessionNumber } : entry;
}

/** Removes orders whose last change is older than `before`. */
export async function removeOldOrders(database: Queryable, before: Date): Promise<void> {
  await database.query('DELETE FROM received_orders WHERE received_at < $1', [before]);
}
