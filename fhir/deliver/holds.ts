import type { Closing } from '../../pipelines/contract/withdrawal.ts';
import type { Subject } from '../../pipelines/dicom/subject.ts';
import {
  type Candidate,
  type HeldDelivery,
  heldDeliveries,
  heldDelivery,
  lockDelivery,
} from '../../src/core/outbox/held.ts';
import type { HeldReport, HoldOperations } from '../../src/operations/operations.ts';
import type { Database, Queryable } from '../../src/platform/database/port.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { Choice } from './send-report.ts';

/**
 * What a person can do with a held report. Each action is recorded in a row that is never changed
 * or deleted.
 */
const HOLD_ACTIONS = ['show', 'release', 'reject'] as const;
type HoldAction = (typeof HOLD_ACTIONS)[number];

/**
 * The last decision that a person made on a delivery, with the patient and the order in force,
 * which may have been chosen in an earlier decision.
 */
export interface Decision extends Choice {
  action: Exclude<HoldAction, 'show'>;
}

/** The part of the hold queue that deliveries use. */
export interface HoldLedger {
  /** Returns the last decision on a delivery; null if nobody has decided. */
  decisionOn(deliveryId: string): Promise<Decision | null>;
  /** Stores the records for a person to choose from, replacing those of an earlier attempt. */
  keepCandidates(deliveryId: string, candidates: readonly Candidate[]): Promise<void>;
}

interface DecisionRow {
  action: Decision['action'];
  patient: string | null;
  order_reference: string | null;
  without_order: boolean;
}

export function holdLedger(database: Queryable): HoldLedger {
  return {
    async decisionOn(deliveryId) {
      const { rows } = await database.query<DecisionRow>(
        `SELECT action, patient, order_reference, without_order FROM hold_actions
         WHERE delivery_id = $1 AND action <> 'show' ORDER BY id DESC`,
        [deliveryId],
      );
      const [last] = rows;
      return last ? { action: last.action, ...choiceInForce(rows) } : null;
    },
    async keepCandidates(deliveryId, candidates) {
      await database.query(
        `INSERT INTO hold_candidates (delivery_id, candidates) VALUES ($1, $2)
         ON CONFLICT (delivery_id) DO UPDATE SET candidates = EXCLUDED.candidates`,
        [deliveryId, JSON.stringify(candidates)],
      );
    },
  };
}

/**
 * Returns the choices in force. `rows` contains the decisions, newest first. A release without a
 * new choice keeps the earlier choices. Choosing another patient discards the order chosen for the
 * previous patient.
 */
function choiceInForce(rows: readonly DecisionRow[]): Choice {
  let order: Choice['order'];
  for (const row of rows) {
    if (order === undefined) order = row.without_order ? null : (row.order_reference ?? undefined);
    if (row.patient !== null) return { patient: row.patient, order };
  }
  return { order };
}

interface HoldQueueDeps {
  database: Database;
  subjectOf: (requestId: string) => Promise<Subject | null>;
  sendAgain: (tx: Queryable, deliveryId: string) => Promise<unknown>;
  close: (tx: Queryable, deliveryId: string, closing: Closing) => Promise<unknown>;
}

/**
 * Creates the hold queue of a gateway.
 * @throws SonogateError `not_found` for an id that is not in the queue.
 */
export function createHoldQueue({
  database,
  subjectOf,
  sendAgain,
  close,
}: HoldQueueDeps): HoldOperations {
  async function held(queryable: Queryable, id: string): Promise<HeldReport> {
    const row = await heldDelivery(queryable, id);
    if (!row) throw new SonogateError('not_found', `No held report has the id ${id}.`);
    return reportOf(row);
  }

  /** Reads a report for a decision, which nobody else can change until the transaction ends. */
  async function heldAlone(tx: Queryable, id: string): Promise<HeldReport> {
    await lockDelivery(tx, id);
    return held(tx, id);
  }

  return {
    async list() {
      return (await heldDeliveries(database)).map(reportOf);
    },

    async show({ id, person: by }) {
      const report = await database.transaction(async (tx) => {
        const found = await held(tx, id);
        await recordAction(tx, found, { action: 'show', by });
        return found;
      });
      // The subject is read after the transaction, which occupies the embedded database's only
      // session.
      const subject = await subjectOf(report.request_id);
      return { ...report, identity: subject?.identity ?? null };
    },

    release({ id, person: by, ...choice }) {
      return database.transaction(async (tx) => {
        const report = await heldAlone(tx, id);
        await recordAction(tx, report, { action: 'release', by, ...choice });
        await sendAgain(tx, id);
        return report;
      });
    },

    reject({ id, person: by, reason }) {
      return database.transaction(async (tx) => {
        const report = await heldAlone(tx, id);
        await recordAction(tx, report, { action: 'reject', by, reason });
        await close(tx, id, { at: new Date().toISOString(), by, reason });
        return report;
      });
    },
  };
}

interface Entry {
  action: HoldAction;
  by: string;
  patient?: string;
  order?: string;
  withoutOrder?: boolean;
  reason?: string;
}

async function recordAction(tx: Queryable, report: HeldReport, entry: Entry): Promise<void> {
  await tx.query(
    `INSERT INTO hold_actions (delivery_id, request_id, destination, action, person, code,
       patient, order_reference, without_order, reason)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      report.id,
      report.request_id,
      report.destination,
      entry.action,
      entry.by,
      report.code,
      entry.patient ?? null,
      entry.order ?? null,
      entry.withoutOrder ?? false,
      entry.reason ?? null,
    ],
  );
}

function reportOf({ since, ...row }: HeldDelivery): HeldReport {
  return { ...row, since: since.toISOString() };
}
