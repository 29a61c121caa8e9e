import type { Ledger } from './ledger.ts';
import type { Outcome } from './scenario.ts';

interface Run {
  amount: { studies: number; submits: number };
  commit: string;
  at: Date;
  /** Number of faults in the campaign, including those that have not been run yet. */
  faults: number;
}

const COLUMNS = ['promised', 'lost', 'late', 'deliveries', 'again', 'duplicated', 's'];
const CAMPAIGN = ['fault', 'what was done', 'what was seen', ...COLUMNS];
const APART = ['date, commit', 'fault', 'what was done', 'what was seen', ...COLUMNS];

const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
const heading = (names: readonly string[]) => `${line(names)}\n${line(names.map(() => '---'))}`;

/**
 * Headings before and after the recorded runs of single faults. Everything else on the page is
 * written by whole campaigns.
 */
const RUNS_APART = '## Runs of single faults\n';
const NOT_SHOWN = '## What the campaign does not show\n';

/**
 * Returns `docs/reliability.md` with the table of faults and their outcomes in this run.
 * @param before the previous page, whose runs of single faults are kept.
 */
export function reliabilityPage(outcomes: readonly Outcome[], run: Run, before: string): string {
  const ran = outcomes.filter((outcome) => 'ledger' in outcome);
  const sum = (of: (ledger: Ledger) => number) =>
    ran.reduce((total, { ledger }) => total + of(ledger), 0);
  const lost = ran.flatMap(({ ledger }) => ledger.lost);
  const late = ran.flatMap(({ ledger }) => ledger.late);
  const doubled = ran.flatMap(({ ledger }) => ledger.doubled);
  return `# Reliability

Written by \`npm run faults\` on ${dayOf(run.at)}, commit ${run.commit}; not edited by hand.

Each fault is applied to a new site: listener, API, worker and delivery as four processes, PostgreSQL
with commits that wait for the disk, and Redis. A cart sends ${run.amount.studies} studies of two objects, a client
makes ${run.amount.submits} submits with a webhook; both repeat until they are answered. Each study is
interpreted, its objects are forwarded unchanged to an archive, two SR documents go to a PACS that is asked
for storage commitment, and a report goes to an EHR.

**Promised** counts what was acknowledged: objects answered 0000H and submits answered 202. Nothing is **lost**
if every such object is stored byte for byte, each revision of a study has exactly one request, every
request has succeeded, and every delivery has arrived. **Late** is what was still unfinished when nothing had
changed for 20 minutes after the fault; waits between delivery attempts, which can last hours, are cut short
after the fault. A delivery may arrive **again** if its confirmation was lost; it is then the same SOP instance with the
same bytes, the same resource under its identifier, or the same \`webhook-id\`. Anything else that arrives twice is
**duplicated**.

${heading(CAMPAIGN)}
${outcomes.map((outcome) => line(cellsOf(outcome))).join('\n')}

${ran.length} of ${run.faults} faults ran to completion. In total: ${sum((l) => l.objectsAcknowledged)} objects and ${sum((l) => l.requestsAcknowledged)} submits promised, ${lost.length} lost, ${late.length} late; ${sum((l) => l.deliveries)} deliveries, ${sum((l) => l.repeated)} arrived
again unchanged, ${doubled.length} duplicated.
${[...lost, ...late, ...doubled].map((each) => `\n- ${each}`).join('')}
${runsApart(before)}${NOT_SHOWN}
- A power cut: \`kill -9\` leaves the operating system's buffers intact. Files and their folders are synced
  before an acknowledgement; whether the disk really keeps what it reported as synced is not tested.
- Two machines that each believe they are alone: leases and the attempt number of each change are tested in
  \`test/src/core/requests\` and \`test/src/core/outbox\`, not here.
- The loss of the listener's machine without a bucket: its disk holds the objects that it acknowledged
  ([several machines](several-machines.md)).
`;
}

/** Returns the page with one more recorded run of a single fault. */
export function withRun(page: string, outcome: Outcome, { commit, at }: Run): string {
  const [before = '', after = ''] = page.split(NOT_SHOWN);
  const section =
    runsApart(page) ||
    `${RUNS_APART}
Each was recorded by \`node test/faults/campaign.ts --only '<fault>' --record\`; \`SONOGATE_KILLS\` sets how often the
random kills hit each victim.

${heading(APART)}

`;
  const row = line([`${dayOf(at)}, ${commit}`, ...cellsOf(outcome)]);
  const others = before.split(RUNS_APART)[0] ?? '';
  return `${others}${section.trimEnd()}\n${row}\n\n${NOT_SHOWN}${after}`;
}

/**
 * Returns the section with the runs of single faults, or an empty string if the page has no such
 * section.
 */
function runsApart(page: string): string {
  const [, section] = page.split(RUNS_APART);
  return section === undefined ? '' : `${RUNS_APART}${section.split(NOT_SHOWN)[0] ?? ''}`;
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10);

function cellsOf(outcome: Outcome): (string | number)[] {
  const { name, done } = outcome.fault;
  const none = COLUMNS.map(() => '');
  if ('skipped' in outcome) return [name, done, `not run: ${outcome.skipped}`, ...none];
  if ('failed' in outcome) return [name, done, `**failed**: ${outcome.failed}`, ...none];
  const { ledger, seen, seconds } = outcome;
  return [
    name,
    done,
    seen,
    `${ledger.objectsAcknowledged} objects, ${ledger.requestsAcknowledged} submits`,
    ledger.lost.length,
    ledger.late.length,
    ledger.deliveries,
    ledger.repeated,
    ledger.doubled.length,
    seconds.toFixed(0),
  ];
}
