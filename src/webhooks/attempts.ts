import type { Queryable } from '../database/port.ts';
import type { Delivery } from '../outbox/port.ts';

/** What an attempt came to. */
export interface Answer {
  /** HTTP status; null when there was none. */
  status: number | null;
  /** Bytes read. */
  bytes: number;
  /** The beginning of the answer. */
  text: string | null;
  /** Why there was no answer. */
  error: string | null;
}

/** A row of `webhook_attempts`, without the text of the answer. */
export interface AttemptRow {
  delivery_id: string;
  attempt: number;
  at: Date;
  status: number | null;
  duration_ms: number;
  answer_bytes: number;
  error: string | null;
}

/** Keeps what an attempt came to; `duration` in milliseconds. */
export async function saveAttempt(
  database: Queryable,
  { id, attempt }: Delivery,
  { at, duration, answer }: { at: Date; duration: number; answer: Answer },
): Promise<void> {
  await database.query(
    `INSERT INTO webhook_attempts
       (delivery_id, attempt, at, status, duration_ms, answer_bytes, answer, error)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (delivery_id, attempt) DO NOTHING`,
    // PostgreSQL's text holds no NUL.
    [
      id,
      attempt,
      at,
      answer.status,
      duration,
      answer.bytes,
      answer.text?.replaceAll('\0', '\ufffd') ?? null,
      answer.error,
    ],
  );
}

/** Attempts of these deliveries, oldest first. */
export async function listAttempts(
  database: Queryable,
  deliveryIds: readonly string[],
): Promise<AttemptRow[]> {
  const { rows } = await database.query<AttemptRow>(
    `SELECT delivery_id, attempt, at, status, duration_ms, answer_bytes, error
     FROM webhook_attempts WHERE delivery_id = ANY ($1::text[]) ORDER BY delivery_id, attempt`,
    [deliveryIds],
  );
  return rows;
}
