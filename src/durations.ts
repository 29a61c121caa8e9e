/** A day of 24 hours, in milliseconds; days of a calendar are counted in UTC. */
export const DAY_MS = 86_400_000;
