import { InvalidArgumentError } from 'commander';

/** Parses a numeric option. On failure, commander reports the option and what is expected. */
type ReadNumber = (text: string) => number;

/**
 * Returns a parser for decimal numbers that rejects the other notations that `Number` accepts: '',
 * '0x10', '1e3'.
 */
function numberReader(written: RegExp, accepts: (value: number) => boolean, expected: string) {
  return (text: string): number => {
    const value = Number(text);
    if (written.test(text) && accepts(value)) return value;
    throw new InvalidArgumentError(`Expected ${expected}.`);
  };
}

const WHOLE = /^\d{1,15}$/;
const DECIMAL = /^\d{1,15}(\.\d{1,15})?$/;
const LAST_PORT = 65_535;

export const wholeNumber: ReadNumber = numberReader(WHOLE, () => true, 'a whole number');

export const wholeNumberFrom = (least: number, most: number): ReadNumber =>
  numberReader(
    WHOLE,
    (value) => value >= least && value <= most,
    `a whole number from ${least} to ${most}`,
  );

export const count: ReadNumber = numberReader(
  WHOLE,
  (value) => value >= 1,
  'a whole number of at least 1',
);

export const positiveNumber: ReadNumber = numberReader(
  DECIMAL,
  (value) => value > 0,
  'a number above 0',
);

/** Parses the value of a measurement, which may be negative (strain). */
export const measuredValue: ReadNumber = numberReader(
  /^-?\d{1,15}(\.\d{1,15})?$/,
  () => true,
  'a number such as 52.4',
);

export const seconds: ReadNumber = numberReader(DECIMAL, () => true, 'a number of seconds');

/** Returns a parser for a number of hours from 0 to `longest`. */
export const hoursUpTo = (longest: number): ReadNumber =>
  numberReader(DECIMAL, (value) => value <= longest, `a number of hours from 0 to ${longest}`);

export const port: ReadNumber = numberReader(
  WHOLE,
  (value) => value <= LAST_PORT,
  `a port from 0 to ${LAST_PORT}`,
);

const PERIOD = /^(\d{1,5})([mhd])$/;
const PERIOD_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DAY_OR_INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Length of a day such as `2026-01-31`. */
const DAY = 10;

/** True for a day of the calendar: `Date` reads 30 February as 2 March. */
function isDay(text: string): boolean {
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/**
 * Parses a day (midnight UTC), an instant, or a period such as `12h`. A period is counted back from
 * `now` with direction -1, and forward with 1.
 */
function instantOf(text: string, direction: 1 | -1, now: number): Date {
  const [, number, unit] = PERIOD.exec(text) ?? [];
  const time =
    number !== undefined && unit !== undefined
      ? now + direction * Number(number) * PERIOD_MS[unit as keyof typeof PERIOD_MS]
      : Date.parse(DAY_OR_INSTANT.test(text) && isDay(text.slice(0, DAY)) ? text : '');
  if (!Number.isNaN(time)) return new Date(time);
  throw new InvalidArgumentError(
    'Expected a period (30m, 12h, 90d), a day (2026-01-31) or an instant (2026-01-31T08:00:00Z).',
  );
}

/** Parses the start time of a list: `12h` is twelve hours ago. */
export const startOf = (text: string, now = Date.now()): Date => instantOf(text, -1, now);

/** Parses an end time: `90d` is 90 days from now. It must be in the future. */
export function endOf(text: string, now = Date.now()): Date {
  const end = instantOf(text, 1, now);
  if (end.getTime() > now) return end;
  throw new InvalidArgumentError('Expected a moment in the future.');
}
