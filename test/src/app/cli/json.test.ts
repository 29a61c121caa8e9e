import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { program } from '../../../../src/app/cli/sonogate.ts';

/** Returns every command without sub-commands, with its full name. */
function leaves(command: Command, path = ''): [string, Command][] {
  const below = command.commands.flatMap((one) => leaves(one, `${path} ${one.name()}`.trim()));
  const acts = command.commands.length === 0 || path === 'simulate';
  return acts ? [[path, command], ...below] : below;
}

/**
 * Servers and watchers return nothing. `audit export` produces lines of JSON with its `--format`.
 */
const WITHOUT_ANSWER = [
  'serve',
  'demo',
  'audit export',
  'simulate cart',
  'simulate pacs',
  'simulate ehr',
];

describe('the commands', () => {
  it('that return something have --json', () => {
    const missing = leaves(program)
      .filter(([, { options }]) => !options.some(({ long }) => long === '--json'))
      .map(([name]) => name);
    expect(missing).toEqual(expect.arrayContaining(WITHOUT_ANSWER));
    expect(missing).toHaveLength(WITHOUT_ANSWER.length);
  });

  it('submit has an option for every member of the input and the body of the API', () => {
    const submit = leaves(program).find(([name]) => name === 'submit')?.[1];
    expect(submit?.options.map(({ long }) => long)).toEqual(
      expect.arrayContaining([
        ...['--ga-days', '--basis', '--mm-per-px', '--per-file-scale', '--report', '--no-previews'],
        ...['--age', '--sex', '--height-cm', '--weight-kg', '--indication', '--priors'],
        ...['--webhook', '--webhook-events', '--priority', '--metadata', '--idempotency-key'],
      ]),
    );
  });
});
