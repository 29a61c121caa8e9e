import type { Database, Queryable } from '../../platform/database/port.ts';
import { newUuid } from '../../platform/ids.ts';
import { createAuditWriter } from '../audit/audit.ts';
import type { ChangeSource } from '../patients/corrections.ts';
import { survivingId } from '../patients/merges.ts';
import type { FoundOrder, OrderKeys, Worklist } from './order.ts';
import { datingMenstrualDate, type PregnancyDates } from './order-observations.ts';
import type { PatientIdentity } from './patient.ts';

/** A placer or filler order number; '' if the order does not have it. */
interface OrderNumber {
  number: string;
  authority: string;
}

/** What an order states about one requested procedure. */
interface Entry extends Omit<FoundOrder, 'patient' | 'lastMenstrualDate'> {
  /** The study selects among these dates, because some may belong to an earlier pregnancy. */
  pregnancy: PregnancyDates;
}

/** An order created, changed or withdrawn by a message. */
export interface ReceivedOrder {
  placer: OrderNumber;
  filler: OrderNumber;
  withdrawn: boolean;
  /** True for a message that reports only a new status. Values that it lacks stay as they are. */
  isStatusChange: boolean;
  patient: PatientIdentity;
  /**
   * One entry for each requested procedure; empty for a withdrawal or a new status that does not
   * specify a procedure.
   */
  entries: readonly Entry[];
}

interface FormerRow {
  id: string;
  filler: string;
  ordered_at: Date;
  withdrawn: boolean;
  entries: StoredEntry[];
}

/**
 * Stores the orders of a message: one row for each requested procedure, replacing its previous
 * rows, and one audit entry for each order. If the message is older than the stored row of a
 * procedure, that row is kept.
 */
export async function recordOrders(
  tx: Queryable,
  orders: readonly ReceivedOrder[],
  source: ChangeSource,
): Promise<void> {
  // All previous rows are read before the first new one is stored, so orders in one message never
  // replace each other.
  const known = new Map<ReceivedOrder, FormerRow[]>();
  for (const order of orders) known.set(order, await formerRows(tx, order));
  for (const [order, former] of known) await recordOrder(tx, order, former, source);
}

async function formerRows(tx: Queryable, { placer, filler }: ReceivedOrder): Promise<FormerRow[]> {
  const { rows } = await tx.query<FormerRow>(
    `SELECT id, filler, ordered_at, withdrawn, entries FROM received_orders
     WHERE ($1 <> '' AND placer = $1 AND placer_authority = $2)
       OR ($3 <> '' AND filler = $3 AND filler_authority = $4) FOR UPDATE`,
    [placer.number, placer.authority, filler.number, filler.authority],
  );
  return rows;
}

