import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { secondsAfter } from '../../platform/time.ts';
import type { Order } from './order-join.ts';
import {
  MISMATCH_WORDS,
  type PatientIdentity,
  type PatientMismatch,
  patientIdentity,
  patientMismatch,
} from './patient.ts';
import type { StudyRow } from './study-store.ts';

/**
 * The keys used to search for an order: the accession number, otherwise the patient and the study.
 * The study date selects among the dates of several pregnancies.
 */
export type OrderKeys = { studyDate?: string } & (
  | { accessionNumber: string }
  | { patientId: string; studyInstanceUid: string }
);

/** An order as returned by a worklist; '' or null for missing values. */
export interface FoundOrder extends Order {
  patient: PatientIdentity;
  /** Further identifiers of the same patient. */
  otherPatientIds?: readonly Pick<PatientIdentity, 'patientId' | 'issuerOfPatientId'>[];
  studyInstanceUid: string;
}

/**
 * A system that stores orders (docs/orders.md). A failure is a SonogateError; if the orders are
 * local, it may also be an error of the database.
 */
export interface Worklist {
  name: string;
  /** True if the orders are in our own database. Such queries are not audited. */
  isLocal?: boolean;
  /**
   * Returns the matching orders. A worklist may ignore a key, so the caller must check the orders
   * against the keys again.
   */
  orders(keys: OrderKeys, signal: AbortSignal): Promise<FoundOrder[]>;
}

/**
 * The search for the order of one revision of a study.
 *
 *   searching ──▶ found        the values that the study lacks are taken from the order
 *       │     ──▶ none         no worklist has an order for the study
 *       │     ──▶ refused      the order is for another patient, so nothing is taken from it
 *       └─────▶ unavailable    no answer in time: the study continues without an order
 */
export interface OrderSearch {
  state: 'searching' | 'found' | 'none' | 'refused' | 'unavailable';
  /**
   * The outcome as text for a person, without identity and dates; null while the search is running.
   */
  detail: string | null;
}

export interface OrderAnswer extends OrderSearch {
  order: Order | null;
}

/**
 * Returns the keys for finding the order of a study, or the reason why no worklist can be queried.
 */
export function orderKeys(identity: DicomIdentity): { keys: OrderKeys } | { why: string } {
  const accessionNumber = identity.AccessionNumber.trim();
  const { PatientID: patientId, StudyInstanceUID: studyInstanceUid } = identity;
  const { StudyDate: studyDate } = identity;
  if (accessionNumber === '' && patientId === '') {
    return { why: 'the study has neither an accession number nor a patient ID' };
  }
  // Wildcards would match other orders (PS3.4 C.2.2.2.4).
  const key = accessionNumber || patientId;
  if (/[*?\\]/.test(key)) return { why: 'its accession number or patient ID contains a wildcard' };
  const found = accessionNumber ? { accessionNumber } : { patientId, studyInstanceUid };
  return { keys: { ...found, studyDate } };
}

/**
 * Chooses the order of a study among those returned by a worklist. If any of them belongs to
 * another patient, all are refused, because the accession number may have been assigned twice or
 * mistyped.
 */
export function chooseOrder(
  identity: DicomIdentity,
  keys: OrderKeys,
  found: readonly FoundOrder[],
  worklist: string,
): OrderAnswer {
  const asked = found.filter((order) =>
    'accessionNumber' in keys
      ? order.accessionNumber === keys.accessionNumber
      : order.studyInstanceUid === keys.studyInstanceUid,
  );
  if (asked.length === 0) return { state: 'none', detail: `No order in ${worklist}.`, order: null };
  const patient = patientIdentity(identity);
  const mismatch = asked.map((order) => orderMismatch(patient, order)).find(Boolean);
  if (mismatch) {
    const detail = `Not used: the order in ${worklist} is for another patient, or has no patient to compare (${MISMATCH_WORDS[mismatch]}).`;
    return { state: 'refused', detail, order: null };
  }
  const own = asked.filter((order) => order.studyInstanceUid === identity.StudyInstanceUID);
  const order = agreedValues(own.length > 0 ? own : asked);
  return { state: 'found', detail: `Order found in ${worklist}.`, order };
}

/**
 * Returns the attribute in which a study's patient differs from an order's patient, who may have
 * several identifiers. Null if one of the identifiers matches.
 */
