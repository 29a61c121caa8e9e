import type { Queryable } from '../src/database/port.ts';
import type { Candidate } from './candidates.ts';
import type { Choice } from './send-report.ts';

/** What a person did about a held report; rows are only ever added. */
const HOLD_ACTIONS = ['show', 'release', 'reject'] as const;
export type HoldAction = (typeof HOLD_ACTIONS)[number];

/** The last word of a person on a delivery, with the patient and order chosen last. */
export interface Decision extends Choice {
  action: Exclude<HoldAction, 'show'>;
}

/** What a delivery needs to know of the hold queue. */
export interface HoldLedger {
  /** Null where nobody has decided. */
  decisionOn(deliveryId: string): Promise<Decision | null>;
  /** Keeps what a person can choose from, in place of what an earlier attempt found. */
  keepCandidates(deliveryId: string, candidates: readonly Candidate[]): Promise<void>;
}

interface DecisionRow {
  action: Decision['action'];
  patient: string | null;
  order_reference: string | null;
  without_order: boolean;
}

/** The ledger in the database of the gateway. */
export function holdLedger(database: Queryable): HoldLedger {
  return {
    async decisionOn(deliveryId) {
      const { rows } = await database.query<DecisionRow>(
        `SELECT action, patient, order_reference, without_order FROM hold_actions
         WHERE delivery_id = $1 AND action <> 'show' ORDER BY id DESC`,
        [deliveryId],
      );
      const [last] = rows;
      return last ? { action: last.action, ...standingChoice(rows) } : null;
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
 * What stands of the choices, newest first: a release "as it is" changes none of them, another
 * patient ends the order that was chosen for the one before.
 */
function standingChoice(rows: readonly DecisionRow[]): Choice {
  let order: Choice['order'];
  for (const row of rows) {
    if (order === undefined) order = row.without_order ? null : (row.order_reference ?? undefined);
    if (row.patient !== null) return { patient: row.patient, order };
  }
  return { order };
}
