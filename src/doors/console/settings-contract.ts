import type { ConsoleRole } from '../../core/accounts/roles.ts';
import type { Delivery, DeliveryState } from './operations-contract.ts';

/** Keys, webhooks, usage and retention in the console's API; see contract.ts. Types only. */

export interface Key {
  id: string;
  name: string;
  test: boolean;
  scopes: string[];
  consoleRole: ConsoleRole | null;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
}

export interface NewKey {
  name: string;
  test: boolean;
  scopes: ('run' | 'read' | 'uploads' | 'store' | 'retrieve' | 'review' | 'sign' | 'admin')[];
  consoleRole: ConsoleRole | null;
  expiresAt: string | null;
}

/** `secret` is shown only in this response and never stored. */
export interface CreatedKey {
  key: Key;
  secret: string;
}

export interface WebhookSecret {
  createdAt: string;
}

export interface NewWebhookSecret extends WebhookSecret {
  secret: string;
}

export interface WebhookDelivery {
  id: string;
  requestId: string | null;
  event: string;
  url: string;
  state: DeliveryState;
  createdAt: string;
  disabledAt: string | null;
  error: Delivery['error'];
  attempts: {
    at: string;
    status: number | null;
    durationMs: number;
    answerBytes: number;
    error: string | null;
  }[];
}

export interface Usage {
  /** The month, such as `2026-11`. */
  month: string;
  /** The key that was used; null for studies received by DICOM. */
  key: { id: string; name: string } | null;
  requests: number;
  succeeded: number;
  cost: { currency: 'USD'; total: string };
}

export interface Retention {
  /** Number of days from the end of a request until its results and inputs are purged. */
  days: number;
  /**
   * Number of succeeded requests whose results are still kept; `nextPurgeAt` is when the next
   * results are purged.
   */
  kept: number;
  nextPurgeAt: string | null;
  purged: number;
  oldestResultAt: string | null;
}
