import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { FAULTS } from './faults.ts';
import { reliabilityPage, withRun } from './reliability-page.ts';
import { type Outcome, scenario, stood } from './scenario.ts';

/**
 * The fault campaign: every fault, each against a separate, complete site under traffic.
 *
 *   npm run faults                                  all faults; writes docs/reliability.md
 *   node test/faults/campaign.ts --only 'PACS'      the fault with this name, or those whose names
 *                                                   contain it; writes nothing
 *   … --only 'soak' --record                        the same, added to the page as a separate run
 *
 * SONOGATE_KILLS (100 per victim) and SONOGATE_SOAK_MINUTES (60) make it shorter: in full it takes
 * most of a day. The page states what was run.
 *
 * The exit status is 1 if anything acknowledged was lost, duplicated without a mark, or not finished
 * in time, or if a fault did not strike.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    record: { type: 'boolean', default: false },
    studies: { type: 'string', default: '4' },
    submits: { type: 'string', default: '8' },
  },
});
// The PACS, archive, EHR and client run in this process and must respond within their time-outs
// even on a busy machine. Raising the priority requires root; without it they may respond late.
try {
  setPriority(-10);
} catch {
  process.stderr.write('without a higher priority: peers may answer late\n');
}

const PAGE = new URL('../../docs/reliability.md', import.meta.url);

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const amount = { studies: Number(values.studies), submits: Number(values.submits) };
const outcomes: Outcome[] = [];
const exact = FAULTS.filter(({ name }) => name === values.only);
const chosen = exact.length > 0 ? exact : FAULTS.filter(({ name }) => name.includes(values.only));
for (const fault of chosen) {
  const outcome = await scenario(fault, amount);
  outcomes.push(outcome);
  process.stdout.write(`${fault.name}: ${told(outcome)}\n`);
  // The page is written after each fault. If the campaign is interrupted, the page keeps the
  // outcomes so far and states how many there are.
  const run = { amount, commit, at: new Date(), faults: FAULTS.length };
  const page = await readFile(PAGE, 'utf8');
  if (values.only === '') await writeFile(PAGE, reliabilityPage(outcomes, run, page));
  else if (values.record) await writeFile(PAGE, withRun(page, outcome, run));
}
process.exitCode = outcomes.every((outcome) => 'skipped' in outcome || stood(outcome)) ? 0 : 1;

function told(outcome: Outcome): string {
  if ('skipped' in outcome) return `not run: ${outcome.skipped}`;
  if ('failed' in outcome) return `FAILED: ${outcome.failed}`;
  const { ledger, seen, seconds } = outcome;
  const { lost, late, hastened, doubled, deliveries, repeated } = ledger;
  const kept = ledger.objectsAcknowledged + ledger.requestsAcknowledged;
  return [
    `${seen}; ${kept} promised, ${lost.length} lost, ${late.length} late, ${deliveries} deliveries`,
    `${hastened} hastened, ${repeated} repeated as the same, ${doubled.length} doubled, ${seconds.toFixed(0)} s`,
    ...lost,
    ...late.slice(0, 5),
    ...doubled,
  ].join('; ');
}
