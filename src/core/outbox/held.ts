import type { Queryable } from '../../platform/database/port.ts';

/**
 * A record in the EHR that may belong to a report, with the names of the identifying attributes that
 * agree or differ. It contains no identity, because a person looks the record up in the EHR.
 */
export interface Candidate {
  /** `Patient/<id>` or `ServiceRequest/<id>`. */
  reference: string;
  agrees: readonly string[];
  differs: readonly string[];
}

/**
 * SQL condition: the delivery `d` to an EHR waits for a person, because it ended without success or
 * the EHR cannot find its patient yet. A delivery rejected by a person does not wait.
 */
export const HELD_FOR_A_PERSON = `(d.kind = 'fhir'
  AND (d.state = 'dead' OR (d.state = 'pending' AND d.code = 'ehr_patient_not_found'))
  AND 'reject' IS DISTINCT FROM (SELECT h.action FROM hold_actions h
    WHERE h.delivery_id = d.id AND h.action <> 'show' ORDER BY h.id DESC LIMIT 1))`;

/** A delivery to an EHR that waits for a person. */
export interface HeldDelivery {
  id: string;
  request_id: string;
  destination: string;
  code: string;
  detail: string;
  /** When the delivery was created. */
  since: Date;
  /** True if the outbox keeps trying to send the report. */
  retried: boolean;
  /** The records that the last attempt found. */
  candidates: readonly Candidate[];
}

const HELD = `
  SELECT d.id, d.request_id, d.destination, d.code, COALESCE(d.detail, '') AS detail,
    d.created_at AS since, d.state = 'pending' AS retried,
    COALESCE(c.candidates, '[]'::jsonb) AS candidates
  FROM deliveries d LEFT JOIN hold_candidates c ON c.delivery_id = d.id
  WHERE ${HELD_FOR_A_PERSON}`;

/** Returns the deliveries that wait for a person, oldest first. */
export async function heldDeliveries(database: Queryable): Promise<HeldDelivery[]> {
  const { rows } = await database.query<HeldDelivery>(`${HELD} ORDER BY since, d.id`);
  return rows;
}

/** Returns the delivery with this id; null if it does not wait for a person. */
export async function heldDelivery(database: Queryable, id: string): Promise<HeldDelivery | null> {
  const { rows } = await database.query<HeldDelivery>(`${HELD} AND d.id = $1`, [id]);
  return rows[0] ?? null;
}

/**
 * Locks a delivery, so that no other person and no delivery attempt can change it until the
 * transaction ends.
 */
export async function lockDelivery(tx: Queryable, id: string): Promise<void> {
  await tx.query('SELECT 1 FROM deliveries WHERE id = $1 FOR UPDATE', [id]);
}
