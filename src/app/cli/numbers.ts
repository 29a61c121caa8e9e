import { InvalidArgumentError } from 'commander';

/** Parses the number of an option; commander names the option and what was expected. */
type ReadNumber = (text: string) => number;

/** A number in digits, without the other forms that `Number` accepts: '', '0x10', '1e3'. */
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

/** 0, 1, 2 … */
export const wholeNumber: ReadNumber = numberReader(WHOLE, () => true, 'a whole number');

/** 1, 2, 3 … */
export const count: ReadNumber = numberReader(
  WHOLE,
  (value) => value >= 1,
  'a whole number of at least 1',
);

/** A length, a mass or a scale. */
export const positiveNumber: ReadNumber = numberReader(
  DECIMAL,
  (value) => value > 0,
  'a number above 0',
);

export const seconds: ReadNumber = numberReader(DECIMAL, () => true, 'a number of seconds');

/** A period in hours, 0 for none. */
export const hoursUpTo = (longest: number): ReadNumber =>
  numberReader(DECIMAL, (value) => value <= longest, `a number of hours from 0 to ${longest}`);

export const port: ReadNumber = numberReader(
  WHOLE,
  (value) => value <= LAST_PORT,
  `a port from 0 to ${LAST_PORT}`,
);
