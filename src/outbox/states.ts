/**
 * States of a delivery. Each arrow is one statement in deliveries.ts, whose WHERE holds its source.
 *
 *   pending ──▶ sending ──▶ delivered
 *      ▲  ▲        │ │
 *      │  └────────┘ └────▶ dead        permanent failure, or given up
 *      │  transient,         │
 *      │  ambiguous,         │ replay by a person
 *      │  lease ran out      │
 *      └─────────────────────┘
 *
 *   pending, dead ──▶ diverted               another delivery takes its place (divert.ts)
 *
 * A webhook can be replayed from `delivered` too: receivers lose what they had confirmed.
 */
export const DELIVERY_STATES = ['pending', 'sending', 'delivered', 'dead', 'diverted'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