async function recordOrder(
  tx: Queryable,
  order: ReceivedOrder,
  former: readonly FormerRow[],
  { sender, address, controlId, effectiveAt, receivedAt }: ChangeSource,
): Promise<void> {
  const { placer, filler, withdrawn, entries } = order;
  const procedures = entries.length > 0 ? entries.map((entry) => [entry]) : [[]];
  let newest = true;
  for (const procedure of procedures) {
    let stated: readonly Entry[] = procedure;
    const replaced = former.filter((row) =>
      isSameProcedure(
        { filler: row.filler, entry: row.entries[0] },
        { filler: filler.number, entry: stated[0] },
      ),
    );
    if (replaced.some(({ ordered_at }) => ordered_at > effectiveAt)) {
      newest = false;
      continue;
    }
    if (order.isStatusChange && !withdrawn) {
      // A message with only a new status does not restore a withdrawn order. Values that the
      // message lacks are taken from the stored order.
      if (stated.length === 0 || replaced.some((row) => row.withdrawn)) continue;
      stated = stated.map((entry) => completed(entry, replaced[0]?.entries[0]));
    }
    const ids = replaced.map(({ id }) => id);
    await tx.query('DELETE FROM received_orders WHERE id = ANY ($1::uuid[])', [ids]);
    await tx.query(
      `INSERT INTO received_orders (id, placer, placer_authority, filler, filler_authority,
         withdrawn, ordered_at, received_at, patient, entries, accession_numbers, study_uids)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        newUuid(),
        ...[placer.number, placer.authority, filler.number, filler.authority],
        ...[withdrawn, effectiveAt, receivedAt],
        JSON.stringify(order.patient),
        JSON.stringify(stated),
        stated.map(({ accessionNumber }) => accessionNumber).filter(Boolean),
        stated.map(({ studyInstanceUid }) => studyInstanceUid).filter(Boolean),
      ],
    );
  }
  await createAuditWriter(tx)({
    at: receivedAt,
    action: withdrawn ? 'order.withdraw' : 'order.receive',
    actor: `node:${sender}`,
    address,
    outcome: 'success',
    detail: { control: controlId, procedures: entries.length, newest },
  });
}

/** Returns an entry whose missing values are filled in from an earlier one. */
function completed(entry: Entry, former: StoredEntry | undefined): Entry {
  if (!former) return entry;
  const { pregnancy: dates = NO_DATES, ...earlier } = former;
  const stated = Object.entries(entry).filter(([, value]) => value !== '' && value !== null);
  const { menstrual, due } = entry.pregnancy;
  const pregnancy = menstrual.length + due.length > 0 ? entry.pregnancy : dates;
  return { ...entry, ...earlier, ...Object.fromEntries(stated), pregnancy };
}

interface Procedure {
  filler: string;
  entry: StoredEntry | undefined;
}

/**
 * Returns true if two orders that share a placer or filler order number belong to one requested
 * procedure. Three numbers are tried in turn: the requested procedure ID, the filler order number,
 * the accession number. The first that both orders contain decides. If there is no such number, the
 * orders are assumed to belong together.
 */
function isSameProcedure(one: Procedure, other: Procedure): boolean {
  const numbers = ({ filler, entry }: Procedure) => [
    entry?.requestedProcedureId ?? '',
    filler,
    entry?.accessionNumber ?? '',
  ];
  const theirs = numbers(other);
  const decides = numbers(one)
    .map((number, index) => [number, theirs[index]])
    .find((pair) => pair.every((number) => number !== ''));
  return decides === undefined || decides[0] === decides[1];
}

/** Name under which the received orders appear among the worklists. */
const NAME = 'hl7v2';
const MAX_ORDERS = 200;

/**
 * The dates of an entry stored by an earlier version. That version kept a single date, which may
 * belong to an earlier pregnancy, so it is not used.
 */
const NO_DATES: PregnancyDates = { menstrual: [], due: [] };

type StoredEntry = Omit<Entry, 'pregnancy'> & Partial<Pick<Entry, 'pregnancy'>>;

/**
 * Creates a worklist from the orders received by HL7 version 2. An order without an accession
 * number is found by its filler or placer order number, because many hospitals use one of these as
 * the accession number.
 */
export function receivedOrders(database: Database): Worklist {
  return {
    name: NAME,
    isLocal: true,
    async orders(keys) {
      const { rows } = await database.query<{ patient: PatientIdentity; entries: StoredEntry[] }>(
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
        for (const { pregnancy = NO_DATES, ...entry } of entries) {
          const lastMenstrualDate = datingMenstrualDate(pregnancy, keys.studyDate ?? '');
          orders.push({ ...numbered(entry, keys), lastMenstrualDate, patient: named });
        }
      }
      return orders;
    },
  };
}

/**
 * Returns the entry. If it has no accession number, the number by which it was found becomes its
 * accession number.
 */
function numbered<Some extends Pick<Entry, 'accessionNumber'>>(entry: Some, keys: OrderKeys): Some {
  const isUnnumbered = 'accessionNumber' in keys && entry.accessionNumber === '';
  return isUnnumbered ? { ...entry, accessionNumber: keys.accessionNumber } : entry;
}

/** Removes orders whose last message arrived before `before`. */
export async function removeOldOrders(database: Queryable, before: Date): Promise<void> {
  await database.query('DELETE FROM received_orders WHERE received_at < $1', [before]);
}
