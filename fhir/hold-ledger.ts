import type { Queryable } from '../src/database/port.ts';
import type { Candidate } from './candidates.ts';
import type { Choice } from './send-report.ts';

/** What a person did about a held report; rows are only ever added. */
export const HOLD_ACTIONS = ['show', 'release', 'reject'] as const;
export type HoldAction = (typeof HOLD_ACTIONS)[number];

/** The last word of a person on a delivery. */
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
         WHERE delivery_id = $1 AND action <> 'show' ORDER BY id DESC LIMIT 1`,
        [deliveryId],
      );
      const [row] = rows;
      if (!row) return null;
      return {
        action: row.action,
        patient: row.patient ?? undefined,
        order: row.without_order ? null : (row.order_reference ?? undefined),
      };
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
