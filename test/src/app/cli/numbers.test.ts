import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  count,
  hoursUpTo,
  port,
  positiveNumber,
  seconds,
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

  it('that is not a number ends the command with an error that names the option', async () => {
    const run = promisify(execFile)(process.execPath, [CLI, 'simulate', '--seed', 'abc']);
    await expect(run).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("'--seed <number>' argument 'abc' is invalid"),
    });
  });
});
