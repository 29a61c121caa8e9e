import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  count,
  endOf,
  hoursUpTo,
  port,
  positiveNumber,
  seconds,
  startOf,
  wholeNumber,
} from '../../../../src/app/cli/numbers.ts';

const CLI = fileURLToPath(new URL('../../../../src/app/cli/sonogate.ts', import.meta.url));

describe('a number on the command line', () => {
  it.each([
    ['a whole number', wholeNumber, ['0', '7', '200'], ['-1', '1.5']],
    ['a count', count, ['1', '100'], ['0', '1.5']],
    ['a positive number', positiveNumber, ['0.01', '1', '172.5'], ['0', '0.0', '-1']],
    ['seconds', seconds, ['0', '0.5', '3'], ['-0.5']],
    ['hours', hoursUpTo(168), ['0', '0.5', '168'], ['-1', '168.1']],
    ['a port', port, ['0', '104', '65535'], ['65536', '1.5']],
  ])('is %s or is refused', (_what, read, taken, refused) => {
    for (const text of taken) expect(read(text), text).toBe(Number(text));
    for (const text of [...refused, '', ' ', 'abc', '12abc', '0x10', '1e3', 'NaN', 'Infinity']) {
      expect(() => read(text), text).toThrow(InvalidArgumentError);
    }
  });

  it('that is not a number ends the command with an error that mentions the option', async () => {
    const run = promisify(execFile)(process.execPath, [CLI, 'simulate', '--seed', 'abc']);
    await expect(run).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("'--seed <number>' argument 'abc' is invalid"),
    });
  });
});

describe('a point in time on the command line', () => {
  const now = Date.parse('2026-03-10T12:00:00Z');

  it.each([
    ['30m', '2026-03-10T11:30:00Z', '2026-03-10T12:30:00Z'],
    ['12h', '2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z'],
    ['90d', '2025-12-10T12:00:00Z', '2026-06-08T12:00:00Z'],
    ['2099-01-31', '2099-01-31T00:00:00Z', '2099-01-31T00:00:00Z'],
    ['2099-01-31T08:00:00+02:00', '2099-01-31T06:00:00Z', '2099-01-31T06:00:00Z'],
  ])('is a period, a day or an instant: %s', (text, start, end) => {
    expect(startOf(text, now)).toEqual(new Date(start));
    expect(endOf(text, now)).toEqual(new Date(end));
  });

  it('is never a guess, and an end is in the future', () => {
    for (const text of [
      '',
      'yesterday',
      '7',
      '1w',
      '2026-02-31T25:00:00Z',
      '31.01.2026',
      '2027-02-30',
    ]) {
      expect(() => startOf(text, now), text).toThrow(InvalidArgumentError);
    }
    expect(() => endOf('2026-03-10', now)).toThrow(InvalidArgumentError);
    expect(() => endOf('0d', now)).toThrow(InvalidArgumentError);
  });
});
