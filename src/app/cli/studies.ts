import { loadConfig } from '../../../config/load.ts';
import {
  type ReceiverState,
  type WithdrawalReason,
  withdrawalText,
} from '../../../pipelines/contract/withdrawal.ts';
import type { MergeDecision } from '../../core/patients/merges.ts';
import type { StudyState } from '../../core/studies/study-store.ts';
import type { CommandAnswer } from '../../operations/commands.ts';
import { ERRORS } from '../../platform/errors/catalogue.ts';
import { type AnswerForm, answer } from './answer.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { commandsFor, runCommand } from './operations.ts';
import { currentPerson } from './person.ts';

type StudyExplanation = CommandAnswer<'studies.explain'>;
type DryRun = CommandAnswer<'rules.test'>[number];
type RuleVerdict = StudyExplanation['rules'][number];
type ConditionVerdict = RuleVerdict['conditions'][number];

/**
 * Prints one line for each study, newest first, with the reason for its state, or all as a JSON
 * array.
 */
export async function listStudies({
  state,
  last,
  ...form
}: AnswerForm & { state?: StudyState; last: number }): Promise<void> {
  const studies = await runCommand('studies.list', { state: state ?? null, limit: last });
  const lines = studies.map(({ studyInstanceUid, firstReceivedAt, objects, rules, ...study }) => {
    const facts = [studyInstanceUid, firstReceivedAt, study.state, counted(objects, 'object')];
    if (rules.length > 0) facts.push(rules.join(', '));
    if (study.reason !== null) facts.push(study.reason);
    return facts.join('  ');
  });
  answer(form, studies, lines.length > 0 ? lines : ['no studies']);
}

/** Stops a study from waiting for more objects. */
export async function completeStudy(study: string, form: AnswerForm): Promise<void> {
  await runCommand('studies.complete', { study });
  answer(form, { study }, ['complete; the routing rules are applied now']);
}

/**
 * Releases a study that is held, ignored or not routed, under the given rule or, if none is given,
 * under the rules that do not hold studies.
 */
export async function releaseStudy(
  study: string,
  { rule, under, ...form }: AnswerForm & { rule?: string; under?: MergeDecision },
): Promise<void> {
  const how = { rule: rule ?? null, under: under ?? null };
  await runCommand('studies.release', { study, ...how });
  answer(form, { study, ...how }, [rule ? `released to rule ${rule}` : 'released']);
}

/** Requests a new interpretation of a study. */
export async function rerunStudy(study: string, form: AnswerForm): Promise<void> {
  await runCommand('studies.rerun', { study });
  answer(form, { study }, ['a new revision will be interpreted']);
}

/**
 * Removes a study permanently. Without `yes`, only prints what would be removed: a study cannot be
 * brought back, and one UID is easily taken for another.
 */
export async function removeStudy(
  study: string,
  { yes = false, ...form }: AnswerForm & { yes?: boolean },
): Promise<ExitStatus> {
  if (!yes) {
    const found = await runCommand('studies.explain', { study });
    const { studyInstanceUid, state, firstReceivedAt, objects, requests } = found;
    const counts = { objects: objects.length, requests: requests.length };
    answer(form, { studyInstanceUid, state, firstReceivedAt, ...counts, removed: false }, [
      `${studyInstanceUid}: ${state}, received ${firstReceivedAt}, ${counted(counts.objects, 'object')}, ${counted(counts.requests, 'request')}`,
    ]);
    process.stderr.write(
      'Nothing was removed. With --yes, its objects, rows and results are removed permanently; what PACS, EHR and others have received stays there.\n',
    );
    return EXIT.usage;
  }
  const removed = await runCommand('studies.remove', { study });
  const megabytes = (removed.bytes / 1e6).toFixed(1);
  answer(form, removed, [
    `removed: ${counted(removed.objects, 'object')}, ${megabytes} MB, results of ${counted(removed.results, 'request')}`,
  ]);
  return EXIT.success;
}

