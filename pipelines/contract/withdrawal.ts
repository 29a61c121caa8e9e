/**
 * Why a person withdraws a result. `title` is shown to people and sent to receivers.
 */
export const WITHDRAWAL_REASONS = {
  'wrong-patient': { title: 'Wrong patient' },
  'wrong-study': { title: 'Wrong study or images' },
  'wrong-order': { title: 'Wrong order' },
  'wrong-measurement': { title: 'Wrong measurement or conclusion' },
  quality: { title: 'Insufficient quality' },
} as const;
export type WithdrawalReason = keyof typeof WITHDRAWAL_REASONS;

export const WITHDRAWAL_REASON_CODES = Object.keys(WITHDRAWAL_REASONS) as WithdrawalReason[];

/** Maximum number of characters of `text`. */
export const LONGEST_WITHDRAWAL_TEXT = 500;

/** The withdrawal of a result. It concerns the draft and every signed revision of the request. */
export interface Withdrawal {
  /** ISO 8601. */
  at: string;
  /** Who withdrew the result: the name of a person, or of an API key. */
  by: string;
  reason: WithdrawalReason;
  /** What the person wrote about it, without names, identifiers or dates; null if nothing. */
  text: string | null;
}

/** Returns the reason as text, with what the person wrote, if anything. */
export function withdrawalText({ reason, text }: Pick<Withdrawal, 'reason' | 'text'>): string {
  const { title } = WITHDRAWAL_REASONS[reason];
  return text === null ? title : `${title}: ${text}`;
}

/**
 * State of a withdrawal at one receiver: `pending` until the receiver has confirmed it; then
 * `withdrawn`, or `not_present` if the receiver has nothing to withdraw; `by_hand` if people must do
 * it there, because the receiver does not support it or has refused; `closed` once a person has
 * stated that nothing is left to do there.
 */
export const RECEIVER_STATES = [
  'pending',
  'withdrawn',
  'not_present',
  'by_hand',
  'closed',
] as const;
export type ReceiverState = (typeof RECEIVER_STATES)[number];

/** Who closed a delivery, and why. */
export interface Closing {
  /** ISO 8601. */
  at: string;
  by: string;
  reason: string;
}

export interface WithdrawalReceiver {
  destination: string;
  state: ReceiverState;
  /** Only if the state is `closed`. */
  closed?: Closing;
}
