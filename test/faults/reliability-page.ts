import type { Outcome } from './scenario.ts';

interface Run {
  amount: { studies: number; submits: number };
  commit: string;
  at: Date;
  /** How many the campaign has, of which some may not have been run yet. */
  faults: number;
}

/** `docs/reliability.md`: the table of faults and their outcomes in this run. */
export function reliabilityPage(outcomes: readonly Outcome[], run: Run): string {
  const ran = outcomes.filter((outcome) => 'ledger' in outcome);
  const sum = (of: (ledger: (typeof ran)[number]['ledger']) => number) =>
    ran.reduce((total, { ledger }) => total + of(ledger), 0);
  const lost = ran.flatMap(({ ledger }) => ledger.lost);
  const doubled = ran.flatMap(({ ledger }) => ledger.doubled);
  return `# Reliability

Written by \`npm run faults\` on ${run.at.toISOString().slice(0, 10)}, commit ${run.commit}; not edited by hand.

Each fault is applied to a new site: listener, API, worker and delivery as four processes, PostgreSQL
with commits that wait for the disk, and Redis. A cart sends ${run.amount.studies} studies of two objects, a client
makes ${run.amount.submits} submits with a webhook; both repeat until they are answered. Each study is
interpreted, its objects are forwarded unchanged to an archive, two SR documents go to a PACS that is asked
for storage commitment, and a report goes to an EHR.

**Promised** counts what was acknowledged: objects answered 0000H and submits answered 202. Nothing is **lost**
if every such object is stored byte for byte, each revision of a study has exactly one request, every
request has succeeded, and every delivery has arrived. A delivery may arrive **again** if its confirmation
was lost; it is then the same SOP instance with the same bytes, the same resource under its identifier, or
the same \`webhook-id\`. Anything else that arrives twice is **doubled**.

| fault | what was done | what was seen | promised | lost | deliveries | again | doubled | s |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${outcomes.map(row).join('\n')}

${ran.length} of ${run.faults} faults were run to the end. In total: ${sum((l) => l.objectsAcknowledged)} objects and ${sum((l) => l.requestsAcknowledged)} submits promised, ${lost.length} lost; ${sum((l) => l.deliveries)} deliveries, ${sum((l) => l.repeated)} arrived
again unchanged, ${doubled.length} doubled.
${[...lost, ...doubled].map((line) => `\n- ${line}`).join('')}
## What the campaign does not show

- A power cut: \`kill -9\` leaves the operating system's buffers intact. Files and their folders are synced
  before an acknowledgement; whether the disk really keeps what it reported as synced is not tested.
- Two machines that each believe they are alone: leases and the attempt number of each change are tested in
  \`test/src/core/requests\` and \`test/src/core/outbox\`, not here.
- The loss of the listener's machine without a bucket: its disk holds the objects that it acknowledged
  ([several machines](several-machines.md)).
`;
}

function row(outcome: Outcome): string {
  const { name, done } = outcome.fault;
  if ('skipped' in outcome)
    return `| ${name} | ${done} | not run: ${outcome.skipped} | | | | | | |`;
  if ('failed' in outcome)
    return `| ${name} | ${done} | **failed**: ${outcome.failed} | | | | | | |`;
  const { ledger, seen, seconds } = outcome;
  const promised = ledger.objectsAcknowledged + ledger.requestsAcknowledged;
  const cells = [
    name,
    done,
    seen,
    promised,
    ledger.lost.length,
    ledger.deliveries,
    ledger.repeated,
    ledger.doubled.length,
    seconds.toFixed(0),
  ];
  return `| ${cells.join(' | ')} |`;
}
