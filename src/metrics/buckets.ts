/** Seconds that a person waits: from a second to a day. */
export const WAITING_SECONDS = [
  1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400,
];

/** Seconds of work: from ten milliseconds to ten minutes. */
export const WORKING_SECONDS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600,
];