/** Prints what happened to a study and why each routing rule did or did not match it. */
export async function explain(study: string, form: AnswerForm): Promise<void> {
  const explanation = await runCommand('studies.explain', { study });
  answer(form, explanation, explanationLines(explanation));
}

/** Returns the lines that `explain` prints. */
export function explanationLines(study: StudyExplanation): string[] {
  const lines = [
    `Study ${study.studyInstanceUid} (${study.id})`,
    `  from ${study.callingAeTitle} to ${study.calledAeTitle}, source "${study.source}"`,
    `  ${counted(study.objects.length, 'object')}, first ${study.firstReceivedAt}, last ${study.lastReceivedAt}`,
    `  ${study.state}, revision ${study.revision}${study.reason ? `: ${study.reason}` : ''}`,
  ];
  if (study.state === 'receiving') {
    lines.push(`  complete after ${study.completeAfter} (${study.completeBecause})`);
  } else {
    lines.push(`  complete because of ${study.completeBecause}`);
    if (study.nextAttemptAt) lines.push(`  next attempt at ${study.nextAttemptAt}`);
  }
  if (study.archiveCount?.detail) lines.push(`  ${study.archiveCount.detail}`);
  for (const { rule, detail } of study.priors) {
    lines.push(`  priors (rule ${rule}): ${detail ?? 'being searched for'}`);
  }
  if (study.order) lines.push(`  order: ${study.order.detail ?? 'being searched for'}`);
  for (const { at, sender, changed, withdrawnAt } of study.corrections) {
    const state = withdrawnAt === at ? ', declined' : withdrawnAt ? ', undone' : '';
    lines.push(
      `  patient: ${changed} from ${sender} by HL7, ${new Date(at).toISOString()}${state}`,
    );
  }
  if (study.perhapsMerged) {
    lines.push('  patient: perhaps merged; release it with --under surviving-id or own-id');
  }
  if (study.tags.length > 0) lines.push(`  tags: ${study.tags.join(', ')}`);
  const conflicts = study.objects.filter((object) => object.conflict).length;
  if (conflicts > 0)
    lines.push(
      `  ${counted(conflicts, 'object')} arrived again with different content; both versions are kept`,
    );
  lines.push(...nextStep(study));
  if (study.chosenRule) lines.push(`  released by a person to the rule "${study.chosenRule}"`);
  lines.push('Routing rules as configured now:');
  for (const rule of study.rules) lines.push(...describeRule(rule));
  lines.push(study.requests.length > 0 ? 'Requests:' : 'No request was submitted.');
  for (const { request_id: id, revision, rule, status, code, withdrawn } of study.requests) {
    const why = withdrawn ? ', withdrawn' : code ? `, ${ERRORS[code].title} (${code})` : '';
    lines.push(`  ${id} (revision ${revision}, rule ${rule}): ${status ?? 'removed'}${why}`);
  }
  return lines;
}

/** Returns the commands with which a person continues a study that was not interpreted. */
function nextStep(study: StudyExplanation): string[] {
  const release = `npx sonogate studies release ${study.studyInstanceUid} --rule NAME`;
  if (study.state === 'held' && !study.perhapsMerged) return [`  to continue: ${release}`];
  const rerun = `npx sonogate studies rerun ${study.studyInstanceUid}`;
  if (study.state === 'refused') return [`  to continue: correct the cause, and then ${rerun}`];
  if (study.state !== 'unrouted') return [];
  return [`  to continue: ${release}, or change the rules and then ${rerun}`];
}

/** Describes a rule and its conditions, one per line. */
function describeRule(rule: RuleVerdict): string[] {
  const answer = rule.acts
    ? 'acts'
    : rule.matches
      ? 'matches, but an earlier rule already applied'
      : 'no';
  return [
    `  ${rule.rule}: ${answer}`,
    ...rule.conditions.flatMap((condition) => conditionInWords(condition, '    ')),
  ];
}

const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;