function orderMismatch(
  patient: PatientIdentity,
  { patient: named, otherPatientIds = [] }: FoundOrder,
): PatientMismatch | null {
  const mismatches = [named, ...otherPatientIds].map((ids) =>
    patientMismatch(patient, { ...named, ...ids }),
  );
  if (mismatches.includes(null)) return null;
  // One of the identifiers may have the study's patient ID and differ in another attribute. That
  // attribute is then reported in preference to `patient-id`.
  return mismatches.find((mismatch) => mismatch !== 'patient-id') ?? 'patient-id';
}

/**
 * Returns each value that is the same in all orders that state it. One accession number may cover
 * several procedures (PS3.4 K.6.1.2.2), and a value that differs belongs to only one of them.
 */
function agreedValues(orders: readonly FoundOrder[]): Order {
  const agreed = <Value extends string | number | null>(read: (order: Order) => Value): Value[] => {
    const stated = orders.map(read).filter((value) => value !== '' && value !== null);
    return new Set(stated).size === 1 ? stated.slice(0, 1) : [];
  };
  const text = (read: (order: Order) => string) => agreed(read)[0] ?? '';
  const number = (read: (order: Order) => number | null) => agreed(read)[0] ?? null;
  return {
    accessionNumber: text((order) => order.accessionNumber),
    placerOrderNumber: text((order) => order.placerOrderNumber),
    requestedProcedureId: text((order) => order.requestedProcedureId),
    requestedProcedure: text((order) => order.requestedProcedure),
    indication: text((order) => order.indication),
    referringPhysicianName: text((order) => order.referringPhysicianName),
    sex: text((order) => order.sex),
    lastMenstrualDate: text((order) => order.lastMenstrualDate),
    pregnancyStatus: number((order) => order.pregnancyStatus),
    patientSizeMetres: number((order) => order.patientSizeMetres),
    patientWeightKilograms: number((order) => order.patientWeightKilograms),
  };
}

export const TOO_LATE = 'Not available: no response in time.';

/**
 * Returns the order of a revision. The first call starts the search.
 * @returns the answer or, while the search is running, the time until which the study waits.
 */
export async function orderFor(
  database: Database,
  { id, revision }: Pick<StudyRow, 'id' | 'revision'>,
  { waitSeconds, at }: { waitSeconds: number; at: Date },
): Promise<OrderAnswer | { waitsUntil: Date }> {
  await database.query(
    `INSERT INTO order_searches (study_id, revision, state, deadline)
     VALUES ($1, $2, 'searching', $3) ON CONFLICT DO NOTHING`,
    [id, revision, secondsAfter(at, waitSeconds)],
  );
  await database.query(
    `UPDATE order_searches SET state = 'unavailable', detail = $4
     WHERE study_id = $1 AND revision = $2 AND state = 'searching' AND deadline <= $3`,
    [id, revision, at, TOO_LATE],
  );
  const { rows } = await database.query<OrderAnswer & { deadline: Date }>(
    `SELECT state, detail, joined AS "order", deadline FROM order_searches
     WHERE study_id = $1 AND revision = $2`,
    [id, revision],
  );
  const [row] = rows;
  if (!row) throw new Error('the row of the search for an order disappeared');
  const { deadline, ...answer } = row;
  return answer.state === 'searching' ? { waitsUntil: deadline } : answer;
}

/**
 * Returns the order that a search found for a revision; null if there was no search or no order.
 */
export async function foundOrder(
  database: Queryable,
  { id, revision }: Pick<StudyRow, 'id' | 'revision'>,
): Promise<Order | null> {
  const { rows } = await database.query<{ joined: Order | null }>(
    'SELECT joined FROM order_searches WHERE study_id = $1 AND revision = $2',
    [id, revision],
  );
  return rows[0]?.joined ?? null;
}

/** Returns the search for the order of a revision, for `explain`; null if there was no search. */
export async function orderSearch(
  database: Queryable,
  { id, revision }: Pick<StudyRow, 'id' | 'revision'>,
): Promise<OrderSearch | null> {
  const { rows } = await database.query<OrderSearch>(
    'SELECT state, detail FROM order_searches WHERE study_id = $1 AND revision = $2',
    [id, revision],
  );
  return rows[0] ?? null;
}
