/**
 * States of a delivery.
 *
 *   pending ──▶ sending ──▶ delivered
 *      ▲  ▲        │ │
 *      │  └────────┘ └────▶ dead        permanent failure, or given up
 *      │  transient,         │
 *      │  ambiguous,         │ replay by a person
 *      │  lease ran out      │
 *      └─────────────────────┘
 */
export const DELIVERY_STATES = ['pending', 'sending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const DELIVERY_TRANSITIONS = {
  pending: ['sending'],
  sending: ['delivered', 'pending', 'dead'],
  delivered: [],
  dead: ['pending'],
} as const satisfies Record<DeliveryState, readonly DeliveryState[]>;