function conditionInWords(verdict: ConditionVerdict, indent: string): string[] {
  const { condition, wanted, found, holds, parts } = verdict;
  const answer = `${indent}${holds ? 'yes' : 'no'}: ${condition}`;
  if (!parts)
    return [`${answer}: expected ${wanted}, found ${found === '' ? 'nothing' : `"${found}"`}`];
  return [answer, ...parts.flatMap((part) => conditionInWords(part, `${indent}  `))];
}

/**
 * Tries rules on the most recently received studies without acting on the studies. The rules are
 * the gateway's or, with `config`, those in a configuration file that is not in use yet.
 */
export async function testRules(
  options: AnswerForm & { config?: string; last: number; verbose?: boolean },
): Promise<void> {
  const running = loadConfig();
  const routing = options.config
    ? loadConfig({ ...process.env, SONOGATE_CONFIG: options.config }).routing
    : null;
  const { last } = options;
  const runs = await commandsFor(running)('rules.test', { routing, last });
  const lines = runs.flatMap(({ study, receivedAt, acting, verdicts }) => [
    `${study}  ${receivedAt}  ${acting.join(', ') || 'no rule'}`,
    ...(options.verbose ? verdicts.flatMap(describeRule) : []),
  ]);
  answer(options, runs, [...lines, summary(runs)]);
}

function summary(runs: readonly DryRun[]): string {
  const counts = new Map<string, number>();
  for (const { acting } of runs) {
    for (const rule of acting.length > 0 ? acting : ['no rule']) {
      counts.set(rule, (counts.get(rule) ?? 0) + 1);
    }
  }
  const parts = [...counts].map(([rule, count]) => `${rule} ${count}`);
  return `${runs.length === 1 ? '1 study' : `${runs.length} studies`}: ${parts.join(', ') || 'none'}`;
}

/** Lists the patients merged by HL7 messages, without patient identity. */
export async function listMerges(form: AnswerForm): Promise<void> {
  const merges = await runCommand('patients.merges', {});
  const lines = merges.map(
    ({ id, at, sender, controlId, studies }) =>
      `${id}  ${new Date(at).toISOString()}  message ${controlId} of ${sender}, studies changed: ${studies}`,
  );
  answer(form, merges, lines.length > 0 ? lines : ['no patients are merged']);
}

export async function separate(id: string, form: AnswerForm): Promise<void> {
  const done = await runCommand('patients.separate', { id });
  answer(form, done, [`separated; studies that have their own patient ID again: ${done.studies}`]);
}

/** Records that the person who runs the command has seen the critical flags of a request. */
export async function acknowledge(request: string, form: AnswerForm): Promise<void> {
  const person = currentPerson();
  await runCommand('alerts.acknowledge', { request });
  answer(form, { request, person }, [`acknowledged by ${person}; no further mail will be sent`]);
}

/** Text for the state of a withdrawal at a receiver. */
const RECEIVER_WORDS: Readonly<Record<ReceiverState, string>> = {
  pending: 'the withdrawal will be sent',
  withdrawn: 'withdrawn',
  not_present: 'has nothing to withdraw',
  by_hand: 'must be cleaned by hand (docs/runbooks.md)',
  closed: 'closed by a person',
};

/** Withdraws the result of a request, and lists its receivers. */
export async function withdraw(
  request: string,
  { reason, text, ...form }: AnswerForm & { reason: WithdrawalReason; text?: string },
): Promise<void> {
  const done = await runCommand('results.withdraw', { request, reason, text: text ?? null });
  const { by, at, receivers } = done;
  answer(form, done, [
    `withdrawn by ${by} at ${at}: ${withdrawalText(done)}`,
    ...receivers.map(({ destination, state, closed }) => {
      const why = closed ? ` (${closed.by}: ${closed.reason})` : '';
      return `  ${destination}: ${RECEIVER_WORDS[state]}${why}`;
    }),
    ...(receivers.length > 0 ? [] : ['  no hospital system has received it']),
  ]);
}
