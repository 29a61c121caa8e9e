import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { FAULTS } from './faults.ts';
import { reliabilityPage } from './reliability-page.ts';
import { type Outcome, scenario, stood } from './scenario.ts';

/**
 * The fault campaign: every fault, each against a separate, complete site under traffic.
 *
 *   npm run faults                                  all of them; writes docs/reliability.md
 *   node test/faults/campaign.ts --only 'PACS'      those with this in their name; writes nothing
 *
 * Exit status 1 where something acknowledged was lost, doubled unmarked, or a fault did not strike.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    studies: { type: 'string', default: '4' },
    submits: { type: 'string', default: '8' },
  },
});
const PAGE = new URL('../../docs/reliability.md', import.meta.url);

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const amount = { studies: Number(values.studies), submits: Number(values.submits) };
const outcomes: Outcome[] = [];
for (const fault of FAULTS.filter(({ name }) => name.includes(values.only))) {
  const outcome = await scenario(fault, amount);
  outcomes.push(outcome);
  process.stdout.write(`${fault.name}: ${told(outcome)}\n`);
  if (values.only !== '') continue;
  // After each: a campaign that is broken off leaves what it has seen, and says how much that is.
  const run = { amount, commit, at: new Date(), faults: FAULTS.length };
  await writeFile(PAGE, reliabilityPage(outcomes, run));
}
process.exitCode = outcomes.every((outcome) => 'skipped' in outcome || stood(outcome)) ? 0 : 1;

function told(outcome: Outcome): string {
  if ('skipped' in outcome) return `not run: ${outcome.skipped}`;
  if ('failed' in outcome) return `FAILED: ${outcome.failed}`;
  const { ledger, seen, seconds } = outcome;
  const { lost, doubled, deliveries, repeated } = ledger;
  const kept = ledger.objectsAcknowledged + ledger.requestsAcknowledged;
  return [
    `${seen}; ${kept} promised, ${lost.length} lost, ${deliveries} deliveries`,
    `${repeated} repeated as the same, ${doubled.length} doubled, ${seconds.toFixed(0)} s`,
    ...lost,
    ...doubled,
  ].join('; ');
}
